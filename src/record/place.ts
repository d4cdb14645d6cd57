/** Which contract a record belongs to. */
import { agentPart, draftIdFault, isAgentId } from "../core/contract/envelope.ts";
import { liveLink } from "../core/contract/links.ts";
import type { HandoffRow, Tables } from "../core/contract/repository.ts";
import type { HookOrigin } from "../core/record/hook.ts";

export type Place =
  | { readonly contract_id: string; readonly row: HandoffRow | null }
  /** One clause that says why the record belongs nowhere. */
  | { readonly contract_id: null; readonly why: string };

/** The contract that a named id records to: the live link of its chain, or the id itself before its row is there. */
export function placeOfContract(tables: Tables, contractId: string): Place {
  const row = tables.handoffs.find(contractId);
  if (row !== null) return placeOfRow(tables, row);
  if (isAgentId(agentPart(contractId)) && draftIdFault(contractId) === null)
    return { contract_id: contractId, row: null };
  return { contract_id: null, why: `"${contractId}" is no contract` };
}

/**
 * The contract of a hook's event: the named one; the row of the event's agent; `WRIT_CONTRACT_ID` for input without
 * an agent; the only row of the session that nobody has claimed, which is then this agent's.
 *
 * What a subagent runs is not its parent's. A stop never claims a row: it may be an orphan with a fresh id, and would
 * end a turn that runs.
 */
export function placeOfHook(
  tables: Tables,
  hook: {
    readonly named: string | null;
    readonly environment: string | null;
    readonly origin: HookOrigin;
    readonly mayClaim: boolean;
  },
): Place {
  const { named, environment, origin, mayClaim } = hook;
  if (named !== null) return placeOfContract(tables, named);
  if (origin.agent_id === null) {
    return environment === null
      ? { contract_id: null, why: "no contract was named, and the event is of no subagent" }
      : placeOfContract(tables, environment);
  }
  const own = tables.handoffs.findByHarness(origin.agent_id);
  if (own !== null) return placeOfRow(tables, own);
  if (!mayClaim || origin.session_id === null)
    return { contract_id: null, why: `no turn is of agent "${origin.agent_id}"` };
  const unclaimed = tables.handoffs.listUnclaimed(origin.session_id, 2);
  const [row] = unclaimed;
  if (row === undefined)
    return { contract_id: null, why: `session "${origin.session_id}" has no turn that waits for an agent` };
  if (unclaimed.length > 1)
    return { contract_id: null, why: `session "${origin.session_id}" has several turns that wait for an agent` };
  tables.handoffs.stampHarness(row.id, origin.agent_id);
  return { contract_id: row.contract_id, row };
}

function placeOfRow(tables: Tables, row: HandoffRow): Place {
  const live = liveLink(tables.handoffs, row);
  return { contract_id: live.contract_id, row: live };
}
