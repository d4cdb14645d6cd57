/** The journal as the editor writes and reads it: what a draft's text is, and how a state is rebuilt. */
import { applyChanges, findChanges } from "../core/contract/changes.ts";
import type { JournalChange, Tables } from "../core/contract/repository.ts";
import { type JsonObject, prettyJson } from "../core/json/value.ts";
import type { World } from "./world.ts";

export type JournalVerb =
  | "dispatch"
  | "init"
  | "continue"
  | "adopt"
  | "found"
  | "repair"
  | "set"
  | "add"
  | "fill"
  | "undo"
  | "finalize"
  | "stop";

/** The text of a draft file: two-space indent, one final newline. */
export function draftText(envelope: JsonObject): string {
  return `${prettyJson(envelope)}\n`;
}

/**
 * Journals what lies between two states; nothing when they are the same.
 *
 * @returns the id of the change, or null when there was none
 */
export function recordChange(
  world: Pick<World, "clock" | "pid" | "sha256">,
  tables: Tables,
  change: {
    readonly draft_id: string;
    readonly verb: JournalVerb;
    readonly before: JsonObject | null;
    readonly after: JsonObject;
    readonly undoes?: number;
  },
): number | null {
  const changes = findChanges(change.before, change.after);
  if (changes.length === 0) return null;
  return tables.journal.append({
    contract_id: change.draft_id,
    at: world.clock.now(),
    pid: world.pid,
    verb: change.verb,
    draft_sha256: world.sha256(draftText(change.after)),
    undoes: change.undoes ?? null,
    changes,
  });
}

/** The envelope as it stood after the last of these changes; null when there is none. */
export function rebuild(changes: readonly JournalChange[]): JsonObject | null {
  let envelope: JsonObject | null = null;
  for (const change of changes) envelope = applyChanges(envelope, change.changes);
  return envelope;
}
