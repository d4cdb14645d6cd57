/**
 * A process that takes slots when it is told to: `take BOUND_MS` and `release` on its standard input, one a line; it
 * answers with one JSON line each, and with one for its first wait.
 *
 * Run: bun slot-taker.ts STATE SEAT_KEY SLOTS
 */
import type { Slot } from "../../src/core/seat/slot-line.ts";
import { openSlotLine } from "../../src/host/slot-line.ts";

const [, , state = "", key = "", slots = "1"] = process.argv;
const line = openSlotLine(state, { ms: () => performance.now() });
const held: Slot[] = [];
const say = (value: object) => console.log(JSON.stringify(value));

let typed = "";
for await (const bytes of Bun.stdin.stream()) {
  typed += new TextDecoder().decode(bytes);
  for (let end = typed.indexOf("\n"); end >= 0; end = typed.indexOf("\n")) {
    obey(typed.slice(0, end));
    typed = typed.slice(end + 1);
  }
}

function obey(command: string): void {
  const [verb, bound = "0"] = command.split(" ");
  if (verb === "release") {
    held.shift()?.release();
    say({ kind: "released" });
  } else {
    let isWaiting = false;
    const onWait = ({ ahead }: { ahead: number }) => {
      if (!isWaiting) say({ kind: "waiting", ahead });
      isWaiting = true;
    };
    const signal = new AbortController().signal;
    void line.take(key, Number(slots), { signal, bound_ms: Number(bound), onWait }).then((taken) => {
      if (taken.kind === "taken") held.push(taken.slot);
      say({ kind: taken.kind });
    });
  }
}
