/**
 * The evidence clause of `update_contracts`: entries that deposit evidence for an acceptance criterion.
 *
 * All evidence entries of one list stand or fall together. Nothing is inserted here.
 */
import { EVIDENCE_TYPES, type EvidenceType, POLARITIES, type Polarity } from "../evidence/payload.ts";
import { isArray, isObject, type JsonObject, type JsonValue, jsonType, valueAt } from "../json/value.ts";
import { isMissing, isText } from "./fold.ts";
import { aType, shown } from "./hints.ts";
import { EVIDENCE_CONTRACT, type UpdateEntry, type UpdateRefusal } from "./updates.ts";

/** What the rules ask the store and the file system. None may throw. */
export type EvidenceLookups = {
  briefExists(briefId: number): boolean;
  /** Whether the task belongs to a plan of that brief. */
  taskBelongsTo(taskId: number, briefId: number): boolean;
  /**
   * The real path of an artifact, links followed, when it is below the evidence folder; else null.
   *
   * @param path as written: absolute, or beginning with `~/`
   */
  resolveArtifact(path: string): string | null;
};

/** One piece of evidence as it is inserted. Exactly one of `text` and `artifact_path` is not null. */
export type EvidenceDeposit = {
  readonly brief_id: number;
  readonly ac_id: string;
  readonly task_id: number | null;
  readonly type: EvidenceType;
  readonly polarity: Polarity;
  readonly text: string | null;
  /** As `resolveArtifact` gave it. */
  readonly artifact_path: string | null;
  readonly size_bytes: number | null;
  /** Null: the agent name of the row. */
  readonly created_by_agent: string | null;
};

export type EvidenceReading =
  | { readonly ok: true; readonly deposit: EvidenceDeposit }
  /** Every defect, one sentence each, in the order of the fields; at least one. */
  | { readonly ok: false; readonly defects: readonly string[] };

export type EvidenceBatch = {
  /** In the order of the entries; empty as soon as one entry has a defect. */
  readonly deposits: readonly { readonly entry: UpdateEntry; readonly deposit: EvidenceDeposit }[];
  /** One for each entry of a batch that failed, else empty. */
  readonly refused: readonly UpdateRefusal[];
  /** Places among the evidence entries, from 0, of those with a defect of their own. */
  readonly invalid: readonly number[];
  /** Every defect of the batch, as `evidence[<i>]: <text>`. */
  readonly reasons: readonly string[];
};

const LEGAL_SHAPE = `The legal shape: {"contract":"evidence","payload":{"brief_id":1,"ac_id":"AC-1","type":"${EVIDENCE_TYPES.join("|")}","text":"..."}}, or artifact_path, as writ evidence add made it, in place of text; optional: task_id, created_by_agent, size_bytes, polarity (positive|negative)`;

const DECIMAL_DIGITS = /^[0-9]+$/;

/**
 * Judges one evidence payload. Keys that the clause does not know are passed over.
 *
 * Errors: none, whatever the payload
 * Source: spec/contract.md 13.3
 */
export function readEvidence(payload: JsonObject, lookups: EvidenceLookups): EvidenceReading {
  const defects: string[] = [];
  /** The value, or a null that is not used, since the defect refuses the payload. */
  const keep = <T>(read: Read<T>): T | null => {
    if ("defect" in read) {
      defects.push(read.defect);
      return null;
    }
    return read.value;
  };
  const brief_id = keep(readBrief(valueAt(payload, "brief_id"), lookups));
  const ac_id = keep(readCriterion(valueAt(payload, "ac_id")));
  const type = keep(readWord("type", valueAt(payload, "type"), EVIDENCE_TYPES));
  const body = keep(readBody(payload, lookups));
  const task_id = keep(readTask(valueAt(payload, "task_id"), brief_id, lookups));
  const created_by_agent = keep(readAgent(valueAt(payload, "created_by_agent")));
  const size_bytes = keep(readSize(valueAt(payload, "size_bytes")));
  const polarity = keep(readWord("polarity", valueAt(payload, "polarity") ?? "positive", POLARITIES));
  if (defects.length > 0 || brief_id === null || ac_id === null || type === null || body === null || polarity === null)
    return { ok: false, defects };
  return { ok: true, deposit: { brief_id, ac_id, task_id, type, polarity, ...body, size_bytes, created_by_agent } };
}

/**
 * Judges the evidence entries of one `update_contracts`, which fail together.
 *
 * @param entries only those of contract "evidence", in their order; may be empty
 * Errors: none
 * Source: spec/contract.md 13.3
 */
export function readEvidenceBatch(entries: readonly UpdateEntry[], lookups: EvidenceLookups): EvidenceBatch {
  const deposits: { readonly entry: UpdateEntry; readonly deposit: EvidenceDeposit }[] = [];
  const ownReasons = new Map<number, string>();
  const reasons: string[] = [];
  for (const [place, entry] of entries.entries()) {
    const read = readEvidence(entry.payload, lookups);
    if (read.ok) {
      deposits.push({ entry, deposit: read.deposit });
      continue;
    }
    const listed = read.defects.map((defect) => `evidence[${place}]: ${defect}`);
    ownReasons.set(place, listed.join("; "));
    reasons.push(...listed);
  }
  const [first] = ownReasons.values();
  if (first === undefined) return { deposits, refused: [], invalid: [], reasons: [] };
  const others = ownReasons.size === 1 ? "" : `; and ${ownReasons.size - 1} more`;
  const refused = entries.map(({ index }, place): UpdateRefusal => {
    const reason = ownReasons.get(place) ?? `The batch fails together: ${first}${others}`;
    return { index, contract: EVIDENCE_CONTRACT, key: null, code: "evidence_rejected", reason, hint: LEGAL_SHAPE };
  });
  return { deposits: [], refused, invalid: [...ownReasons.keys()], reasons };
}

type Read<T> = { readonly value: T } | { readonly defect: string };

function readBrief(given: JsonValue | undefined, lookups: EvidenceLookups): Read<number> {
  if (isMissing(given)) return { defect: "brief_id is missing" };
  const id = typeof given === "string" && DECIMAL_DIGITS.test(given) ? Number(given) : given;
  if (typeof id !== "number" || !Number.isSafeInteger(id)) {
    return { defect: `brief_id is an integer that can be held exactly, not ${described(given)}` };
  }
  return lookups.briefExists(id) ? { value: id } : { defect: `brief_id ${id} names no brief` };
}

function readCriterion(given: JsonValue | undefined): Read<string> {
  if (isMissing(given)) return { defect: "ac_id is missing" };
  return isText(given) ? { value: given } : { defect: `ac_id is a text, not ${described(given)}` };
}

function readWord<Word extends string>(
  field: string,
  given: JsonValue | undefined,
  words: readonly Word[],
): Read<Word> {
  if (isMissing(given)) return { defect: `${field} is missing; it is one of ${words.join(", ")}` };
  const word = words.find((one) => one === given);
  return word === undefined
    ? { defect: `${field} is one of ${words.join(", ")}, not ${described(given)}` }
    : { value: word };
}

function readBody(
  payload: JsonObject,
  lookups: EvidenceLookups,
): Read<{ readonly text: string | null; readonly artifact_path: string | null }> {
  const text = valueAt(payload, "text") ?? null;
  const path = valueAt(payload, "artifact_path") ?? null;
  if (text === null && path === null) return { defect: "one of text and artifact_path is given; both are missing" };
  if (text !== null && path !== null) return { defect: "one of text and artifact_path is given, not both" };
  if (path === null) {
    return typeof text === "string"
      ? { value: { text, artifact_path: null } }
      : { defect: `text is a text, not ${described(text)}` };
  }
  if (typeof path !== "string") return { defect: `artifact_path is a text, not ${described(path)}` };
  if (!(path.startsWith("/") || path.startsWith("~/")) || path.includes("\0")) {
    return { defect: `artifact_path ${shown(path)} is not an absolute path` };
  }
  const artifact_path = lookups.resolveArtifact(path);
  return artifact_path === null
    ? { defect: `artifact_path ${shown(path)} is not a file below the evidence folder` }
    : { value: { text: null, artifact_path } };
}

function readTask(given: JsonValue | undefined, briefId: number | null, lookups: EvidenceLookups): Read<number | null> {
  if (given === undefined || given === null) return { value: null };
  if (typeof given !== "number" || !Number.isSafeInteger(given)) {
    return { defect: `task_id is an integer, not ${described(given)}` };
  }
  // Without a brief there is nothing that the task could belong to, and the brief's own defect says so.
  if (briefId === null || lookups.taskBelongsTo(given, briefId)) return { value: given };
  return { defect: `task_id ${given} names no task of brief ${briefId}` };
}

function readAgent(given: JsonValue | undefined): Read<string | null> {
  if (isMissing(given)) return { value: null };
  return isText(given) ? { value: given } : { defect: `created_by_agent is a text, not ${described(given)}` };
}

function readSize(given: JsonValue | undefined): Read<number | null> {
  if (given === undefined || given === null) return { value: null };
  return typeof given === "number" && Number.isSafeInteger(given) && given >= 0
    ? { value: given }
    : { defect: `size_bytes is a whole number from 0 on, not ${described(given)}` };
}

function described(value: JsonValue | undefined): string {
  return isArray(value) || isObject(value) || value === undefined ? aType(jsonType(value)) : shown(value);
}
