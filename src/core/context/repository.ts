/** What the store promises of project context: the stored sections, what each change replaced, and the proposals. */
import type { JsonObject, JsonValue } from "../json/value.ts";

export type SectionChange = {
  readonly at: string;
  readonly by: string | null;
  /** The proposal that the change came by; null for a direct write. */
  readonly proposal_id: number | null;
};

export type StoredSection = {
  readonly section: string;
  readonly updated_at: string;
  readonly updated_by: string | null;
};

export type ContextTable = {
  /** What is stored, be it an object or not; `undefined` when there is no such section. */
  find(workspace: string, section: string): JsonValue | undefined;
  /** The stored section where it is an object; null otherwise. */
  get(workspace: string, section: string): JsonObject | null;
  /** By name. */
  list(workspace: string): readonly StoredSection[];
  /** Workspaces with their stored section of that name, where it is an object. */
  listWorkspaces(section: string): readonly { readonly workspace: string; readonly payload: JsonObject }[];
  /** Replaces a section whole and keeps what was there before. */
  put(workspace: string, section: string, payload: JsonObject, change: SectionChange): void;
};

export const PROPOSAL_STATUSES = ["pending", "accepted", "rejected", "superseded"] as const;
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

export type ProposalRow = {
  readonly id: number;
  readonly handoff_id: number;
  readonly contract_id: string;
  readonly entry_index: number;
  readonly entry_hash: string;
  readonly section: string;
  readonly payload: JsonObject;
  readonly drift: JsonValue;
  readonly workspace: string;
  readonly project: string | null;
  readonly goal_project_token: string | null;
  readonly status: string;
  /** Names of the guards that kept a correction from being applied; null when none was evaluated. */
  readonly failed_guards: readonly string[] | null;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly decision_note: string | null;
  readonly created_at: string;
};

export type NewProposal = Omit<
  ProposalRow,
  "id" | "status" | "failed_guards" | "decided_by" | "decided_at" | "decision_note"
>;

export type Decision = {
  /** Pending again: an entry that a turn had dropped and makes once more. */
  readonly status: ProposalStatus;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly decision_note: string | null;
};

export type ProposalTable = {
  /** Newest first; null: any. */
  list(filter: { readonly contract_id: string | null; readonly status: string | null }): readonly ProposalRow[];
  /** Of one contract, in the order of their entries. */
  listOf(contractId: string): readonly ProposalRow[];
  insert(proposal: NewProposal): number;
  decide(id: number, decision: Decision): void;
  stampFailedGuards(id: number, guards: readonly string[]): void;
};
