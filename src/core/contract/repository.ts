/**
 * What the store promises the editor: rows as they come back, and the tables as small interfaces.
 *
 * Everything is synchronous, because a transaction is: between its first and last statement nothing waits.
 * A function answers null when there is no such row. Driver errors arrive as `WritError` with `store_busy`,
 * `store_too_new` or `store_failed`.
 */
import type { ApprovalTable } from "../approval/repository.ts";
import type { ContextTable, ProposalTable } from "../context/repository.ts";
import type { EvidenceTable } from "../evidence/repository.ts";
import type { ToolRecord } from "../record/tool-record.ts";
import type { TaskTable } from "../task/repository.ts";
import type { WorkspaceTable } from "../workspace/repository.ts";
import type { Change } from "./changes.ts";

/** One turn, from birth to verdict: a row of `handoffs`. JSON columns are text. Instants: RFC 3339, UTC, seconds. */
export type HandoffRow = {
  readonly id: number;
  readonly contract_id: string;
  readonly agent_id: string;
  readonly agent_name: string | null;
  readonly workspace: string;
  readonly session_id: string | null;
  readonly harness_agent_id: string | null;
  readonly kind: string | null;
  readonly brief_id: number | null;
  readonly plan_id: number | null;
  readonly plan_task_id: number | null;
  readonly parent_handoff_id: number | null;
  readonly continues_handoff_id: number | null;
  readonly goal: string | null;
  readonly role: string | null;
  readonly surface: string | null;
  readonly project: string | null;
  readonly project_path: string | null;
  readonly goal_project_token: string | null;
  /** JSON arrays of section names; null when the dispatch named none. */
  readonly can_read: string | null;
  readonly can_write: string | null;
  readonly consolidation: number;
  readonly agent_state: string;
  /** Null is a clean close. */
  readonly cut_reason: string | null;
  readonly raw_handoff_json: string;
  readonly conclusion: string | null;
  readonly content_checks: string | null;
  readonly update_contracts_refused: string | null;
  readonly record_head: string | null;
  readonly record_count: number | null;
  readonly created_at: string;
  readonly closed_at: string | null;
};

/** What a birth writes; the id and the fields of a close come later. */
export type Birth = Omit<
  HandoffRow,
  | "id"
  | "agent_state"
  | "cut_reason"
  | "conclusion"
  | "content_checks"
  | "update_contracts_refused"
  | "record_head"
  | "record_count"
  | "closed_at"
>;

/** What a close, a checkpoint or a cut writes into a row that exists. */
export type Close = Pick<
  HandoffRow,
  | "agent_id"
  | "agent_state"
  | "cut_reason"
  | "raw_handoff_json"
  | "conclusion"
  | "content_checks"
  | "update_contracts_refused"
  | "record_head"
  | "record_count"
  | "closed_at"
> & {
  /** These three fill a null and never replace a value with null. */
  readonly session_id: string | null;
  readonly plan_task_id: number | null;
  readonly brief_id: number | null;
};

/** `list` filters; null means "any". `until` with a date alone includes the whole day. */
export type HandoffFilter = {
  readonly agent_id: string | null;
  readonly agent_name: string | null;
  readonly agent_state: string | null;
  /** A cut reason, or "any" for every cut row. */
  readonly cut_reason: string | null;
  readonly session_id: string | null;
  readonly contract_id: string | null;
  readonly harness_agent_id: string | null;
  readonly workspace: string | null;
  readonly since: string | null;
  readonly until: string | null;
  readonly limit: number;
};

export type HandoffTable = {
  find(contractId: string): HandoffRow | null;
  findById(id: number): HandoffRow | null;
  /** The newest row that carries the harness's own run id. */
  findByHarness(harnessAgentId: string): HandoffRow | null;
  /** The row that continues this one. */
  findContinuation(id: number): HandoffRow | null;
  /** Rows of a session that are DISPATCHED and not yet claimed by a harness agent; at most `limit`. */
  listUnclaimed(sessionId: string, limit: number): readonly HandoffRow[];
  /** Newest first. */
  list(filter: HandoffFilter): readonly HandoffRow[];
  /** How many rows match, whatever the limit. */
  count(filter: HandoffFilter): number;
  /** Inserts a born row; when the contract id is already there nothing changes and `created` is false. */
  insertBirth(birth: Birth): { readonly id: number; readonly created: boolean };
  /** Replaces the envelope and nothing else. */
  mirror(id: number, rawHandoffJson: string): void;
  close(id: number, close: Close): void;
  stampHarness(id: number, harnessAgentId: string): void;
  /** Replaces the refusals of `update_contracts`, a JSON array. */
  stampRefused(id: number, refused: string): void;
  /** Those of the given contract ids whose row is closed. */
  listClosed(contractIds: readonly string[]): ReadonlySet<string>;
};

/** One change of an envelope: every path it changed, under one id. */
export type JournalChange = {
  readonly change_id: number;
  readonly contract_id: string;
  readonly at: string;
  readonly pid: number;
  readonly verb: string;
  /** The digest of the draft file after the change. */
  readonly draft_sha256: string;
  /** The change that this one, an undo, takes back. */
  readonly undoes: number | null;
  readonly changes: readonly Change[];
};

export type JournalTable = {
  /** Oldest first. Empty when the contract has no history. */
  list(contractId: string): readonly JournalChange[];
  /** Digest of the draft after the newest change. */
  newestDigest(contractId: string): string | null;
  hasDigest(contractId: string, digest: string): boolean;
  /** Appends one change of at least one path and answers its id. */
  append(change: Omit<JournalChange, "change_id">): number;
};

export type RecordTable = {
  isBound(contractIds: readonly string[]): boolean;
  bind(contractId: string, source: string, at: string): void;
  /** Oldest first. */
  list(contractId: string): readonly ToolRecord[];
  /** The last record of the chain. */
  newest(contractId: string): { readonly seq: number; readonly digest: string } | null;
  hasToolUse(contractId: string, toolUseId: string): boolean;
  insert(record: ToolRecord): void;
};

export type SendBackTable = {
  /** How often the stop gate has sent this contract's turn back. */
  count(contractId: string): number;
  add(contractId: string, at: string): void;
};

/** The tables of the editor's store, inside one transaction. */
export type Tables = {
  readonly handoffs: HandoffTable;
  readonly journal: JournalTable;
  readonly records: RecordTable;
  readonly sendBacks: SendBackTable;
  readonly tasks: TaskTable;
  readonly workspaces: WorkspaceTable;
  readonly approvals: ApprovalTable;
  readonly evidence: EvidenceTable;
  readonly context: ContextTable;
  readonly proposals: ProposalTable;
  /** Runs a unit that may fail by itself: what it threw undoes the unit alone. A `WritError` of the store undoes all. */
  nested<T>(unit: () => T): T;
};

/** The editor's store: one file a user. */
export type ContractStore = {
  /**
   * Runs the unit in one write transaction, begun before its first read. The unit must not wait; it may be
   * run again from its beginning when the store was busy.
   * Errors: `store_busy` after 30 seconds; whatever the unit throws, after a rollback.
   */
  write<T>(unit: (tables: Tables) => T): T;
  /** Runs the unit on one snapshot, without the write lock. */
  read<T>(unit: (tables: Tables) => T): T;
  /** Closes the connection; the last one merges the log into the database, which syncs four times. */
  close(): void;
  /**
   * What a process that is about to end calls instead: the operating system closes the files, everything committed is
   * in the log, and the next process goes on from there.
   */
  leave(): void;
};

/** A draft file as it is on disk. `digest` is the lower-case hex SHA-256 of its bytes. */
export type DraftFile = { readonly text: string; readonly digest: string; readonly modified_ms: number };

/** A draft written beside its place and flushed, not yet in it. */
export type StagedDraft = {
  readonly digest: string;
  /** Renames it into place and flushes the folder. */
  publish(): void;
  discard(): void;
};

export type DraftFolder = {
  /** Null when there is none. Errors: `draft_unreadable` for what is no regular file or too large. */
  read(draftId: string): DraftFile | null;
  /** Errors: `store_failed`; nothing is left behind. */
  stage(draftId: string, text: string): StagedDraft;
  /** Newest first, ties by name, descending. */
  list(): readonly { readonly draft_id: string; readonly modified_ms: number }[];
  remove(draftId: string): void;
  /** True at most once an hour, for one of all processes; marks the time. */
  claimSweep(now_ms: number): boolean;
  /** Removes temporary files that killed processes left more than an hour ago. */
  sweep(now_ms: number): void;
};

/** Files on their way to becoming evidence, named after the contract they belong to. */
export type ScratchFolder = {
  list(): readonly { readonly name: string; readonly modified_ms: number }[];
  remove(name: string): void;
};
