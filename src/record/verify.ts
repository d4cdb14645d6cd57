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
  id: string,
): Verified {
  const found = world.store?.read((tables) => {
    const row = tables.handoffs.find(id) ?? (/^[1-9]\d{0,14}$/.test(id) ? tables.handoffs.findById(Number(id)) : null);
    const contract_id = row?.contract_id ?? id;
    const records = tables.records.list(contract_id);
    return { contract_id, row, records, newestDigest: tables.journal.newestDigest(contract_id) };
  });
  if (found === undefined || (found.row === null && found.records.length === 0)) {
    throw new WritError("no_row", `There is neither a turn nor a record of "${id}"`, {
      hint: "See the turns with: writ contract list",
    });
  }
  return { contract_id: found.contract_id, ...assertWhole(found, world.sha256) };
}
