/** `writ gate run`: a gate that somebody wrote as data. */
import { WritError } from "../../core/error.ts";
import { isTerminal } from "../../host/stream.ts";
import { defineCommand, type Output } from "../command.ts";
import { oneLine } from "../table.ts";
import { type LegSet, setOfFile } from "./leg-set.ts";
import { GATE_EXITS, GATE_OPTIONS, measureGate } from "./measure.ts";
import { measureParallel } from "./measure-parallel.ts";

export const command = defineCommand({
  meta: { name: "gate run", description: "Run a gate that is written as data" },
  args: {
    file: { type: "positional", required: true, valueHint: "FILE", description: "The gate file" },
    ...GATE_OPTIONS,
    yes: { type: "boolean", description: "Run its commands without asking" },
  },
  examples: [
    "writ gate run gates/port/gate.json",
    "writ gate run gate.json --remote http://100.64.0.7:18811 --yes --json",
  ],
  notes: [
    "A gate file is trusted like a script: the commands that it will run are printed first, and on a terminal you are asked. writ gate check says what is wrong with one, and runs nothing. writ docs gates is a guide.",
  ],
  exits: { ...GATE_EXITS, 3: "you did not agree to its commands" },
  async run({ args, json, out }) {
    const set = setOfFile(args.file);
    const { gate } = set;
    await agree(set, args.yes, out);
    for (const { message } of set.notes) out.talk(`note: ${message}`);
    if (gate.mode !== "parallel") return measureGate({ ...set, gate }, "", args, { json, out });
    const { k, peer, contract } = gate;
    return measureParallel({ ...args, k, peer, contract, folder: set.folder, name: gate.name }, { json, out });
  },
});

/** Errors: `not_agreed` */
async function agree(set: LegSet, isAgreed: boolean, out: Output): Promise<void> {
  const commands = commandsOf(set);
  if (commands.length === 0) return;
  out.talk("It will run, on fresh copies with what a seat changed:");
  for (const words of commands) out.talk(`  ${oneLine(words.join(" "))}`);
  if (isAgreed || !isTerminal(0) || !isTerminal(2)) return;
  out.talk("Run them? [y/N]");
  for await (const line of console) {
    if (/^y(es)?$/i.test(line.trim())) return;
    break;
  }
  throw new WritError("not_agreed", "The commands of the gate were not agreed to; nothing ran", {
    hint: "--yes agrees without asking",
  });
}

function commandsOf({ gate }: LegSet): readonly (readonly string[])[] {
  if (gate.mode === "parallel") return [];
  const all = gate.legs.flatMap(({ proofs }) =>
    proofs.flatMap((proof) => (proof.kind === "command" ? [proof.run] : [])),
  );
  const seen = new Set<string>();
  return all.filter((words) => {
    const key = words.join("\0");
    return !seen.has(key) && seen.add(key);
  });
}
