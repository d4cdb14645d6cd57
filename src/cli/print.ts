/**
 * What a command prints: data on standard output, talk on standard error, and the two forms of an error.
 *
 * Text for a person is stripped of control sequences. JSON is never stripped; on a terminal it is escaped.
 */
import { type ErrorStatus, exitOf, WritError } from "../core/error.ts";
import { issueLines } from "../core/issue-text.ts";
import { assignKey, type JsonObject, type JsonValue } from "../core/json/value.ts";
import type { Issue } from "../core/result.ts";
import { escapeControls, stripControls } from "../core/terminal.ts";
import { isTerminal, writeAll, writePieces } from "../host/stream.ts";
import type { Output } from "./command.ts";
import { terminalWidth } from "./width.ts";

/** How an error is to be shown. */
export type Manner = {
  /** Standard output is owed one JSON document. */
  readonly json: boolean;
  /** Show the stack of a defect. */
  readonly debug: boolean;
  /** The usage lines of the command, printed under a usage error; empty where none is known. */
  readonly usage: readonly string[];
  /** A harness reads standard error: all of it in one line. */
  readonly oneLine: boolean;
};

const STATUS_WORDS: Readonly<Record<ErrorStatus, string>> = {
  error: "Error",
  rejected: "Rejected",
  refused: "Refused",
  broken: "Broken",
};

/** The output of a real process. */
export function openOutput(): Output {
  return {
    document: ({ ok, ...value }) => printJson(JSON.stringify({ ok, ...value })),
    exact: printJson,
    exactPieces: printPieces,
    product: (value) => printJson(JSON.stringify(value ?? null, null, 2)),
    raw: (text) => writeAll(1, isTerminal(1) ? `${stripControls(text).replace(/\n$/, "")}\n` : text),
    line: (text) => writeAll(1, `${stripControls(text)}\n`),
    talk: (text) => writeAll(2, `${stripControls(text)}\n`),
    columns: () => terminalWidth(1, process.env.COLUMNS),
  };
}

/**
 * Prints an error in the form of the call: one JSON document on standard output, or text on standard error.
 *
 * @param thrown anything; what is no `WritError` is a defect and gets the code `internal`
 * @returns      the exit status that the error ends in
 * Errors: none; where standard output cannot be written, the text goes to standard error
 */
export function printError(thrown: unknown, manner: Manner): number {
  const error = errorOf(thrown);
  const stack = manner.debug && error.code === "internal" ? stackOf(error) : "";
  if (!manner.json || error.code === "output_failed") {
    const usage = error.code === "usage" ? usageText(manner.usage) : [];
    const text = [errorText(error), ...usage, stack].filter((part) => part !== "").join("\n");
    writeAll(2, `${stripControls(manner.oneLine ? text.replace(/\s*\n\s*/g, "; ") : text)}\n`);
    return exitOf(error.code);
  }
  // The overwrite screen talks in both modes: a caller that reads only one of the streams must see it.
  if (error.code === "list_overwrite") writeAll(2, `${stripControls(errorText(error))}\n`);
  if (error.code === "internal") writeAll(2, `${stripControls(stack === "" ? errorText(error) : stack)}\n`);
  try {
    printJson(JSON.stringify(errorDocument(error)));
    return exitOf(error.code);
  } catch (failure) {
    if (failure instanceof WritError) return printError(failure, { ...manner, json: false });
    throw failure;
  }
}

/** The JSON form. A detail of the same name replaces one of the first keys and keeps its place. */
export function errorDocument(error: WritError): JsonObject & { readonly ok: false } {
  const document: Record<string, JsonValue> & { ok: false } = {
    ok: false,
    status: error.status,
    code: error.code,
    path: error.path,
    message: error.message,
    hint: error.hint,
  };
  if (error.issues.length > 0) {
    if (error.code === "validation") document.codes = [...new Set(error.issues.map((issue) => issue.code))];
    document.errors = error.issues.map(issueDocument);
  }
  for (const [key, value] of Object.entries(error.details)) assignKey(document, key, value);
  return document;
}

/** The JSON form of a call that a signal stopped before there was anything to tell; its status is that of the signal. */
export function stoppedDocument(message: string): JsonObject & { readonly ok: false } {
  return { ok: false, status: "stopped", code: "stopped", path: null, message, hint: null };
}

/** The plain form, without a final newline: the message, its issues with their hints, further lines, the hint. */
export function errorText(error: WritError): string {
  if (error.layout !== "word") return laidOut(error);
  const lines = [`${STATUS_WORDS[error.status]}: ${error.message}`];
  for (const issue of error.issues) lines.push(...issueLines(issue));
  lines.push(...error.lines);
  if (error.hint !== null) lines.push(error.hint);
  return lines.join("\n");
}

/** A stop, or a text that is fixed to the letter. */
function laidOut({ layout, message, lines, hint }: WritError): string {
  const further = [...lines, ...(hint === null ? [] : [`hint: ${hint}`])];
  if (layout === "plain") return [message, ...further].join("\n");
  return [`Stop: ${message}`, ...further.map((line) => `  ${line}`)].join("\n");
}

function issueDocument(issue: Issue): JsonObject {
  return { code: issue.code, path: issue.path, message: issue.message, hint: issue.hint };
}

function usageText(usage: readonly string[]): readonly string[] {
  return usage.map((line, index) => `${index === 0 ? "Usage:" : "      "} ${line}`);
}

/** What was thrown, as an error of ours: what is none is a defect. */
export function errorOf(thrown: unknown): WritError {
  if (thrown instanceof WritError) return thrown;
  if (isFolderGone(thrown)) {
    return new WritError("folder_gone", "The folder that writ was started in is no longer there", {
      hint: "Go to a folder that is there and call again: cd /",
      cause: thrown,
    });
  }
  const first = (thrown instanceof Error ? thrown.message : String(thrown)).split("\n", 1)[0];
  return new WritError("internal", `This is a defect in writ: ${first}`, { cause: thrown });
}

/** What `process.cwd` throws in a folder that was deleted, wherever it was asked. */
function isFolderGone(thrown: unknown): boolean {
  return thrown instanceof Error && "syscall" in thrown && thrown.syscall === "uv_cwd";
}

/** Where a defect came from. */
export function stackOf(error: WritError): string {
  const cause = error.cause ?? error;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

function printJson(json: string): void {
  printPieces([json]);
}

function printPieces(pieces: Iterable<string>): void {
  writePieces(1, linePieces(pieces));
}

function* linePieces(pieces: Iterable<string>): Generator<string> {
  for (const json of pieces) {
    // Asking what standard output is costs time, and only matters where there is something to escape.
    const escaped = escapeControls(json);
    yield escaped !== json && isTerminal(1) ? escaped : json;
  }
  yield "\n";
}
