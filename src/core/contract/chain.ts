/** Bindings as a continuation chain carries them. */

/** Links of a chain that are walked at most. */
export const MAX_LINKS = 64;

/** The binding columns of one row of a chain. */
export type Links = {
  readonly plan_task_id: number | null;
  readonly parent_handoff_id: number | null;
  readonly brief_id?: number | null;
};

export type Binding = { readonly plan_task_id: number | null; readonly parent_handoff_id: number | null };

/**
 * What a contract is bound to.
 *
 * @param chain      rows from the contract's own back to the root; empty for a draft without a row
 * @param flagTaskId `--plan-task-id`, which wins over every row; null when it was not given
 */
export function bindingOf(chain: readonly Links[], flagTaskId: number | null): Binding {
  return {
    plan_task_id: flagTaskId ?? nearestOf(chain, (row) => row.plan_task_id),
    parent_handoff_id: nearestOf(chain, (row) => row.parent_handoff_id),
  };
}

/** The nearest brief that a row of the chain names itself; null when none does and the binding must tell. */
export function briefOf(chain: readonly Links[]): number | null {
  return nearestOf(chain, (row) => row.brief_id ?? null);
}

function nearestOf(chain: readonly Links[], column: (row: Links) => number | null): number | null {
  for (const row of chain.slice(0, MAX_LINKS)) {
    const id = column(row);
    if (id !== null) return id;
  }
  return null;
}
