/** What editing a turn's contract needs of the world. The command line hands in the real one. */
import type { ContractStore, DraftFolder } from "../core/contract/repository.ts";

export type Clock = {
  /** RFC 3339, UTC, whole seconds. */
  now(): string;
  /** Milliseconds since the epoch. */
  ms(): number;
};

export type World = {
  readonly store: ContractStore;
  readonly drafts: DraftFolder;
  readonly clock: Clock;
  readonly pid: number;
  readonly mint: {
    /** "a" and 16 hex digits from a secure source. */
    agentId(): string;
    /** 12 hex digits from a secure source. */
    token(): string;
  };
  /** Lower-case hex SHA-256. */
  sha256(text: string): string;
  /** `WRIT_CONTRACT_ID` and `WRIT_WORKSPACE`, null when unset or blank. */
  readonly contractId: string | null;
  readonly workspace: string | null;
};

/** A world whose store may not exist yet: reading never makes one. */
export type ReadingWorld = Omit<World, "store"> & { readonly store: ContractStore | null };
