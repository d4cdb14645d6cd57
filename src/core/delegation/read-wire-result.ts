/**
 * What came back of a job, from its text: read as a stranger's words. Every type is checked; numbers are made finite and
 * not negative; what a later release may add is ignored. Whether it is the result of the job that was asked for, and what
 * it is worth, is judged in `verify-result.ts`.
 *
 * Source: delegation run, section 7.7
 */
import { kindOf } from "../acceptance/evidence.ts";
import { memberOf, readSource, type SourceNode, type SourceObject } from "../json/source.ts";
import type { SeatPin } from "../seat/endpoint.ts";
import { utf8Length } from "../utf8.ts";
import {
  type DeferClass,
  type Repack,
  STOP_REASONS,
  type Timings,
  type Tokens,
  type TraceEntry,
  type Waits,
  type WireResult,
} from "./wire-result.ts";

export type ReadWireResult =
  | { readonly ok: true; readonly result: WireResult }
  /** One line. */
  | { readonly ok: false; readonly why: string };

/** The largest answer of a node that is read, in bytes. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const DEPTH = 64;
const MOST_FILES = 64;
const MOST_STEPS = 1000;
const NOTE_BYTES = 160;
/** Names, classes and notes, in UTF-16 code units; longer ones are cut, notes with a mark. */
const LONGEST_NAME = 512;
const LONGEST_CLASS = 64;
const LONGEST_NOTE = 2000;
const REPACK_MODES = [
  "none",
  "lossless",
  "grammar",
  "json_schema",
  "structured_outputs",
  "json_object",
  "prompt",
] as const satisfies readonly Repack["mode"][];

/** Leaves the reading; never seen outside of this file. */
class Wrong extends Error {}

/** Errors: none, whatever the text */
export function readWireResult(text: string): ReadWireResult {
  if (utf8Length(text) > MAX_ANSWER_BYTES) return { ok: false, why: `more than ${MAX_ANSWER_BYTES} bytes` };
  const read = readSource(text, { maxDepth: DEPTH, surrogates: "keep" });
  if (!read.ok) return { ok: false, why: `no JSON: ${read.fault.message}` };
  if (read.node.kind !== "object") return { ok: false, why: "no object" };
  try {
    return { ok: true, result: resultOf(read.node) };
  } catch (error) {
    if (error instanceof Wrong) return { ok: false, why: error.message };
    throw error;
  }
}

function resultOf(object: SourceObject): WireResult {
  const version = numberOf(object, "schema_version");
  if (version !== 1) throw new Wrong(`schema_version is ${version}, ours is 1`);
  const stop = textOf(object, "stop_reason", LONGEST_NAME);
  const stop_reason = STOP_REASONS.find((word) => word === stop);
  const note = noteOf(object, "stop_note");
  return {
    schema_version: 1,
    job_id: needed(object, "job_id"),
    contract_sha256: needed(object, "contract_sha256"),
    node_id: textOf(object, "node_id", LONGEST_NAME),
    seat: textOf(object, "seat", LONGEST_NAME),
    output: textOf(object, "output"),
    structured: structuredOf(object),
    schema_miss: flagOf(object, "schema_miss"),
    steps: numberOf(object, "steps"),
    max_steps: numberOf(object, "max_steps"),
    stop_reason: stop_reason ?? "error",
    stop_note: stop_reason === undefined && stop !== "" ? `stop reason "${stop}"; ${note}` : note,
    forced_final: flagOf(object, "forced_final"),
    output_truncated: flagOf(object, "output_truncated"),
    deferred: flagOf(object, "deferred"),
    reason: noteOf(object, "reason"),
    // A word that is not known stays what it is, and counts as none of ours: a later release may have more.
    defer_class: textOf(object, "defer_class", LONGEST_CLASS) as DeferClass | "",
    diff: textOf(object, "diff"),
    diff_files: listOf(object, "diff_files").slice(0, MOST_FILES).map(textItem),
    write_note: noteOf(object, "write_note"),
    repack: repackOf(objectOf(object, "repack")),
    tokens: tokensOf(objectOf(object, "tokens")),
    timings: timingsOf(objectOf(object, "timings")),
    trace: listOf(object, "trace").slice(0, MOST_STEPS).map(traceOf),
    waits: waitsOf(objectOf(object, "waits")),
    wall_ms: numberOf(object, "wall_ms"),
    seat_pin: pinOf(objectOf(object, "seat_pin")),
    scripted: flagOf(object, "scripted"),
    writ_version: textOf(object, "writ_version", LONGEST_NAME),
  };
}

/** A text that has to be there. */
function needed(object: SourceObject, key: string): string {
  const text = textOf(object, key, LONGEST_NAME);
  if (text === "") throw new Wrong(`there is no ${key}`);
  return text;
}

function structuredOf(object: SourceObject): string | null {
  const node = present(object, "structured");
  if (node === null) return null;
  if (node.kind !== "string") throw wrongType("structured", "a text or null", node);
  return node.value;
}

function repackOf(object: SourceObject | null): Repack {
  if (object === null) return { mode: "none", attempts: 0, ms: 0 };
  const mode = textOf(object, "mode", LONGEST_NAME);
  const note = noteOf(object, "note");
  const found = REPACK_MODES.find((word) => word === mode);
  if (found === undefined) throw new Wrong(`repack mode "${mode}" is none of ours`);
  const counts = { mode: found, attempts: numberOf(object, "attempts"), ms: numberOf(object, "ms") };
  return note === "" ? counts : { ...counts, note };
}

function tokensOf(object: SourceObject | null): Tokens {
  return {
    prompt: numberOf(object, "prompt"),
    completion: numberOf(object, "completion"),
    reasoning: numberOf(object, "reasoning"),
    cached: numberOf(object, "cached"),
    estimated: flagOf(object, "estimated"),
  };
}

function timingsOf(object: SourceObject | null): Timings {
  return {
    first_byte_ms: numberOf(object, "first_byte_ms"),
    prefill_ms: numberOf(object, "prefill_ms"),
    decode_ms: numberOf(object, "decode_ms"),
    tools_ms: numberOf(object, "tools_ms"),
    repack_ms: numberOf(object, "repack_ms"),
    tok_s: numberOf(object, "tok_s"),
  };
}

function waitsOf(object: SourceObject | null): Waits {
  const note = noteOf(object, "admission_note");
  return {
    admission_sec: numberOf(object, "admission_sec"),
    ...(note === "" ? {} : { admission_note: note }),
    contention_sec: numberOf(object, "contention_sec"),
    seat_down_sec: numberOf(object, "seat_down_sec"),
  };
}

function traceOf(node: SourceNode): TraceEntry {
  if (node.kind !== "object") throw wrongType("an entry of trace", "an object", node);
  const status = textOf(node, "status", LONGEST_NAME);
  const note = cutBytes(noteOf(node, "note"), NOTE_BYTES);
  return {
    step: numberOf(node, "step"),
    tool: textOf(node, "tool", LONGEST_NAME),
    status: (["ok", "error", "refused"] as const).find((word) => word === status) ?? "unknown",
    obs_chars: numberOf(node, "obs_chars"),
    ...(flagOf(node, "seeded") ? { seeded: true } : {}),
    ...(note === "" ? {} : { note }),
  };
}

function pinOf(object: SourceObject | null): SeatPin | null {
  if (object === null) return null;
  const build = textOf(object, "build", LONGEST_NAME);
  const template_sha256 = textOf(object, "template_sha256", LONGEST_NAME);
  return {
    engine: textOf(object, "engine", LONGEST_NAME),
    model: textOf(object, "model", LONGEST_NAME),
    ctx_tokens: numberOf(object, "ctx_tokens"),
    ...(build === "" ? {} : { build }),
    ...(template_sha256 === "" ? {} : { template_sha256 }),
  };
}

/** `null` counts as absent. */
function present(object: SourceObject | null, key: string): SourceNode | null {
  const node = object === null ? null : memberOf(object, key);
  return node?.kind === "null" ? null : node;
}

function textOf(object: SourceObject | null, key: string, longest = Number.POSITIVE_INFINITY): string {
  const node = present(object, key);
  if (node === null) return "";
  if (node.kind !== "string") throw wrongType(key, "a text", node);
  return node.value.length <= longest ? node.value : node.value.slice(0, longest).toWellFormed();
}

/** A text for a person. */
function noteOf(object: SourceObject | null, key: string): string {
  const text = textOf(object, key);
  return text.length <= LONGEST_NOTE ? text : `${text.slice(0, LONGEST_NOTE - 1).toWellFormed()}…`;
}

function flagOf(object: SourceObject | null, key: string): boolean {
  const node = present(object, key);
  if (node === null) return false;
  if (node.kind !== "boolean") throw wrongType(key, "true or false", node);
  return node.value;
}

/** Finite and not negative, whatever was written. */
function numberOf(object: SourceObject | null, key: string): number {
  const node = present(object, key);
  if (node === null) return 0;
  if (node.kind !== "number") throw wrongType(key, "a number", node);
  // Not -0 either.
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Number(node.text))) || 0;
}

function listOf(object: SourceObject, key: string): readonly SourceNode[] {
  const node = present(object, key);
  if (node === null) return [];
  if (node.kind !== "array") throw wrongType(key, "a list", node);
  return node.items;
}

function objectOf(object: SourceObject, key: string): SourceObject | null {
  const node = present(object, key);
  if (node !== null && node.kind !== "object") throw wrongType(key, "an object", node);
  return node;
}

function textItem(node: SourceNode): string {
  if (node.kind !== "string") throw wrongType("an entry of diff_files", "a text", node);
  return node.value;
}

function wrongType(key: string, wanted: string, node: SourceNode): Wrong {
  return new Wrong(`${key} is ${kindOf(node)}, not ${wanted}`);
}

/** The longest beginning of whole characters that fits. */
function cutBytes(text: string, bytes: number): string {
  if (utf8Length(text) <= bytes) return text;
  let cut = "";
  let size = 0;
  for (const character of text) {
    size += utf8Length(character);
    if (size > bytes) break;
    cut += character;
  }
  return cut;
}
