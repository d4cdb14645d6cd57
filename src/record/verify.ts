/** Recomputing the chain of a turn's record. */
import type { ContractStore } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { verifyChain } from "../core/record/digest.ts";

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
  }));
  if (found === undefined || (found.row === null && found.records.length === 0)) {
    throw new WritError("no_row", `There is neither a turn nor a record of "${contractId}"`, {
      hint: "See the turns with: writ contract list",
    });
  }
  const { row, records } = found;
  const chain = verifyChain(records, world.sha256);
  if (!chain.ok) throw broken(contractId, chain.seq, chain.expected, chain.found);
  // Records that came after the close stand behind the stored head.
  const stored = row?.record_head ?? null;
  const count = row?.record_count ?? null;
  if (row !== null && count !== null) {
    const head = count === 0 ? null : (records[count - 1]?.digest ?? "nothing");
    if (head !== stored) throw broken(contractId, "record_head", stored ?? "nothing", head ?? "nothing");
  }
  return { contract_id: contractId, count: chain.count, head: chain.head };
}

function broken(contractId: string, seq: number | "record_head", expected: string, found: string): WritError {
  const where = seq === "record_head" ? "at the head that its close stored" : `at ${seq}`;
  return new WritError(
    "record_broken",
    `The record of "${contractId}" does not fit ${where}: expected ${expected}, found ${found}`,
    {
      status: "broken",
      path: "tool_record",
      details: { contract_id: contractId, seq, expected, found },
      hint: "A record was changed, removed or put in after it was written",
    },
  );
}
