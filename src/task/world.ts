/** What acceptance work needs of the world. */
import type { ContractStore, DraftFolder } from "../core/contract/repository.ts";

export type World = {
  readonly store: ContractStore;
  readonly drafts: Pick<DraftFolder, "read">;
  readonly clock: {
    /** RFC 3339, UTC, whole seconds. */
    now(): string;
  };
  /** `WRIT_CONTRACT_ID` and `WRIT_WORKSPACE`, null when unset or blank. */
  readonly contractId: string | null;
  readonly workspace: string | null;
};

/** A world whose store may not exist yet: reading never makes one. */
export type ReadingWorld = Pick<World, "contractId" | "workspace"> & { readonly store: ContractStore | null };
