/** Who is at work: the turn that a contract or a row names. */
import { agentPart, draftIdFault } from "../core/contract/envelope.ts";
import { liveLink } from "../core/contract/links.ts";
import type { HandoffRow, Tables } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import type { Actor } from "../core/task/repository.ts";
import type { World } from "./world.ts";

export type Turn = {
  /** Null when the turn has no row yet. */
  readonly handoff_id: number | null;
  readonly actor: Actor;
};

/**
 * The turn of `WRIT_CONTRACT_ID`, by its live link; by its agent id alone where it has a draft and no row yet.
 *
 * Errors: `no_row`, when it names no turn: who settles is not to be guessed.
 */
export function turnOfContract(world: Pick<World, "drafts">, tables: Tables, contractId: string): Turn {
  const row = tables.handoffs.find(contractId);
  if (row !== null) return turnOfRow(liveLink(tables.handoffs, row));
  if (draftIdFault(contractId) === null && world.drafts.read(contractId) !== null) {
    return { handoff_id: null, actor: { agent_id: agentPart(contractId), agent_name: null } };
  }
  throw new WritError("no_row", `WRIT_CONTRACT_ID names no turn: "${contractId}"`, {
    path: "WRIT_CONTRACT_ID",
    hint: "Unset it, or set it to a contract of: writ contract list",
  });
}

/** The turn of a row. Errors: `no_row`. */
export function turnOfHandoff(tables: Tables, id: number): Turn {
  const row = tables.handoffs.findById(id);
  if (row !== null) return turnOfRow(row);
  throw new WritError("no_row", `There is no turn with handoff id ${id}`, {
    path: "--handoff-id",
    hint: "See them with: writ contract list",
  });
}

/** Whether one of these turns was bound to the task, or is of an agent whose turn was. */
export function isProducer(tables: Tables, taskId: number, turns: readonly Turn[]): boolean {
  return turns.some((turn) => tables.tasks.hasProducer(taskId, turn.actor));
}

/** A link carries the agent and the binding of what it continues, so its own row says all there is to ask. */
export function turnOfRow({ id, agent_id, agent_name }: HandoffRow): Turn {
  return { handoff_id: id, actor: { agent_id, agent_name } };
}
