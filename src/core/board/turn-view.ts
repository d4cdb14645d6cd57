/** All that the page of one turn is made of. */
import type { Address } from "./address.ts";
import type { Claims } from "./claims.ts";
import type { BoardApproval, BoardDetail, BoardEvidence, BoardLink, BoardTurn, Moment, RunEnd } from "./repository.ts";

/** Entries on one page of the timeline. */
export const MOMENTS = 50;

export type TurnView = {
  readonly turn: BoardDetail;
  readonly claims: Claims;
  /** The last run with exactly the text of the claimed command; null when there is none. */
  readonly claimedRun: RunEnd | null;
  readonly record: RecordState;
  readonly chain: readonly BoardLink[];
  readonly children: readonly BoardTurn[];
  readonly evidence: readonly BoardEvidence[];
  readonly approvals: readonly BoardApproval[];
  readonly moments: readonly Moment[];
  /** There are older ones. */
  readonly more: boolean;
};

/** What recomputing the chain of records said. */
export type RecordState =
  | { readonly state: "empty" }
  | { readonly state: "whole" }
  /** `seq` null: the head that the close stored is not there. */
  | { readonly state: "broken"; readonly seq: number | null }
  /** Too long to be recomputed for a page. */
  | { readonly state: "unread" };

export type TurnAddress = Extract<Address, { page: "turn" }>;
