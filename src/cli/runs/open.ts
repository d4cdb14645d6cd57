/** The records of past delegations, as the commands that look at them find them. */
import { findRun, type RunEntry, readRunEntry } from "../../core/delegation/run-entry.ts";
import { WritError } from "../../core/error.ts";
import { isAlive } from "../../host/process-identity.ts";
import { openRunRecords, type RunRecords } from "../../host/run-records.ts";
import { stateFolder } from "../../host/state-folder.ts";
import { quoted } from "../arguments.ts";
import { placesOf } from "../world.ts";

/** Longer lists are cut in a hint. */
const SHOWN_IDS = 5;

/** Nothing is made for them. */
export function openRecords(): RunRecords {
  return openRunRecords(stateFolder(placesOf().data));
}

/**
 * The one record that an id, or the beginning of one, stands for.
 *
 * Errors: `no_run`
 */
export function recordOf(records: RunRecords, typed: string): RunEntry {
  const found = findRun(
    records.list().map(({ run_id }) => run_id),
    typed,
  );
  if (found.kind === "none") {
    throw new WritError("no_run", `There is no record of a delegation ${quoted(typed)}`, {
      hint: "writ runs list shows those that are kept",
    });
  }
  if (found.kind === "several") {
    const shown = found.run_ids.slice(0, SHOWN_IDS).join(", ");
    const more = found.run_ids.length > SHOWN_IDS ? ", …" : "";
    throw new WritError("no_run", `Several delegations have an id that begins with ${quoted(typed)}`, {
      hint: `Type more of it: ${shown}${more}`,
    });
  }
  const text = records.read(found.run_id);
  const entry = text === null ? null : readRunEntry(text);
  if (entry !== null) return entry;
  throw new WritError("no_run", `The record of ${found.run_id} cannot be read: it is no result document`, {
    hint: "writ runs list shows those that can",
  });
}

/** "left": a delegator that is no more left behind what it had. */
export type RunState = "ended" | "running" | "left";

export function stateOf({ ended, pid }: RunEntry): RunState {
  if (ended) return "ended";
  return pid > 0 && isAlive(pid) ? "running" : "left";
}

/** How long it took, or has been going on, in milliseconds; null where nobody knows when it was left. */
export function wallOf(entry: RunEntry): number | null {
  switch (stateOf(entry)) {
    case "ended":
      return entry.wall_ms;
    case "running":
      return Math.max(entry.wall_ms, Date.now() - Date.parse(entry.started_at) || 0);
    default:
      return null;
  }
}
