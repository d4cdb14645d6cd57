/**
 * What a client is told of a call that goes on: one message at its start, one for each change of a leg, one every 15 s.
 *
 * Source: delegation run, section 9.2
 */
import { LegBoard, type LegState, phaseOf } from "../cli/delegate/leg-board.ts";
import { counted } from "../core/counted.ts";
import type { DelegateClock, DelegateEvent } from "../delegate/world.ts";
import type { Progress } from "./tool.ts";

const HEARTBEAT_MS = 15_000;

/**
 * Tells until the signal comes.
 *
 * @param legs   of the call
 * @param inLine calls that are before it
 * @returns      what takes its events
 */
export function tellProgress(
  { clock, legs, inLine }: { readonly clock: DelegateClock; readonly legs: number; readonly inLine: number },
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): (event: DelegateEvent) => void {
  const board = new LegBoard(() => clock.ms());
  let done = 0;
  let told = 0;

  function send(text: string): void {
    if (signal.aborted) return;
    const now = board.count("done");
    if (now > done) told = 0;
    done = now;
    if (done === legs && told > 0) return;
    // Between two legs that end it comes ever nearer to the next whole number: each message has a greater one.
    tell({ progress: done + told / (told + 1), total: legs, message: `${done}/${legs} done${text}` });
    told += 1;
  }
  const legText = (index: number): string => {
    const leg = board.legs[index];
    // A display sets the parts of a phase apart; here they stand in a sentence.
    return leg === undefined
      ? ""
      : `; leg ${index + 1} ${leg.where} ${phaseOf(leg, clock.ms()).replaceAll("  ", " ")}`.trimEnd();
  };

  async function beat(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(HEARTBEAT_MS, signal);
      const running = board.legs.findIndex(({ kind }) => kind === "running");
      send(legText(running >= 0 ? running : board.legs.findIndex(({ kind }) => kind !== "done")));
    }
  }

  send(inLine > 0 ? `; in line behind ${counted(inLine, "call")}` : "");
  void beat();
  return (event) => {
    const index = "index" in event ? event.index : null;
    const before = index === null ? "" : stateText(board.legs[index]);
    board.take(event);
    if (index === null) return;
    if (stateText(board.legs[index]) !== before) send(legText(index));
  };
}

/** What makes two states of a leg different: tokens that were counted do not. */
function stateText(leg: LegState | undefined): string {
  return leg === undefined
    ? ""
    : `${leg.kind} ${leg.where} ${leg.silence?.elsewhere_ms} ${leg.phase.replace(/ {2}\d+ tok$/, "")}`;
}
