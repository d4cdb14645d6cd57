/**
 * One tool record: a command, a read or an edit as it happened, one row of `tool_records`.
 *
 * Keys are the columns'. Null means "not known"; it never stands for 0, false or "".
 */

/** What was seen, before it has a place in a contract's chain. */
export type Capture = {
  readonly source: "run" | "hook";
  readonly harness: string | null;
  readonly tool: "bash" | "read" | "edit";
  readonly tool_use_id: string | null;
  readonly command: string | null;
  /** The words of the command where they are known; only `writ run -- CMD` knows them. */
  readonly argv: readonly string[] | null;
  /** The file of a read or an edit. */
  readonly path: string | null;
  readonly cwd: string | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** The harness reported a failure without a number. */
  readonly failed: boolean;
  /** What the harness said of a status that is not 0, for example "no matches found". */
  readonly exit_note: string | null;
  /** RFC 3339, UTC, whole seconds. */
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** The first 500 code points of the redacted output; null when no output was kept. */
  readonly output: string | null;
  /** The last 500 code points behind `output`; null when there are none. */
  readonly tail: string | null;
  /** Size in UTF-8 bytes and SHA-256 (lower-case hex) of the whole redacted output; null when the whole was not seen. */
  readonly output_bytes: number | null;
  readonly output_sha256: string | null;
  /** Something between `output` and `tail`, or behind them, was not kept. */
  readonly truncated: boolean;
  /** False when the two streams were recorded apart and both held text. */
  readonly ordered: boolean;
};

/** A capture in its place: `seq` counts from 1 in a contract, the digests chain each record to the one before. */
export type ToolRecord = Capture & {
  readonly contract_id: string;
  readonly seq: number;
  readonly prev_digest: string;
  readonly digest: string;
};

/** What the content checks read of a run. */
export type RecordedRun = {
  readonly command: string;
  readonly argv?: readonly string[] | null;
  readonly exit_code: number | null;
  /** The name of the signal that ended it. */
  readonly signal?: string | null;
  readonly failed?: boolean;
  readonly output: string | null;
  readonly tail?: string | null;
  readonly truncated: boolean;
  readonly ordered?: boolean;
};
