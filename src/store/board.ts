/**
 * What the board reads: bounded excerpts of every table, on a connection that SQLite itself keeps from writing.
 *
 * SQL's own `length` and `substr` of a text stop at a NUL, so a text is measured and cut as bytes.
 */
import { Database } from "bun:sqlite";
import type { Kinds, TurnFilter } from "../core/board/address.ts";
import type { Group } from "../core/board/groups.ts";
import { groupOf } from "../core/board/groups.ts";
import {
  type ApprovalFilter,
  type BoardApproval,
  type BoardChange,
  type BoardDetail,
  type BoardEntry,
  type BoardEvidence,
  type BoardLink,
  type BoardRecord,
  type BoardStore,
  type BoardTable,
  type BoardTurn,
  DOCUMENT_BYTES,
  ENTRIES,
  type Moment,
  PAYLOAD_BYTES,
  type RunEnd,
} from "../core/board/repository.ts";
import { MAX_LINKS } from "../core/contract/chain.ts";
import { WritError } from "../core/error.ts";
import type { Excerpt } from "../core/html/shown-text.ts";
import { checkVersion, guarded, isThere, isWritable, LAYOUT, openAside, versionOf } from "./open.ts";
import { recordTable } from "./records.ts";

/** How long a locked store is waited for: nothing else is answered meanwhile. In milliseconds. */
const BUSY_TIMEOUT_MS = 2000;

/** Bytes of a text that are read, by what it is. */
const NAME_BYTES = 400;
const TEXT_BYTES = 4000;

/** Bytes of records that are read at once to recompute their chain. */
const RECORDS_BYTES = 8 * 1024 * 1024;

/** Opens an existing store to look at it; null when there is none, or none with a table. Nothing is made or migrated. */
export function openBoardStore(path: string): BoardStore | null {
  if (!isThere(path)) return null;
  const opened = told(path, () => openToLook(path));
  if (opened === null) return null;
  const { db, close } = opened;
  const board = boardTable(db);
  return { read: (unit) => told(path, () => db.transaction(() => unit(board)).deferred()), close };
}

function openToLook(path: string): { readonly db: Database; close(): void } | null {
  if (!isWritable(path)) return openAside(path);
  const db = new Database(path, { readonly: true, strict: true });
  try {
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const version = versionOf(db);
    checkVersion(version, path);
    if (version > 0 && version < LAYOUT) {
      throw new WritError("store_failed", `The store "${path}" has layout ${version}; this writ reads ${LAYOUT}`, {
        path,
        hint: "Any command that lists brings it up to date: writ contract list",
      });
    }
    if (version > 0) return { db, close: () => db.close() };
    db.close();
    return null; // another process is making it just now
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Driver codes become ours; a locked store is told for what it is here, where nobody wanted to write. */
function told<T>(path: string, act: () => T): T {
  try {
    return guarded(path, act);
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== "store_busy") throw error;
    throw new WritError("store_busy", `The store "${path}" is locked`, { path, hint: "Try again", cause: error });
  }
}

/** The columns of an excerpt: its first bytes, and how many there are. */
function cut(column: string, name: string, bytes: number): string {
  return `substr(CAST(${column} AS BLOB), 1, ${bytes}) AS ${name}, octet_length(${column}) AS ${name}_octets`;
}

type Value = string | number | Uint8Array | null;
type Row = Readonly<Record<string, Value>>;

const GROUP = `
  CASE WHEN h.cut_reason IS NOT NULL AND h.cut_reason <> 'never_finalized' THEN 'CUT' ELSE h.agent_state END`;

const MATCHES = `
  ($workspace IS NULL OR h.workspace = $workspace)
  AND ($text IS NULL OR instr(lower(h.contract_id || ' ' || COALESCE(h.agent_name, '') || ' ' || COALESCE(h.goal, '')
    || ' ' || COALESCE(h.conclusion, '') || ' ' || COALESCE(h.session_id, '')), lower($text)) > 0)`;

// An entry list of a checked row; a text that somebody edited into no JSON has none.
const COUNT_OF = (list: string) =>
  `CASE WHEN json_valid(h.content_checks) THEN json_array_length(h.content_checks, '$.${list}') END`;

const TURN_COLUMNS = `
  h.id, ${cut("h.agent_name", "agent_name", NAME_BYTES)}, ${cut("h.agent_id", "agent_id", NAME_BYTES)},
  ${cut("h.workspace", "workspace", NAME_BYTES)}, ${cut("h.goal", "goal", TEXT_BYTES)},
  ${cut("h.conclusion", "conclusion", TEXT_BYTES)}, h.agent_state, h.cut_reason, h.created_at, h.closed_at,
  h.continues_handoff_id, ${COUNT_OF("advice")} AS advice, ${COUNT_OF("skipped")} AS skipped,
  (SELECT COUNT(DISTINCT change_id) FROM journal WHERE contract_id = h.contract_id) AS changes,
  (SELECT COUNT(*) FROM tool_records WHERE contract_id = h.contract_id) AS records,
  MAX(h.created_at, COALESCE(h.closed_at, ''),
    COALESCE((SELECT at FROM journal WHERE contract_id = h.contract_id ORDER BY change_id DESC LIMIT 1), ''),
    COALESCE((SELECT MAX(ended_at) FROM tool_records WHERE contract_id = h.contract_id), '')) AS last_at,
  r.seq AS run_seq, r.exit_code AS run_exit_code, r.signal AS run_signal, r.failed AS run_failed,
  r.ended_at AS run_ended_at`;

const LAST_RUN = `
  LEFT JOIN tool_records AS r ON r.contract_id = h.contract_id AND r.seq =
    (SELECT MAX(seq) FROM tool_records WHERE contract_id = h.contract_id AND tool = 'bash')`;

const LIST = `
  SELECT ${TURN_COLUMNS} FROM handoffs AS h ${LAST_RUN}
  WHERE ${MATCHES} AND ($group IS NULL OR ${GROUP} = $group) AND ($before IS NULL OR h.id < $before)
  ORDER BY h.id DESC LIMIT $limit`;

const CHILDREN = `
  SELECT ${TURN_COLUMNS} FROM handoffs AS h ${LAST_RUN}
  WHERE h.parent_handoff_id = $id ORDER BY h.id DESC LIMIT $limit`;

/** The columns of a row that are no document, in the order of the table. */
const PLAIN_COLUMNS = [
  "id",
  "contract_id",
  "agent_id",
  "agent_name",
  "workspace",
  "session_id",
  "harness_agent_id",
  "kind",
  "brief_id",
  "plan_id",
  "plan_task_id",
  "parent_handoff_id",
  "continues_handoff_id",
  "role",
  "surface",
  "project",
  "project_path",
  "can_read",
  "can_write",
  "agent_state",
  "cut_reason",
  "record_head",
  "record_count",
  "created_at",
  "closed_at",
] as const;

const DETAIL = `
  SELECT ${TURN_COLUMNS}, h.record_head, h.record_count,
    ${cut("h.raw_handoff_json", "raw_handoff_json", DOCUMENT_BYTES)},
    ${cut("h.content_checks", "content_checks", DOCUMENT_BYTES)},
    ${cut("h.update_contracts_refused", "update_contracts_refused", TEXT_BYTES)},
    EXISTS (SELECT 1 FROM tool_bindings WHERE contract_id = h.contract_id) AS bound,
    ${PLAIN_COLUMNS.map((name) => cut(`h.${name}`, `plain_${name}`, NAME_BYTES)).join(", ")}
  FROM handoffs AS h ${LAST_RUN} WHERE h.id = $id`;

// Both directions from the row, each as far as a chain is walked; UNION keeps no link twice at one depth, and a circle
// ends at that depth.
const CHAIN = `
  WITH RECURSIVE
    older (id, continues, depth) AS (
      SELECT id, continues_handoff_id, 0 FROM handoffs WHERE id = $id
      UNION
      SELECT h.id, h.continues_handoff_id, older.depth - 1 FROM older JOIN handoffs AS h ON h.id = older.continues
      WHERE older.depth > -$most),
    newer (id, depth) AS (
      SELECT $id, 0
      UNION
      SELECT h.id, newer.depth + 1 FROM newer JOIN handoffs AS h ON h.continues_handoff_id = newer.id
      WHERE newer.depth < $most),
    links (id, depth) AS (
      SELECT id, MAX(depth) FROM (SELECT id, depth FROM older UNION ALL SELECT id, depth FROM newer WHERE depth > 0
        AND id NOT IN (SELECT id FROM older)) GROUP BY id)
  SELECT h.id, h.agent_state, h.cut_reason, h.created_at, ${cut("h.conclusion", "conclusion", TEXT_BYTES)}
  FROM links JOIN handoffs AS h ON h.id = links.id ORDER BY links.depth`;

// A record without a time stands where the one before it stands.
const MOMENTS = `
  SELECT kind, number FROM (
    SELECT 'run' AS kind, seq AS number, 1 AS rank,
      MAX(COALESCE(ended_at, started_at, '')) OVER (ORDER BY seq) AS at
    FROM tool_records WHERE contract_id = $contract AND $kinds <> 'writes'
    UNION ALL
    SELECT 'write', change_id, MIN(CASE WHEN verb IN ('dispatch', 'init', 'continue') THEN 0 ELSE 2 END), MAX(at) FROM journal WHERE contract_id = $contract AND $kinds <> 'runs' GROUP BY change_id)
  ORDER BY at DESC, rank DESC, number DESC LIMIT $limit OFFSET $offset`;

const RECORD = `
  SELECT contract_id, seq, source, harness, tool, tool_use_id, exit_code, signal, failed, started_at, ended_at,
    output_bytes, output_sha256, truncated, ordered, prev_digest, digest,
    ${cut("command", "command", TEXT_BYTES)}, ${cut("argv", "argv", TEXT_BYTES)}, ${cut("path", "path", TEXT_BYTES)},
    ${cut("cwd", "cwd", TEXT_BYTES)}, ${cut("output", "output", TEXT_BYTES)}, ${cut("tail", "tail", TEXT_BYTES)},
    ${cut("exit_note", "exit_note", TEXT_BYTES)}
  FROM tool_records WHERE contract_id = $contract AND seq = $seq`;

const CHANGE = `
  SELECT change_id, at, pid, verb, undoes, COUNT(*) OVER () AS paths, ${cut("path", "path", NAME_BYTES)},
    ${cut("before", "before", TEXT_BYTES)}, ${cut("after", "after", TEXT_BYTES)}
  FROM journal WHERE contract_id = $contract AND change_id = $change ORDER BY id LIMIT ${ENTRIES}`;

const EVIDENCE = `
  SELECT e.id, e.type, e.polarity, e.size_bytes, e.created_at, e.source_contract_id = $contract AS own,
    ${cut("b.name", "brief", NAME_BYTES)}, ${cut("e.ac_id", "ac_id", NAME_BYTES)},
    ${cut("e.text", "text", TEXT_BYTES)}, ${cut("e.artifact_path", "artifact_path", TEXT_BYTES)}
  FROM evidence AS e JOIN briefs AS b ON b.id = e.brief_id
  WHERE e.source_contract_id = $contract OR e.id IN (SELECT value FROM json_each($ids))
  ORDER BY e.id LIMIT $limit`;

const APPROVALS = `
  SELECT ${cut("a.id", "id", NAME_BYTES)}, ${cut("a.agent_id", "agent_id", NAME_BYTES)},
    ${cut("a.session_id", "session_id", NAME_BYTES)}, a.status, ${cut("a.payload", "payload", PAYLOAD_BYTES)},
    a.created_at, a.decided_at, ${cut("a.decided_by", "decided_by", NAME_BYTES)}, ${cut("a.reason", "reason", TEXT_BYTES)},
    (SELECT MAX(h.id) FROM handoffs AS h WHERE h.agent_id = a.agent_id) AS turn_id
  FROM approvals AS a
  WHERE ($turn IS NULL OR a.agent_id = (SELECT agent_id FROM handoffs WHERE id = $turn))
    AND ($pending IS NULL OR (a.status = 'pending') = $pending)
  ORDER BY a.created_at DESC, a.rowid DESC LIMIT $limit`;

function boardTable(db: Database): BoardTable {
  const records = recordTable(db);
  const contractOf = (id: number): string =>
    db.query<{ contract_id: string }, { id: number }>("SELECT contract_id FROM handoffs WHERE id = $id").get({ id })
      ?.contract_id ?? "";
  return {
    listWorkspaces: (limit) =>
      db
        .query<Row, { limit: number }>(
          `SELECT ${cut("name", "name", NAME_BYTES)} FROM workspaces AS w
           WHERE EXISTS (SELECT 1 FROM handoffs WHERE workspace = w.name) ORDER BY w.name LIMIT $limit`,
        )
        .all({ limit })
        .map((row) => excerptOf(row, "name")),
    countGroups(filter) {
      const counts = new Map<Group, number>();
      const rows = db
        .query<{ kind: string; count: number }, TurnFilter>(
          `SELECT ${GROUP} AS kind, COUNT(*) AS count FROM handoffs AS h WHERE ${MATCHES} GROUP BY 1`,
        )
        .all({ ...filter });
      for (const { kind, count } of rows) counts.set(kind === "CUT" ? "CUT" : groupOf(kind, null), count);
      return counts;
    },
    listTurns: (group, filter, before, limit) =>
      db
        .query<Row, Record<string, string | number | null>>(LIST)
        .all({ ...filter, group, before, limit })
        .map(turnOf),
    findTurn: (id) => {
      const row = db.query<Row, { id: number }>(DETAIL).get({ id });
      return row === null ? null : detailOf(row);
    },
    listChain: (id) => db.query<Row, { id: number; most: number }>(CHAIN).all({ id, most: MAX_LINKS }).map(linkOf),
    listChildren: (id, limit) => db.query<Row, { id: number; limit: number }>(CHILDREN).all({ id, limit }).map(turnOf),
    listMoments(id, kinds, offset, limit) {
      const contract = contractOf(id);
      return db
        .query<{ kind: string; number: number }, { contract: string; kinds: Kinds; offset: number; limit: number }>(
          MOMENTS,
        )
        .all({ contract, kinds, offset, limit })
        .flatMap(({ kind, number }) => momentOf(db, contract, kind, number));
    },
    findRun: (id, command) =>
      db
        .query<Omit<RunEnd, "failed"> & { failed: number }, { contract: string; command: string }>(
          `SELECT seq, exit_code, signal, failed, ended_at FROM tool_records
           WHERE contract_id = $contract AND command = $command AND tool = 'bash' ORDER BY seq DESC LIMIT 1`,
        )
        .all({ contract: contractOf(id), command })
        .map((run) => ({ ...run, failed: run.failed !== 0 }))[0] ?? null,
    listRecords(id, limit) {
      const contract = contractOf(id);
      const size = db
        .query<{ count: number; bytes: number }, { contract: string }>(
          `SELECT COUNT(*) AS count, COALESCE(SUM(COALESCE(octet_length(command), 0) + COALESCE(octet_length(argv), 0)
             + COALESCE(octet_length(path), 0) + COALESCE(octet_length(output), 0)
             + COALESCE(octet_length(tail), 0)), 0) AS bytes
           FROM tool_records WHERE contract_id = $contract`,
        )
        .get({ contract });
      if (size === null || size.count > limit || size.bytes > RECORDS_BYTES) return null;
      return records.list(contract);
    },
    listEvidence: (id, cited, limit) =>
      db
        .query<Row, { contract: string; ids: string; limit: number }>(EVIDENCE)
        .all({ contract: contractOf(id), ids: JSON.stringify(cited), limit })
        .map(evidenceOf),
    listApprovals: ({ turn_id, pending, limit }: ApprovalFilter) =>
      db
        .query<Row, { turn: number | null; pending: number | null; limit: number }>(APPROVALS)
        .all({ turn: turn_id, pending: pending === null ? null : Number(pending), limit })
        .map(approvalOf),
    countPending: () =>
      db.query<{ count: number }, []>("SELECT COUNT(*) AS count FROM approvals WHERE status = 'pending'").get()
        ?.count ?? 0,
  };
}

function momentOf(db: Database, contract: string, kind: string, number: number): readonly Moment[] {
  if (kind === "run") {
    const row = db.query<Row, { contract: string; seq: number }>(RECORD).get({ contract, seq: number });
    return row === null ? [] : [{ kind: "run", record: recordOf(row) }];
  }
  const rows = db.query<Row, { contract: string; change: number }>(CHANGE).all({ contract, change: number });
  const change = changeOf(rows);
  return change === null ? [] : [{ kind: "write", change }];
}

function turnOf(row: Row): BoardTurn {
  return {
    id: numberAt(row, "id"),
    agent_name: maybeExcerpt(row, "agent_name"),
    agent_id: excerptOf(row, "agent_id"),
    workspace: excerptOf(row, "workspace"),
    goal: maybeExcerpt(row, "goal"),
    conclusion: maybeExcerpt(row, "conclusion"),
    agent_state: textAt(row, "agent_state") ?? "",
    cut_reason: textAt(row, "cut_reason"),
    created_at: textAt(row, "created_at") ?? "",
    closed_at: textAt(row, "closed_at"),
    continues_handoff_id: maybeNumber(row, "continues_handoff_id"),
    changes: numberAt(row, "changes"),
    records: numberAt(row, "records"),
    last_at: textAt(row, "last_at") ?? "",
    last_run:
      maybeNumber(row, "run_seq") === null
        ? null
        : {
            seq: numberAt(row, "run_seq"),
            exit_code: maybeNumber(row, "run_exit_code"),
            signal: textAt(row, "run_signal"),
            failed: row.run_failed === 1,
            ended_at: textAt(row, "run_ended_at"),
          },
    advice: maybeNumber(row, "advice"),
    skipped: maybeNumber(row, "skipped"),
  };
}

function detailOf(row: Row): BoardDetail {
  return {
    ...turnOf(row),
    contract_id: excerptOf(row, "plain_contract_id"),
    columns: PLAIN_COLUMNS.flatMap((name) => {
      const value = maybeExcerpt(row, `plain_${name}`);
      return value === null ? [] : [[name, value] as const];
    }),
    raw_handoff_json: excerptOf(row, "raw_handoff_json"),
    content_checks: maybeExcerpt(row, "content_checks"),
    update_contracts_refused: maybeExcerpt(row, "update_contracts_refused"),
    record_head: textAt(row, "record_head"),
    record_count: maybeNumber(row, "record_count"),
    bound: row.bound === 1,
  };
}

function linkOf(row: Row): BoardLink {
  return {
    id: numberAt(row, "id"),
    agent_state: textAt(row, "agent_state") ?? "",
    cut_reason: textAt(row, "cut_reason"),
    created_at: textAt(row, "created_at") ?? "",
    conclusion: maybeExcerpt(row, "conclusion"),
  };
}

function recordOf(row: Row): BoardRecord {
  return {
    contract_id: textAt(row, "contract_id") ?? "",
    seq: numberAt(row, "seq"),
    source: row.source === "hook" ? "hook" : "run",
    harness: textAt(row, "harness"),
    tool: row.tool === "read" ? "read" : row.tool === "edit" ? "edit" : "bash",
    tool_use_id: textAt(row, "tool_use_id"),
    command: maybeExcerpt(row, "command"),
    argv: maybeExcerpt(row, "argv"),
    path: maybeExcerpt(row, "path"),
    cwd: maybeExcerpt(row, "cwd"),
    exit_code: maybeNumber(row, "exit_code"),
    signal: textAt(row, "signal"),
    failed: row.failed === 1,
    exit_note: maybeExcerpt(row, "exit_note"),
    started_at: textAt(row, "started_at"),
    ended_at: textAt(row, "ended_at"),
    output: maybeExcerpt(row, "output"),
    tail: maybeExcerpt(row, "tail"),
    output_bytes: maybeNumber(row, "output_bytes"),
    output_sha256: textAt(row, "output_sha256"),
    truncated: row.truncated === 1,
    ordered: row.ordered === 1,
    prev_digest: textAt(row, "prev_digest") ?? "",
    digest: textAt(row, "digest") ?? "",
  };
}

/** Null when there is no row: a change has at least one path. */
function changeOf(rows: readonly Row[]): BoardChange | null {
  const first = rows[0];
  if (first === undefined) return null;
  return {
    change_id: numberAt(first, "change_id"),
    at: textAt(first, "at") ?? "",
    pid: numberAt(first, "pid"),
    verb: textAt(first, "verb") ?? "",
    undoes: maybeNumber(first, "undoes"),
    entries: rows.map(
      (row): BoardEntry => ({
        path: excerptOf(row, "path"),
        before: maybeExcerpt(row, "before"),
        after: maybeExcerpt(row, "after"),
      }),
    ),
    paths: numberAt(first, "paths"),
  };
}

function evidenceOf(row: Row): BoardEvidence {
  return {
    id: numberAt(row, "id"),
    brief: excerptOf(row, "brief"),
    ac_id: excerptOf(row, "ac_id"),
    type: textAt(row, "type") ?? "",
    polarity: textAt(row, "polarity") ?? "",
    text: maybeExcerpt(row, "text"),
    artifact_path: maybeExcerpt(row, "artifact_path"),
    size_bytes: maybeNumber(row, "size_bytes"),
    own: row.own === 1,
    created_at: textAt(row, "created_at") ?? "",
  };
}

function approvalOf(row: Row): BoardApproval {
  return {
    id: excerptOf(row, "id"),
    agent_id: maybeExcerpt(row, "agent_id"),
    session_id: maybeExcerpt(row, "session_id"),
    status: textAt(row, "status") ?? "",
    payload: excerptOf(row, "payload"),
    created_at: textAt(row, "created_at") ?? "",
    decided_at: textAt(row, "decided_at"),
    decided_by: maybeExcerpt(row, "decided_by"),
    reason: maybeExcerpt(row, "reason"),
    turn_id: maybeNumber(row, "turn_id"),
  };
}

/** A column that is short unless somebody made it long by hand: then it is cut without a word. */
function textAt(row: Row, name: string): string | null {
  const value = row[name] ?? null;
  return typeof value === "string" ? value.slice(0, NAME_BYTES) : null;
}

function maybeNumber(row: Row, name: string): number | null {
  const value = row[name] ?? null;
  return typeof value === "number" ? value : null;
}

function numberAt(row: Row, name: string): number {
  return maybeNumber(row, name) ?? 0;
}

function excerptOf(row: Row, name: string): Excerpt {
  return maybeExcerpt(row, name) ?? { text: "", size_bytes: 0 };
}

function maybeExcerpt(row: Row, name: string): Excerpt | null {
  const bytes = row[name] ?? null;
  if (!(bytes instanceof Uint8Array)) return null;
  const size_bytes = maybeNumber(row, `${name}_octets`) ?? bytes.length;
  // Of a cut text the last character may be there in part: as a stream, the decoder keeps it back.
  return { text: new TextDecoder().decode(bytes, { stream: bytes.length < size_bytes }), size_bytes };
}
