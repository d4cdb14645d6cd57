/**
 * Saved answers: a result document, one element of its results, a job's result as its node handed it out, or a bare object
 * with an output. `structured` is kept as the very text that stands in the file; a node's stands there in a string.
 */
import { kindOf } from "../acceptance/evidence.ts";
import { parseJson } from "../json/parse.ts";
import { memberOf, readSource, type SourceNode, type SourceObject } from "../json/source.ts";
import { pathsOfDiff } from "./diff-files.ts";
import { faultText } from "./manifest.ts";
import { pointerTo } from "./pointer.ts";
import { readWireResult } from "./read-wire-result.ts";
import type { WireResult } from "./wire-result.ts";

export type SavedAnswer = {
  /** Which subtask it answers; null for a bare object. */
  readonly index: number | null;
  /** "" where there is none. */
  readonly output: string;
  readonly structured: string | null;
  /** "" where there is none. */
  readonly diff: string;
  /** Read from `diff` where there is one. */
  readonly diff_files: readonly string[];
  /** As a result document says it; null for a bare object. A job's result knows "deferred" alone: nobody has graded it. */
  readonly status: string | null;
  readonly reason: string | null;
  /** What an element says against its own `"status":"succeeded"`, such as `"deferred" is true`; null where nothing does. */
  readonly contradiction: string | null;
  /** A job's result as its node handed it out, as `writ runs recover` keeps it; null for the other forms. */
  readonly wire: WireResult | null;
};

export type SavedAnswers =
  | { readonly ok: true; readonly answers: readonly SavedAnswer[] }
  | { readonly ok: false; readonly path: string; readonly message: string };

/** The largest file of answers, in bytes. */
export const MAX_RESULT_BYTES = 4 * 1024 * 1024;

/**
 * Reads a saved answer. Unknown members are ignored.
 *
 * @returns the answers of a result document in its order, or a single one
 * Errors: none; what is none of the four forms is told with its place
 */
export function readSavedAnswers(text: string): SavedAnswers {
  // Half a surrogate pair is a model's and stays in its text.
  const read = readSource(text, { surrogates: "keep" });
  if (!read.ok) return { ok: false, path: "", message: faultText(read.fault) };
  const { node } = read;
  try {
    if (node.kind !== "object") throw new Wrong("", "a result is a JSON object");
    // First: a node may put the members of the other forms, and with them a verdict, beside its own.
    if (isWireForm(node)) return { ok: true, answers: [wireAnswerOf(text)] };
    const results = memberOf(node, "results");
    if (results === null) return { ok: true, answers: [answerOf(text, node, "")] };
    if (results.kind !== "array") throw new Wrong("/results", "results is a list");
    const answers = results.items.map((item, at) => {
      const path = pointerTo("/results", at);
      if (item.kind !== "object") throw new Wrong(path, "an element of results is an object");
      const answer = answerOf(text, item, path);
      if (answer.index === null) throw new Wrong(path, "an element of results has an index");
      return answer;
    });
    const seen = new Set<number | null>();
    for (const { index } of answers) {
      if (seen.has(index)) throw new Wrong("/results", `index ${index} is given twice`);
      seen.add(index);
    }
    return { ok: true, answers };
  } catch (error) {
    if (error instanceof Wrong) return { ok: false, path: error.path, message: error.message };
    throw error;
  }
}

/** Leaves the reading; never seen outside of this file. */
class Wrong extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

/** What every wire result names, and no other form has all of. */
const WIRE_KEYS = ["schema_version", "job_id", "contract_sha256"];

function isWireForm(object: SourceObject): boolean {
  return WIRE_KEYS.every((key) => memberOf(object, key) !== null);
}

function wireAnswerOf(text: string): SavedAnswer {
  const read = readWireResult(text);
  if (!read.ok) throw new Wrong("", `it is the result of a job, and cannot be used: ${read.why}`);
  const { output, structured, diff, diff_files, deferred, reason } = read.result;
  return {
    index: null,
    output,
    structured,
    diff,
    diff_files: diff === "" ? diff_files : pathsOfDiff(diff),
    status: deferred ? "deferred" : null,
    reason: deferred && reason !== "" ? reason : null,
    contradiction: null,
    wire: read.result,
  };
}

const PARTS = ["output", "structured", "diff", "diff_files"];

function answerOf(text: string, object: SourceObject, path: string): SavedAnswer {
  const index = indexOf(object, path);
  if (index === null && !PARTS.some((key) => memberOf(object, key) !== null)) {
    throw new Wrong(path, `a saved answer has at least one of ${PARTS.join(", ")}`);
  }
  const diff = stringOf(object, "diff", path);
  const listed = filesOf(object, path);
  const structured = present(object, "structured");
  const status = stringOf(object, "status", path);
  return {
    index,
    output: stringOf(object, "output", path) ?? "",
    structured: structured === null ? null : text.slice(structured.start, structured.end),
    diff: diff ?? "",
    diff_files: diff === null ? listed : pathsOfDiff(diff),
    status,
    reason: stringOf(object, "reason", path),
    contradiction: status === "succeeded" ? contradictionOf(object) : null,
    wire: null,
  };
}

/** Of what writ prints of a leg that succeeded: these are false, empty or left out. */
function contradictionOf(object: SourceObject): string | null {
  for (const key of ["deferred", "failed"]) {
    const node = present(object, key);
    if (node !== null && !(node.kind === "boolean" && !node.value)) {
      return `"${key}" is ${node.kind === "boolean" ? "true" : kindOf(node)}`;
    }
  }
  const failures = present(object, "acceptance_failures");
  if (failures !== null && !(failures.kind === "array" && failures.items.length === 0)) {
    return '"acceptance_failures" is not empty';
  }
  const reason = present(object, "defer_class");
  return reason === null || (reason.kind === "string" && reason.value === "") ? null : 'it has a "defer_class"';
}

/** A member that is there; `null` counts as absent. */
function present(object: SourceObject, key: string): SourceNode | null {
  const node = memberOf(object, key);
  return node?.kind === "null" ? null : node;
}

function stringOf(object: SourceObject, key: string, path: string): string | null {
  const node = present(object, key);
  if (node === null) return null;
  if (node.kind !== "string") throw new Wrong(pointerTo(path, key), `${key} is a string, not ${kindOf(node)}`);
  return node.value;
}

function filesOf(object: SourceObject, path: string): readonly string[] {
  const node = present(object, "diff_files");
  if (node === null) return [];
  const place = pointerTo(path, "diff_files");
  if (node.kind !== "array") throw new Wrong(place, `diff_files is a list, not ${kindOf(node)}`);
  return node.items.map((item, at) => {
    if (item.kind === "string") return item.value;
    throw new Wrong(pointerTo(place, at), `a changed path is a string, not ${kindOf(item)}`);
  });
}

function indexOf(object: SourceObject, path: string): number | null {
  const node = present(object, "index");
  if (node === null) return null;
  const parsed = node.kind === "number" ? parseJson(node.text) : null;
  const value = parsed?.ok === true ? parsed.value : null;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new Wrong(pointerTo(path, "index"), "index is a whole number from 0");
}
