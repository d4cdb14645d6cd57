/** Brings the rows of a ledger into a tracker's list; every other task keeps its name, its status and its order. */
import { listedRows } from "../tracker/plan-verbs.ts";
import { offendersOf, type Task } from "../tracker/task.ts";
import type { LedgerFile } from "./ledger-file.ts";
import { isCanonicalRow, restoreRowName } from "./row-name.ts";

export type Refresh =
  | { readonly ok: true; readonly tasks: readonly Task[] }
  | { readonly ok: false; readonly message: string; readonly details: readonly string[] };

/**
 * Labels are made anew from the ledger: a description that changed is no second task.
 *
 * @param ledger checked: rows that are malformed are left out
 * Source: flow state, section 9.4
 */
export function refreshTasks(tasks: readonly Task[], ledger: LedgerFile): Refresh {
  const rows = ledger.rows.flatMap(({ row }): Task[] => {
    if (row === null) return [];
    const label = row.requirement === "" ? "-" : row.requirement;
    return [{ name: `${row.id} | ${row.tries}/${ledger.allowance ?? 0}: ${label}`, status: row.status }];
  });
  const isRow = ({ name }: Task) => isCanonicalRow(restoreRowName(name));
  const at = Math.max(tasks.findIndex(isRow), 0);
  const before = tasks.slice(0, at);
  const behind = tasks.slice(at).filter((task) => !isRow(task));
  const all = [...before, ...rows, ...behind];
  const offenders = offendersOf(all);
  if (offenders.length === 0) return { ok: true, tasks: all };
  return { ok: false, message: "ledger refresh breaks the task order", details: listedRows(offenders, all) };
}
