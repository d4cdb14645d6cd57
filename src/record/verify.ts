/** Recomputing the chain of a turn's record. */
import type { ContractStore } from "../core/contract/repository.ts";
import { assertWhole } from "../core/contract/seal.ts";
import { WritError } from "../core/error.ts";

export type Verified = { readonly contract_id: string; readonly count: number; readonly head: string | null };

/**
 * Checks that each record fits the one before it, and that the head which a close stored is still there.
 *
 * Errors: `record_broken`, with the first record that does not fit; `no_row` when the id has neither row nor record.
 */
export function verifyRecord(
  world: { readonly store: ContractStore | null; sha256(text: string): string },
  contractId: string,
): Verified {
  const found = world.store?.read((tables) => ({
    row: tables.handoffs.find(contractId),
    records: tables.records.list(contractId),
    newestDigest: tables.journal.newestDigest(contractId),
  }));
  if (found === undefined || (found.row === null && found.records.length === 0)) {
    throw new WritError("no_row", `There is neither a turn nor a record of "${contractId}"`, {
      hint: "See the turns with: writ contract list",
    });
  }
  return { contract_id: contractId, ...assertWhole({ contract_id: contractId, ...found }, world.sha256) };
}
