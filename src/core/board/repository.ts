/**
 * What the store promises the board: bounded excerpts of every table, on a connection that cannot write.
 *
 * Free text comes as an `Excerpt`, cut in bytes by the store: no row is so large that a page of it is. Driver errors
 * arrive as `WritError` with `store_busy`, `store_too_new` or `store_failed`.
 */

import type { Excerpt } from "../html/shown-text.ts";
import type { ToolRecord } from "../record/tool-record.ts";
import type { Kinds, TurnFilter } from "./address.ts";
import type { Group } from "./groups.ts";

/** One turn, as a list shows it. Instants: RFC 3339, UTC, seconds. */
export type BoardTurn = {
  readonly id: number;
  readonly agent_name: Excerpt | null;
  readonly agent_id: Excerpt;
  readonly workspace: Excerpt;
  readonly goal: Excerpt | null;
  readonly conclusion: Excerpt | null;
  readonly agent_state: string;
  readonly cut_reason: string | null;
  readonly created_at: string;
  readonly closed_at: string | null;
  readonly continues_handoff_id: number | null;
  /** Changes in the journal, and records. */
  readonly changes: number;
  readonly records: number;
  /** The newest instant of birth, journal, record and close. */
  readonly last_at: string;
  /** The last command of the record; null when there is none. */
  readonly last_run: RunEnd | null;
  /** Entries of the two lists of `content_checks`; null when it has none to read. */
  readonly advice: number | null;
  readonly skipped: number | null;
};

/** How a command ended; see `tool-record.ts`. */
export type RunEnd = Pick<ToolRecord, "seq" | "exit_code" | "signal" | "failed" | "ended_at">;

/** One turn, whole but for what is too large. */
export type BoardDetail = BoardTurn & {
  readonly contract_id: Excerpt;
  /** Name and value of the columns that are not null and no document, in the order of the table. */
  readonly columns: readonly (readonly [name: string, value: Excerpt])[];
  /** The three JSON columns; a text that is larger than `DOCUMENT_BYTES` is cut and does not parse. */
  readonly raw_handoff_json: Excerpt;
  readonly content_checks: Excerpt | null;
  readonly update_contracts_refused: Excerpt | null;
  readonly record_head: string | null;
  readonly record_count: number | null;
  readonly bound: boolean;
};

/** A link of a continuation chain, oldest first. */
export type BoardLink = Pick<BoardTurn, "id" | "agent_state" | "cut_reason" | "created_at" | "conclusion">;

/** A record with its texts cut; `argv` is the JSON array. */
export type BoardRecord = Omit<ToolRecord, "command" | "argv" | "path" | "cwd" | "output" | "tail" | "exit_note"> & {
  readonly command: Excerpt | null;
  readonly argv: Excerpt | null;
  readonly path: Excerpt | null;
  readonly cwd: Excerpt | null;
  readonly output: Excerpt | null;
  readonly tail: Excerpt | null;
  readonly exit_note: Excerpt | null;
};

/** One path of a change; the two sides are JSON texts, null where the path did not exist. */
export type BoardEntry = {
  readonly path: Excerpt;
  readonly before: Excerpt | null;
  readonly after: Excerpt | null;
};

export type BoardChange = {
  readonly change_id: number;
  readonly at: string;
  readonly pid: number;
  readonly verb: string;
  readonly undoes: number | null;
  /** The first of them, at most `ENTRIES`. */
  readonly entries: readonly BoardEntry[];
  readonly paths: number;
};

/** Something that happened in a turn. */
export type Moment =
  | { readonly kind: "run"; readonly record: BoardRecord }
  | { readonly kind: "write"; readonly change: BoardChange };

export type BoardEvidence = {
  readonly id: number;
  readonly brief: Excerpt;
  readonly ac_id: Excerpt;
  readonly type: string;
  readonly polarity: string;
  readonly text: Excerpt | null;
  readonly artifact_path: Excerpt | null;
  readonly size_bytes: number | null;
  /** True when a turn of this contract recorded it; false for one that is cited only. */
  readonly own: boolean;
  readonly created_at: string;
};

export type BoardApproval = {
  readonly id: Excerpt;
  readonly agent_id: Excerpt | null;
  readonly session_id: Excerpt | null;
  readonly status: string;
  /** Canonical JSON; larger than `PAYLOAD_BYTES` it is cut and does not parse. */
  readonly payload: Excerpt;
  readonly created_at: string;
  readonly decided_at: string | null;
  readonly decided_by: Excerpt | null;
  readonly reason: Excerpt | null;
  /** The newest turn of the agent that asked. */
  readonly turn_id: number | null;
};

export type ApprovalFilter = {
  readonly turn_id: number | null;
  readonly pending: boolean | null;
  readonly limit: number;
};

/** What is read of a JSON column of a turn, and of an approval's payload, in bytes. */
export const DOCUMENT_BYTES = 1024 * 1024;
export const PAYLOAD_BYTES = 64 * 1024;

/** Paths of one change that are read. */
export const ENTRIES = 12;

export type BoardTable = {
  /** Workspaces that have turns, at most `limit`. */
  listWorkspaces(limit: number): readonly Excerpt[];
  /** Groups without a turn are left out. */
  countGroups(filter: TurnFilter): ReadonlyMap<Group, number>;
  /** Newest first. `group` null: of all; `before` null: from the newest. */
  listTurns(group: Group | null, filter: TurnFilter, before: number | null, limit: number): readonly BoardTurn[];
  findTurn(id: number): BoardDetail | null;
  /** The turn itself among them; alone when nothing continues it and it continues nothing. */
  listChain(id: number): readonly BoardLink[];
  /** The turns that name this one as their parent, newest first. */
  listChildren(id: number, limit: number): readonly BoardTurn[];
  /** Newest first; of the same second, what is written down comes behind what was run, and a birth before all. */
  listMoments(id: number, kinds: Kinds, offset: number, limit: number): readonly Moment[];
  /** The last record of a command with exactly this text. */
  findRun(id: number, command: string): RunEnd | null;
  /** Every record whole, oldest first; null when there are more than `limit`, or more bytes than a page may read. */
  listRecords(id: number, limit: number): readonly ToolRecord[] | null;
  /** What this contract recorded, and the rows with one of these ids; by id, at most `limit`. */
  listEvidence(id: number, cited: readonly number[], limit: number): readonly BoardEvidence[];
  /** Of one turn's agent, or with null of everybody; pending, decided, or with null both. Newest first. */
  listApprovals(filter: ApprovalFilter): readonly BoardApproval[];
  countPending(): number;
};

/** A store that is looked at. */
export type BoardStore = {
  /** Runs the unit on one snapshot. */
  read<T>(unit: (board: BoardTable) => T): T;
  close(): void;
};
