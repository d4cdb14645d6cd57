/** What the store promises of approvals. */

export const APPROVAL_STATUSES = ["pending", "approved", "rejected", "revoked", "expired"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** One row of `approvals`: consent that was asked for, and what came of it. */
export type ApprovalRow = {
  /** `P-` and 32 hex digits. */
  readonly id: string;
  readonly agent_id: string | null;
  readonly session_id: string | null;
  readonly status: ApprovalStatus;
  /** The digest of `payload`; of those that are pending, no two are the same. */
  readonly fingerprint: string;
  /** Canonical JSON. */
  readonly payload: string;
  readonly created_at: string;
  readonly decided_at: string | null;
  readonly decided_by: string | null;
  readonly reason: string | null;
};

export type ApprovalTable = {
  /** Null also when it cannot be looked up: what is not known is not pending. */
  statusOf(id: string): string | null;
  find(id: string): ApprovalRow | null;
  findPending(fingerprint: string): ApprovalRow | null;
  /** Newest first; null: of every status. */
  list(status: string | null): readonly ApprovalRow[];
  insert(row: Pick<ApprovalRow, "id" | "agent_id" | "session_id" | "fingerprint" | "payload" | "created_at">): void;
  /** Decides one that is pending; false, and nothing changed, when it is not. */
  decide(id: string, decision: Pick<ApprovalRow, "status" | "decided_at" | "decided_by" | "reason">): boolean;
};
