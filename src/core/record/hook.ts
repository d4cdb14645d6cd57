/**
 * What a harness's hook payload says happened. The payload is the harness's, not a document of the user: it is
 * read leniently, and a value of the wrong type counts as missing.
 *
 * Nothing is redacted or cut here: `readHook` gives raw captures, and `toCapture` completes one when its
 * output was redacted, cut and hashed.
 *
 * Source: the contract editor's specification, section 16.5
 */
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import type { StreamedOutput } from "./capture.ts";
import type { Capture } from "./tool-record.ts";

export const HARNESSES = ["claude-code", "codex", "generic"] as const;
export type Harness = (typeof HARNESSES)[number];

/** Whose event it was, as the payload gave it; null where it did not. */
export type HookOrigin = {
  readonly session_id: string | null;
  /** Of a subagent; null in the main conversation. */
  readonly agent_id: string | null;
  readonly cwd: string | null;
};

export type HookEvent =
  | (HookOrigin & { readonly kind: "captures"; readonly captures: readonly [HookCapture, ...HookCapture[]] })
  | (HookOrigin & { readonly kind: "start" })
  | (HookOrigin & {
      readonly kind: "stop";
      readonly agent_transcript_path: string | null;
      readonly stop_reason: string | null;
      /** The agent goes on already because a stop hook asked it to; false where the payload does not say. */
      readonly stop_hook_active: boolean;
    })
  | (HookOrigin & { readonly kind: "ignored"; readonly reason: string });

/** A capture whose command and output are still raw. Its `truncated` says that the text itself is not whole. */
export type HookCapture = Omit<Capture, "output" | "tail" | "output_bytes" | "output_sha256"> & {
  /** The whole text that the payload holds, raw; null when it holds none. */
  readonly outputText: string | null;
  /** Where the harness put an output that was too large for the payload. */
  readonly persisted: string | null;
  /** How long it ran, in milliseconds. */
  readonly durationMs: number | null;
};

/**
 * Reads one payload.
 *
 * @param harness where the hook is installed; in `claude-code` alone does the arrival of `PostToolUse` mean success
 * @param stop    `--stop`: a stop event, whatever the payload calls itself
 * Errors: none, whatever the payload
 */
export function readHook(payload: JsonValue, harness: Harness, stop = false): HookEvent {
  if (isArray(payload) && !stop) return readBareRecords(payload.filter(isObject), harness);
  const event = isObject(payload) ? payload : {};
  const origin = originOf(event);
  const name = textAt(event, "hook_event_name");
  if (stop || name === "SubagentStop") {
    const agent_transcript_path = nameAt(event, "agent_transcript_path");
    const stop_hook_active = valueAt(event, "stop_hook_active") === true;
    const stop_reason = nameAt(event, "stop_reason");
    return { kind: "stop", ...origin, agent_transcript_path, stop_reason, stop_hook_active };
  }
  if (name === "SubagentStart") return { kind: "start", ...origin };
  if (name === "PostToolUse" || name === "PostToolUseFailure") {
    const capture = readToolEvent(event, name, harness);
    if (typeof capture !== "string") return { kind: "captures", ...origin, captures: [capture] };
    return { kind: "ignored", ...origin, reason: capture };
  }
  if (name !== null) return { kind: "ignored", ...origin, reason: `Event "${name}" is not recorded` };
  return readBareRecords(isObject(payload) ? [payload] : [], harness);
}

/** What completes a hook's capture. */
export type Completion = {
  /** Redacts the command and its words, as `redact(text, "command", …)` does. */
  readonly redactCommand: (text: string) => string;
  /** The redacted output with its digest; null when none was there. */
  readonly output: (StreamedOutput & { readonly output_sha256: string }) | null;
  /** Where that output was read: in the payload, or in the file that `persisted` names. */
  readonly readFrom: "payload" | "file";
  /** RFC 3339, UTC, whole seconds; the payload's own win. */
  readonly started_at: string | null;
  readonly ended_at: string | null;
};

/**
 * Completes a capture. Where the payload's text has to stand for a file that could not be read, the output
 * is truncated and its size and digest are unknown.
 *
 * Errors: none
 */
export function toCapture(hook: HookCapture, completion: Completion): Capture {
  const { outputText: _, persisted, durationMs: __, ...raw } = hook;
  const { output, readFrom, redactCommand } = completion;
  const partial = readFrom === "payload" && (hook.truncated || persisted !== null);
  return {
    ...raw,
    command: hook.command === null ? null : redactCommand(hook.command),
    argv: hook.argv === null ? null : hook.argv.map(redactCommand),
    started_at: hook.started_at ?? completion.started_at,
    ended_at: hook.ended_at ?? completion.ended_at,
    output: output?.output ?? null,
    tail: output?.tail ?? null,
    output_bytes: partial ? null : (output?.output_bytes ?? null),
    output_sha256: partial ? null : (output?.output_sha256 ?? null),
    truncated: partial || (output?.truncated ?? false),
    // The file has both streams as they came.
    ordered: readFrom === "file" || hook.ordered,
  };
}

const EDIT_TOOLS: readonly (string | null)[] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];

/** The capture, or why there is none. */
function readToolEvent(
  event: JsonObject,
  name: "PostToolUse" | "PostToolUseFailure",
  harness: Harness,
): HookCapture | string {
  const tool = textAt(event, "tool_name");
  const input = objectAt(event, "tool_input");
  const empty: HookCapture = {
    ...emptyCapture(harness),
    tool_use_id: nameAt(event, "tool_use_id"),
    cwd: nameAt(event, "cwd"),
    durationMs: durationAt(event, "duration_ms"),
  };
  if (tool === "Bash") {
    const command = nameAt(input, "command");
    if (command === null) return "There is no command";
    if (isBookkeeping(command)) return "A writ command records for itself";
    const run = name === "PostToolUse" ? readSuccess(event, input, harness) : readFailure(event);
    return { ...empty, tool: "bash", command, ...run };
  }
  if (name === "PostToolUse" && tool === "Read") {
    const path = nameAt(input, "file_path");
    return path === null ? "The read names no file" : { ...empty, tool: "read", path };
  }
  if (name === "PostToolUse" && EDIT_TOOLS.includes(tool)) {
    const path = nameAt(input, "file_path") ?? nameAt(input, "notebook_path");
    return path === null ? "The edit names no file" : { ...empty, tool: "edit", path };
  }
  return `${name} of tool "${tool ?? ""}" is not recorded`;
}

type Outcome = Partial<HookCapture>;

function readSuccess(event: JsonObject, input: JsonObject, harness: Harness): Outcome {
  const response = valueAt(event, "tool_response");
  const known = isObject(response) ? response : {};
  const untold =
    valueAt(known, "interrupted") === true ||
    valueAt(input, "run_in_background") === true ||
    isThere(known, "backgroundTaskId") ||
    isThere(known, "timedOutAfterMs") ||
    isThere(known, "returnCodeInterpretation") ||
    harness !== "claude-code";
  return {
    ...readResponse(response),
    exit_code: givenExit(known) ?? (untold ? null : 0),
    exit_note: nameAt(known, "returnCodeInterpretation"),
  };
}

/** Only the first line tells a status: "Exit code 0" further down is what the command printed. */
const EXIT_LINE = /^(?:Error: )?Exit code (\d+)[^\n]*(?:\n|$)/;

function readFailure(event: JsonObject): Outcome {
  const response = valueAt(event, "tool_response");
  const known = isObject(response) ? response : {};
  const told = readResponse(response);
  const error = textAt(event, "error");
  const outcome = { ...told, exit_note: nameAt(known, "returnCodeInterpretation") };
  const text = error ?? told.outputText ?? null;
  const line = text === null ? null : EXIT_LINE.exec(text);
  const exit = line === null ? null : safeInteger(Number(line[1]));
  // The error text is one text, whatever the response beside it was joined from.
  const ordered = error !== null || told.ordered !== false;
  if (text !== null && line !== null && exit !== null) {
    return { ...outcome, ordered, exit_code: exit, outputText: text.slice(line[0].length) };
  }
  const given = givenExit(known);
  return { ...outcome, ordered, exit_code: given, failed: given === null, outputText: text };
}

function readResponse(response: JsonValue | undefined): Outcome {
  if (typeof response === "string") return { outputText: response.toWellFormed() };
  if (!isObject(response)) return {};
  const stdout = textAt(response, "stdout");
  const stderr = textAt(response, "stderr");
  const parts = [stdout, stderr].filter((text) => text !== null && text.trim() !== "");
  return {
    outputText: parts.length > 0 ? parts.join("\n") : (stdout ?? stderr),
    ordered: parts.length < 2,
    persisted: nameAt(response, "persistedOutputPath"),
  };
}

function givenExit(response: JsonObject): number | null {
  for (const key of ["exit_code", "exitCode", "code"]) {
    const exit = safeInteger(valueAt(response, key));
    if (exit !== null) return exit;
  }
  return null;
}

/** For harnesses without a dialect of their own: records under the names of the columns. */
function readBareRecords(records: readonly JsonObject[], harness: Harness): HookEvent {
  const origins = records.map(originOf);
  const origin: HookOrigin = {
    session_id: shared(origins.map((each) => each.session_id)),
    agent_id: shared(origins.map((each) => each.agent_id)),
    cwd: shared(origins.map((each) => each.cwd)),
  };
  const [first, ...more] = records.flatMap((record) => readBareRecord(record, harness) ?? []);
  if (first !== undefined) return { kind: "captures", ...origin, captures: [first, ...more] };
  return { kind: "ignored", ...origin, reason: "It is neither an event nor a tool record" };
}

function readBareRecord(record: JsonObject, harness: Harness): HookCapture | null {
  const tool = textAt(record, "tool");
  const empty: HookCapture = {
    ...emptyCapture(harness),
    tool_use_id: nameAt(record, "tool_use_id"),
    cwd: nameAt(record, "cwd"),
    started_at: instantAt(record, "started_at"),
    ended_at: instantAt(record, "ended_at"),
  };
  if (tool === "read" || tool === "edit") {
    const path = nameAt(record, "path");
    return path === null ? null : { ...empty, tool, path };
  }
  const command = nameAt(record, "command");
  if (tool !== "bash" || command === null || isBookkeeping(command)) return null;
  const output = textAt(record, "output");
  return {
    ...empty,
    tool,
    command,
    argv: wordsAt(record, "argv"),
    exit_code: safeInteger(valueAt(record, "exit_code")),
    signal: nameAt(record, "signal"),
    failed: valueAt(record, "failed") === true,
    exit_note: nameAt(record, "exit_note"),
    outputText: output === null ? null : output + (textAt(record, "tail") ?? ""),
    truncated: valueAt(record, "truncated") === true,
    ordered: valueAt(record, "ordered") !== false,
  };
}

function emptyCapture(harness: Harness): HookCapture {
  return {
    source: "hook",
    harness,
    tool: "bash",
    tool_use_id: null,
    command: null,
    argv: null,
    path: null,
    cwd: null,
    exit_code: null,
    signal: null,
    failed: false,
    exit_note: null,
    started_at: null,
    ended_at: null,
    truncated: false,
    ordered: true,
    outputText: null,
    persisted: null,
    durationMs: null,
  };
}

const FIRST_WORD = /^\s*(?:"([^"]*)"|'([^']*)'|([^\s"';&|<>()]+))/;

/** A command of writ itself, called by whatever path. */
function isBookkeeping(command: string): boolean {
  const word = FIRST_WORD.exec(command);
  const path = word?.[1] ?? word?.[2] ?? word?.[3] ?? "";
  // An assignment before a command is a word, but no program.
  if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(path)) return false;
  return path.slice(path.lastIndexOf("/") + 1) === "writ";
}

function originOf(event: JsonObject): HookOrigin {
  return {
    session_id: nameAt(event, "session_id"),
    agent_id: nameAt(event, "agent_id"),
    cwd: nameAt(event, "cwd"),
  };
}

/** The one value that all who name one agree on. */
function shared(values: readonly (string | null)[]): string | null {
  const named = new Set(values.filter((value) => value !== null));
  const [only] = named;
  return named.size === 1 ? (only ?? null) : null;
}

// Half of a surrogate pair cannot be stored as UTF-8, and a digest of it would not fit the stored text.
function textAt(object: JsonObject, key: string): string | null {
  const value = valueAt(object, key);
  return typeof value === "string" ? value.toWellFormed() : null;
}

function nameAt(object: JsonObject, key: string): string | null {
  const text = textAt(object, key);
  return text === null || text.trim() === "" ? null : text;
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = valueAt(object, key);
  return isObject(value) ? value : {};
}

function isThere(object: JsonObject, key: string): boolean {
  return (valueAt(object, key) ?? null) !== null;
}

function safeInteger(value: JsonValue | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}

function durationAt(object: JsonObject, key: string): number | null {
  const value = valueAt(object, key);
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

function wordsAt(object: JsonObject, key: string): readonly string[] | null {
  const value = valueAt(object, key);
  if (!isArray(value) || value.length === 0) return null;
  const words = value.filter((word) => typeof word === "string");
  return words.length === value.length ? words.map((word) => word.toWellFormed()) : null;
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

function instantAt(object: JsonObject, key: string): string | null {
  const text = textAt(object, key);
  if (text === null || !RFC_3339.test(text)) return null;
  const instant = new Date(text.toUpperCase());
  return Number.isNaN(instant.getTime()) ? null : `${instant.toISOString().slice(0, 19)}Z`;
}
