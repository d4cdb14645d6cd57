/** What the store promises of evidence: the table, and the files beside it. */
import type { EvidenceType, Polarity } from "./payload.ts";

/** What a citation is judged by. */
export type EvidenceScope = {
  readonly id: number;
  readonly brief_id: number;
  readonly task_id: number | null;
  readonly polarity: string;
};

/** One row of `evidence` with the names that it is known by. Exactly one of `text` and `artifact_path` is not null. */
export type EvidenceRow = EvidenceScope & {
  readonly brief: string;
  readonly workspace: string;
  readonly ac_id: string;
  readonly type: string;
  readonly text: string | null;
  /** The real path of a file under the folder of evidence. */
  readonly artifact_path: string | null;
  readonly size_bytes: number | null;
  readonly created_by_agent: string | null;
  /** The contract whose turn recorded it. */
  readonly source_contract_id: string | null;
  /** The digest of the `update_contracts` entry that it came by; null for one that was added by hand. */
  readonly source_entry_hash: string | null;
  readonly created_at: string;
};

export type NewEvidence = Omit<EvidenceRow, "id" | "brief" | "workspace" | "polarity" | "type"> & {
  readonly type: EvidenceType;
  readonly polarity: Polarity;
};

export type EvidenceTable = {
  find(id: number): EvidenceScope | null;
  findRow(id: number): EvidenceRow | null;
  /** Oldest first; `acId` null: of every acceptance criterion. */
  list(briefId: number, acId: string | null): readonly EvidenceRow[];
  /** Whether an entry of this contract was inserted before. */
  hasEntry(contractId: string, entryHash: string): boolean;
  /** Answers the id that a contract cites. The brief and the task must exist. */
  insert(evidence: NewEvidence): number;
};

/** Where a file of evidence goes; the caller has checked the parts. */
export type BlobPlace = {
  readonly workspace: string;
  readonly brief: string;
  readonly ac_id: string;
  /** `<uuid4><ext>`. */
  readonly name: string;
};

export type KeptBlob = {
  /** Its real path. */
  readonly path: string;
  readonly size_bytes: number;
  /** Takes it back, and the folders that were made for it. */
  discard(): void;
};

/** A path that was named as evidence, looked at. `why` is the end of a sentence, for example `is outside of "…"`. */
export type ArtifactPath =
  | { readonly ok: true; readonly path: string; readonly size_bytes: number }
  | { readonly ok: false; readonly why: string };

export type EvidenceFolder = {
  /**
   * Writes the pieces beside their place, flushes them and renames them into it. What fails leaves nothing behind.
   * Errors: `evidence_refused` where a link or no folder stands in the way; `store_failed`; what the pieces throw.
   */
  keep(place: BlobPlace, pieces: Iterable<Uint8Array>): KeptBlob;
  /**
   * The real path of an artifact that is already kept under the folder of evidence. `~/` stands for the home folder.
   * Refused is what is relative, outside, or leads outside by ".." or by a link, and what is no regular file.
   */
  resolveArtifactPath(path: string): ArtifactPath;
};
