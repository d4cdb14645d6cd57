/** What keeping the tool record needs of the world. */
import type { ContractStore } from "../core/contract/repository.ts";
import type { ValueRedactor } from "../core/record/redact.ts";

export type World = {
  readonly store: ContractStore;
  readonly clock: {
    /** RFC 3339, UTC, whole seconds. */
    now(): string;
    ms(): number;
  };
  /** Lower-case hex SHA-256. */
  sha256(text: string): string;
  /** A SHA-256 that is fed piece by piece. */
  hasher(): { update(text: string): void; hex(): string };
  /** Redacts by value: the secrets of this process's environment; null when there are none. */
  readonly values: ValueRedactor | null;
  /** `WRIT_CONTRACT_ID`, null when unset or blank. */
  readonly contractId: string | null;
};
