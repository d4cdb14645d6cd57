/** Exporting a closed turn as a statement. */
import { statementOf } from "../core/attest/statement.ts";
import { readClosedTurn } from "../core/contract/closed-turn.ts";
import type { ContractStore } from "../core/contract/repository.ts";
import type { JsonObject } from "../core/json/value.ts";

export type Attested = { readonly contract_id: string; readonly handoff_id: number; readonly statement: JsonObject };

/**
 * The statement about one closed turn. Reads and writes nothing else.
 *
 * Errors: `no_row`, `not_closed`, `nothing_recoverable`; `record_broken`: a broken record is not to be vouched for
 */
export function attestTurn(
  world: { readonly store: ContractStore | null; sha256(text: string): string },
  id: string,
): Attested {
  const turn = readClosedTurn(world.store, id, world.sha256);
  return { contract_id: turn.row.contract_id, handoff_id: turn.row.id, statement: statementOf(turn, world.sha256) };
}
