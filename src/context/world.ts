/** What keeping project context needs of the world. */
import type { ContractStore } from "../core/contract/repository.ts";

export type World = {
  readonly store: ContractStore;
  readonly clock: { now(): string };
  /** `WRIT_CONTRACT_ID`, null when unset or blank: a turn neither accepts nor writes project context. */
  readonly contractId: string | null;
};

/** A world whose store may not exist yet: reading never makes one. */
export type ReadingWorld = Omit<World, "store"> & {
  readonly store: ContractStore | null;
  /** `WRIT_WORKSPACE`, null when unset or blank. */
  readonly workspace: string | null;
};
