/** `undo`: writes the values before one change; a write like any other, and a change of its own. */
import { overlaps, revertChanges } from "../core/contract/changes.ts";
import type { JournalChange } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { type Address, resolveTarget } from "./target.ts";
import type { World } from "./world.ts";
import { editDraft, type Written } from "./write.ts";

export type Undone = Written & { readonly undoes: number };

/**
 * @param changeId null: the newest change that is neither an undo nor undone
 *
 * Errors: `no_such_change`, `nothing_to_undo`, `undo_conflict`, `closed`, and those of `editDraft`.
 */
export function undoChange(world: World, address: Address, changeId: number | null): Undone {
  const target = resolveTarget(world, address);
  let undoes = 0;
  const written = editDraft(world, {
    target,
    verb: "undo",
    strict: true,
    change(envelope, tables, draftId) {
      const change = choose(draftId, tables.journal.list(draftId), changeId);
      undoes = change.change_id;
      return { envelope: revertChanges(envelope, change.changes) ?? envelope, undoes };
    },
  });
  return { ...written, undoes };
}

function choose(draftId: string, journal: readonly JournalChange[], changeId: number | null): JournalChange {
  const standing = standingChanges(journal);
  const chosen =
    changeId === null
      ? journal.findLast((change) => change.undoes === null && standing.has(change.change_id))
      : journal.find((change) => change.change_id === changeId);
  if (chosen === undefined) {
    if (changeId === null) throw nothing(draftId, "no change is left");
    throw new WritError("no_such_change", `The journal of "${draftId}" has no change ${changeId}`, {
      hint: `See the changes with: writ contract log --draft-id ${draftId}`,
    });
  }
  if (isBirth(chosen)) throw nothing(draftId, `change ${chosen.change_id} is its birth`);
  if (!standing.has(chosen.change_id)) throw nothing(draftId, `change ${chosen.change_id} is already undone`);
  const paths = chosen.changes.map((change) => change.path);
  const later = journal.find(
    (change) =>
      change.change_id > chosen.change_id &&
      change.undoes === null &&
      standing.has(change.change_id) &&
      change.changes.some((one) => paths.some((path) => overlaps(path, one.path))),
  );
  if (later !== undefined) {
    const path = later.changes.find((one) => paths.some((mine) => overlaps(mine, one.path)))?.path ?? null;
    throw new WritError(
      "undo_conflict",
      `Cannot undo change ${chosen.change_id} of "${draftId}": change ${later.change_id} touched "${path}" after it`,
      {
        path,
        hint: `Undo change ${later.change_id} first: writ contract undo --draft-id ${draftId} --change ${later.change_id}`,
      },
    );
  }
  return chosen;
}

/** A change stands unless an undo of it stands. Undos refer to earlier changes only, so one pass from the end settles all. */
function standingChanges(journal: readonly JournalChange[]): ReadonlySet<number> {
  const undone = new Set<number>();
  for (const change of journal.toReversed()) {
    if (change.undoes !== null && !undone.has(change.change_id)) undone.add(change.undoes);
  }
  return new Set(journal.map((change) => change.change_id).filter((id) => !undone.has(id)));
}

function isBirth(change: JournalChange): boolean {
  return change.changes.some((one) => one.path === "" && one.before === undefined);
}

function nothing(draftId: string, why: string): WritError {
  return new WritError("nothing_to_undo", `Nothing to undo in "${draftId}": ${why}`, {
    hint: `See the changes with: writ contract log --draft-id ${draftId}`,
  });
}
