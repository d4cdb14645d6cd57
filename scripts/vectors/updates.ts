/** Runs the cases of area `contract` that are about `update_contracts`: its shape, the merge, the evidence clause. */
import { mergeContext } from "../../src/core/context/merge.ts";
import { readEvidenceBatch } from "../../src/core/contract/evidence-clause.ts";
import { EVIDENCE_CONTRACT, readUpdates } from "../../src/core/contract/updates.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";

/** @returns what the case should expect; undefined when the operation is not of this area */
export function run(op: string, input: unknown): unknown {
  switch (op) {
    case "update_contracts": {
      const { entries, refused } = readUpdates((input as { value?: JsonValue }).value);
      return { entries, refused: refused.map(({ index, code }) => [index, code]) };
    }
    case "context_merge": {
      const { stored, payload } = input as { stored?: JsonValue; payload: JsonObject };
      return { section: mergeContext(stored, payload) };
    }
    case "evidence_batch":
      return evidenceBatch(input as { payloads: readonly JsonObject[]; briefs: readonly number[] });
    default:
      return undefined;
  }
}

function evidenceBatch({ payloads, briefs }: { payloads: readonly JsonObject[]; briefs: readonly number[] }) {
  const entries = payloads.map((payload, index) => ({ index, contract: EVIDENCE_CONTRACT, payload }));
  const { deposits, refused, invalid } = readEvidenceBatch(entries, {
    briefExists: (id) => briefs.includes(id),
    taskBelongsTo: () => true,
    resolveArtifact: () => null, // the cases know no file
  });
  return { inserted: deposits.length, refused_entries: refused.length, invalid };
}
