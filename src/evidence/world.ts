/** What recording evidence needs of the world. */
import type { ContractStore } from "../core/contract/repository.ts";
import type { EvidenceFolder } from "../core/evidence/repository.ts";

export type World = {
  readonly store: ContractStore;
  readonly evidence: EvidenceFolder;
  readonly clock: {
    /** RFC 3339, UTC, whole seconds. */
    now(): string;
  };
  readonly mint: {
    /** A random UUID, version 4. */
    uuid(): string;
  };
  /** `WRIT_CONTRACT_ID` and `WRIT_WORKSPACE`, null when unset or blank. */
  readonly contractId: string | null;
  readonly workspace: string | null;
};

/** A world whose store may not exist yet: reading never makes one. */
export type ReadingWorld = Pick<World, "contractId" | "workspace"> & { readonly store: ContractStore | null };
