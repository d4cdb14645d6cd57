/** How a row of evidence is shown. */
import type { EvidenceRow } from "../../core/evidence/repository.ts";
import type { JsonObject } from "../../core/json/value.ts";

export function storageOf(row: EvidenceRow): "inline" | "blob" {
  return row.artifact_path === null ? "inline" : "blob";
}

/** The row, with where its payload is kept. */
export function documentOf(row: EvidenceRow): JsonObject {
  return { ...row, storage: storageOf(row) };
}
