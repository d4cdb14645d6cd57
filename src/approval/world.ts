/** What asking for consent and giving it needs of the world. */
import type { ContractStore } from "../core/contract/repository.ts";

export type World = {
  readonly store: ContractStore;
  readonly clock: {
    /** RFC 3339, UTC, whole seconds. */
    now(): string;
  };
  readonly mint: {
    /** "P-" and 32 hex digits from a secure source. */
    approvalId(): string;
  };
  /** Lower-case hex SHA-256. */
  sha256(text: string): string;
  /** `WRIT_CONTRACT_ID`, null when unset or blank. */
  readonly contractId: string | null;
};
