/**
 * Holds a statement, or the DSSE envelope around one, against itself and against a key. Nothing else is asked: no
 * store, no network, no clock.
 *
 * Everything that does not hold is reported at once. What a statement says is checked as far as it says it twice: the
 * digest of its envelope, the chain of its record, the head that the row stored.
 */
import { isClosed } from "../contract/state.ts";
import { parseJson } from "../json/parse.ts";
import { canonicalJson, isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { verifyChain } from "../record/digest.ts";
import { quoted } from "../record/quoted.ts";
import type { ToolRecord } from "../record/tool-record.ts";
import type { Issue } from "../result.ts";
import { type Dsse, looksLikeDsse, PAYLOAD_TYPE, preAuthentication, readDsse } from "./dsse.ts";
import { PREDICATE_TYPE, STATEMENT_TYPE } from "./statement.ts";

/** A statement holds an envelope three levels down, and an envelope may be as deep as the reader goes. */
const DEPTH = 160;

/** A public key, as far as judging needs one. */
export type Verifier = {
  /** SHA-256 of the DER form, lower-case hex. */
  readonly keyid: string;
  verify(message: Uint8Array, signature: Uint8Array): boolean;
};

export type Judgement = {
  /** Empty: everything holds. */
  readonly findings: readonly Issue[];
  /** Whether it is a DSSE envelope, be it signed or not. */
  readonly sealed: boolean;
  /** The key whose signature holds; null when none was found. */
  readonly keyid: string | null;
  /** What the statement is about, as it says; null where it does not say. */
  readonly contract_id: string | null;
  readonly envelope_sha256: string | null;
  readonly record: { readonly count: number; readonly head: string | null } | null;
};

export type Means = {
  /** Of a text's UTF-8, in lower-case hex. */
  sha256(text: string): string;
  /** Null: the signature is not asked for. */
  readonly key: Verifier | null;
};

const NOTHING = { sealed: false, keyid: null, contract_id: null, envelope_sha256: null, record: null } as const;

/**
 * Judges the text of a file.
 *
 * Errors: none, whatever the text
 */
export function judgeAttestation(text: string, means: Means): Judgement {
  const parsed = parseJson(text, { maxDepth: DEPTH });
  if (!parsed.ok) {
    const { code, line, column, message } = parsed.fault;
    return { ...NOTHING, findings: [issue(code, null, `Line ${line}, column ${column}: ${message}`)] };
  }
  const { value } = parsed;
  if (!isObject(value)) return { ...NOTHING, findings: [notAttestation()] };
  if (looksLikeDsse(value)) return judgeDsse(value, means);
  const statement = judgeStatement(value, means.sha256);
  if (means.key === null || !Object.hasOwn(value, "_type")) return statement;
  const unsigned = issue("not_signed", null, "It is a statement alone: nobody signed it", SIGN_HINT);
  return { ...statement, findings: [unsigned, ...statement.findings] };
}

const SIGN_HINT = "Sign it with: writ contract attest CONTRACT_ID --key FILE";

function judgeDsse(value: JsonObject, means: Means): Judgement {
  const dsse = readDsse(value);
  if ("unreadable" in dsse) {
    const { unreadable } = dsse;
    const wanted = unreadable === "payloadType" ? "a text" : unreadable === "signatures" ? "a list" : "base64";
    const finding = issue("dsse_malformed", unreadable, `The envelope's ${unreadable} is not ${wanted}`);
    return { ...NOTHING, sealed: true, findings: [finding] };
  }
  const findings: Issue[] = [];
  if (dsse.payload_type !== PAYLOAD_TYPE) {
    const message = `Payload type ${quoted(dsse.payload_type)} is not "${PAYLOAD_TYPE}"`;
    findings.push(issue("payload_type", "payloadType", message));
  }
  const signature = judgeSignatures(dsse, means.key);
  if (signature !== null) findings.push(signature);
  const inner = judgePayload(dsse.payload, means.sha256);
  return {
    ...inner,
    sealed: true,
    keyid: signature === null ? (means.key?.keyid ?? null) : null,
    findings: [...findings, ...inner.findings],
  };
}

function judgeSignatures(dsse: Dsse, key: Verifier | null): Issue | null {
  const { signatures } = dsse;
  if (signatures.length === 0) return issue("not_signed", "signatures", "The envelope has no signature", SIGN_HINT);
  if (key === null) return null;
  const message = preAuthentication(dsse.payload_type, dsse.payload);
  if (signatures.some(({ bytes }) => key.verify(message, bytes))) return null;
  const others = signatures.flatMap(({ keyid }) => (keyid === null || keyid === key.keyid ? [] : [quoted(keyid)]));
  if (others.length === signatures.length) {
    const by = others.slice(0, 3).join(", ");
    return issue("signature_invalid", "signatures", `It is signed by key ${by}, not by "${key.keyid}"`);
  }
  const what = "No signature by this key fits: the payload, its type or the signature was changed";
  return issue("signature_invalid", "signatures", what);
}

function judgePayload(payload: Uint8Array, sha256: Means["sha256"]): Judgement {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
  } catch {
    return { ...NOTHING, findings: [issue("bad_json", "payload", "The payload is no UTF-8 text")] };
  }
  const parsed = parseJson(text, { maxDepth: DEPTH });
  if (!parsed.ok) {
    const { code, line, column, message } = parsed.fault;
    return { ...NOTHING, findings: [issue(code, "payload", `Line ${line}, column ${column}: ${message}`)] };
  }
  if (!isObject(parsed.value)) return { ...NOTHING, findings: [notAttestation()] };
  return judgeStatement(parsed.value, sha256);
}

function judgeStatement(statement: JsonObject, sha256: Means["sha256"]): Judgement {
  const type = valueAt(statement, "_type");
  if (type === undefined) return { ...NOTHING, findings: [notAttestation()] };
  const findings: Issue[] = [];
  const find = (code: string, path: string, message: string) => findings.push(issue(code, path, message));
  if (type !== STATEMENT_TYPE) find("statement_type", "_type", `Type ${shown(type)} is not "${STATEMENT_TYPE}"`);
  const predicateType = valueAt(statement, "predicateType");
  if (predicateType !== PREDICATE_TYPE) {
    find("predicate_type", "predicateType", `Predicate type ${shown(predicateType)} is not "${PREDICATE_TYPE}"`);
  }
  const { name, digest } = subjectOf(statement);
  if (name === null || digest === null) {
    find("subject_malformed", "subject", "There is not exactly one subject with a name and a SHA-256");
  }

  const predicate = objectAt(statement, "predicate");
  const envelope = objectAt(predicate, "envelope");
  const handoff = objectAt(predicate, "handoff");
  const record = objectAt(predicate, "record");
  for (const [key, part] of Object.entries({ envelope, handoff, record })) {
    if (part === null) find("predicate_malformed", `predicate.${key}`, `There is no ${key} inside`);
  }
  const envelopeDigest = envelope === null ? null : sha256(canonicalJson(envelope));
  if (envelopeDigest !== null && digest !== null && digest !== envelopeDigest) {
    const message = `The envelope inside has the digest ${envelopeDigest}, not ${quoted(digest)}`;
    find("subject_digest", "subject[0].digest.sha256", message);
  }
  if (handoff !== null) {
    const state = valueAt(handoff, "agent_state");
    if (typeof state !== "string" || !isClosed(state)) {
      find("not_closed", "predicate.handoff.agent_state", `The row's state ${shown(state)} is no closed one`);
    }
    const id = valueAt(handoff, "contract_id");
    if (name !== null && id !== name) {
      find(
        "subject_name",
        "predicate.handoff.contract_id",
        `The row is of ${shown(id)}, the subject is ${quoted(name)}`,
      );
    }
  }
  const checked = record === null ? null : judgeRecord(record, name, sha256, find);
  if (checked !== null) judgeStoredHead(predicate, checked, find);
  return {
    findings,
    sealed: false,
    keyid: null,
    contract_id: name,
    envelope_sha256: envelopeDigest,
    record: checked,
  };
}

type Find = (code: string, path: string, message: string) => void;
type Chain = { readonly count: number; readonly head: string | null };

/** Null when the chain does not fit. */
function judgeRecord(record: JsonObject, name: string | null, sha256: Means["sha256"], find: Find): Chain | null {
  const path = "predicate.record";
  const runs = valueAt(record, "runs");
  if (!isArray(runs)) {
    find("record_malformed", `${path}.runs`, "The runs are no list");
    return null;
  }
  const records: ToolRecord[] = [];
  for (const [index, run] of runs.entries()) {
    if (!isRecord(run)) {
      find("record_malformed", `${path}.runs[${index}]`, "It is no record, or holds what the chain does not cover");
      return null;
    }
    if (name !== null && run.contract_id !== name) {
      find("subject_name", `${path}.runs[${index}].contract_id`, `The record is of ${quoted(run.contract_id)}`);
      return null;
    }
    records.push(run);
  }
  const chain = verifyChain(records, sha256);
  if (!chain.ok) {
    const { seq, expected, found } = chain;
    find(
      "record_broken",
      `${path}.runs`,
      `The record does not fit at ${seq}: expected ${expected}, found ${quoted(found)}`,
    );
    return null;
  }
  const { count, head } = chain;
  const said = { count: valueAt(record, "count"), head: valueAt(record, "head") };
  if (said.count !== count) {
    find(
      "record_count",
      `${path}.count`,
      `The count says ${shown(said.count)}, and there ${count === 1 ? "is 1 record" : `are ${count} records`}`,
    );
  }
  if (said.head !== head) {
    find("record_head", `${path}.head`, `The chain ends in ${shown(head)}, and the head says ${shown(said.head)}`);
  }
  return { count, head };
}

/** The row and its checks name the head that the close saw; absent or null, they name none. */
function judgeStoredHead(predicate: JsonObject | null, chain: Chain, find: Find): void {
  const handoff = objectAt(predicate, "handoff");
  if (handoff !== null && (valueAt(handoff, "record_count") ?? null) !== null) {
    const head = valueAt(handoff, "record_head") ?? null;
    if (head !== chain.head || valueAt(handoff, "record_count") !== chain.count) {
      const message = `The row was closed on ${shown(head)}, and the record inside ends in ${shown(chain.head)}`;
      find("record_head", "predicate.handoff.record_head", message);
    }
  }
  const checks = objectAt(predicate, "content_checks");
  if (checks !== null && Object.hasOwn(checks, "record_head") && valueAt(checks, "record_head") !== chain.head) {
    const message = `The checks saw ${shown(valueAt(checks, "record_head"))}, and the record inside ends in ${shown(chain.head)}`;
    find("record_head", "predicate.content_checks.record_head", message);
  }
}

function subjectOf(statement: JsonObject): { readonly name: string | null; readonly digest: string | null } {
  const subjects = valueAt(statement, "subject");
  const [first] = isArray(subjects) && subjects.length === 1 ? subjects : [];
  const name = isObject(first) ? valueAt(first, "name") : undefined;
  const digests = isObject(first) ? valueAt(first, "digest") : undefined;
  const digest = isObject(digests) ? valueAt(digests, "sha256") : undefined;
  return {
    name: typeof name === "string" && name !== "" ? name : null,
    digest: typeof digest === "string" ? digest : null,
  };
}

/** What a record's digest covers, and the digest. Anything else beside them would be vouched for by nothing. */
const RECORD_KEYS: Readonly<Record<keyof ToolRecord, true>> = {
  argv: true,
  command: true,
  contract_id: true,
  cwd: true,
  digest: true,
  ended_at: true,
  exit_code: true,
  exit_note: true,
  failed: true,
  harness: true,
  ordered: true,
  output: true,
  output_bytes: true,
  output_sha256: true,
  path: true,
  prev_digest: true,
  seq: true,
  signal: true,
  source: true,
  started_at: true,
  tail: true,
  tool: true,
  tool_use_id: true,
  truncated: true,
};
const RECORD_KEY_COUNT = Object.keys(RECORD_KEYS).length;

/** Whether the chain can be recomputed over it. What its other values are is for the digest to say. */
function isRecord(value: JsonValue): value is JsonObject & ToolRecord {
  if (!isObject(value)) return false;
  const keys = Object.keys(value);
  if (keys.length !== RECORD_KEY_COUNT || !keys.every((key) => Object.hasOwn(RECORD_KEYS, key))) return false;
  const texts = [value.contract_id, value.prev_digest, value.digest];
  return typeof value.seq === "number" && texts.every((text) => typeof text === "string");
}

function objectAt(object: JsonObject | null, key: string): JsonObject | null {
  const value = object === null ? undefined : valueAt(object, key);
  return isObject(value) ? value : null;
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "string") return quoted(value);
  return typeof value === "object" ? "something else" : String(value);
}

function notAttestation(): Issue {
  return issue("not_an_attestation", null, "It is neither an in-toto statement nor a DSSE envelope");
}

function issue(code: string, path: string | null, message: string, hint: string | null = null): Issue {
  return { code, path, message, hint };
}
