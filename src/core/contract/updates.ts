/**
 * `update_contracts`: what a turn proposes for project context, and the evidence that it deposits.
 *
 * Here a value becomes entries and refusals by shape alone. Nothing of it blocks a close: what is refused is stamped
 * on the row. What an evidence entry holds is judged in `evidence-clause.ts`, whether a correction applies by itself
 * in `core/context/drift.ts`.
 */
import {
  compactJson,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  jsonType,
  valueAt,
  withKey,
} from "../json/value.ts";
import { isText } from "./fold.ts";
import { aType, shown } from "./hints.ts";

/** The contract name that is no section: the entry deposits evidence. */
export const EVIDENCE_CONTRACT = "evidence";

/** One accepted entry. `index` is its place in the list as read; `drift` is any JSON value, absent when not given. */
export type UpdateEntry = {
  readonly index: number;
  readonly contract: string;
  readonly payload: JsonObject;
  readonly drift?: JsonValue;
};

export type UpdateRefusalCode =
  | "not_an_array"
  | "entry_not_object"
  | "contract_missing"
  | "payload_missing"
  | "payload_not_object"
  | "evidence_rejected"
  | "project_unowned"
  | "project_ambiguous";

/** One element of the row's `update_contracts_refused`. */
export type UpdateRefusal = {
  readonly index: number;
  /** The section as written; null where the entry names none. */
  readonly contract: string | null;
  /** The top-level key of a `project_identity` payload that was refused; null when the whole entry was. */
  readonly key: string | null;
  readonly code: UpdateRefusalCode;
  /** One sentence for a person. */
  readonly reason: string;
  /** Holds the legal shape. */
  readonly hint: string;
};

export type Updates = { readonly entries: readonly UpdateEntry[]; readonly refused: readonly UpdateRefusal[] };

/** An entry as it is written, for hints. */
const LEGAL_ENTRY = '{"contract":"<section>","payload":{"<key>":"<value>"}}';

/**
 * Reads the value of `update_contracts`, or the object that abbreviates one.
 *
 * @param value absent and null hold no entry
 * @returns     both lists in the order of the entries; together they hold each entry once
 * Errors: none, whatever the value
 * Source: spec/contract.md 13.1
 */
export function readUpdates(value: JsonValue | undefined): Updates {
  const listed = asList(value);
  if (listed === null) {
    const reason = `update_contracts is a list of entries, not ${aType(jsonType(value))}`;
    return { entries: [], refused: [refusal(0, null, "not_an_array", reason, `[${LEGAL_ENTRY}]`)] };
  }
  const entries: UpdateEntry[] = [];
  const refused: UpdateRefusal[] = [];
  for (const [index, given] of listed.entries()) {
    const read = readEntry(index, given);
    if ("code" in read) refused.push(read);
    else entries.push(read);
  }
  return { entries, refused };
}

/** The entries that deposit evidence, and those that propose a section. */
export function splitUpdates(entries: readonly UpdateEntry[]): {
  readonly evidence: readonly UpdateEntry[];
  readonly proposals: readonly UpdateEntry[];
} {
  return {
    evidence: entries.filter(({ contract }) => contract === EVIDENCE_CONTRACT),
    proposals: entries.filter(({ contract }) => contract !== EVIDENCE_CONTRACT),
  };
}

/** The compact JSON that an entry is remembered by: what it says, wherever in the list it stands. */
export function entryText({ contract, payload, drift }: UpdateEntry): string {
  const entry: JsonObject = { contract, payload };
  return compactJson(drift === undefined ? entry : withKey(entry, "drift", drift));
}

/** Null for what is neither a list nor the abbreviation of one. */
function asList(value: JsonValue | undefined): readonly JsonValue[] | null {
  if (value === undefined || value === null) return [];
  if (isArray(value)) return value;
  if (!isObject(value)) return null;
  if (typeof valueAt(value, "contract") === "string" && Object.hasOwn(value, "payload")) return [value];
  return Object.entries(value).map(([contract, payload]) => ({ contract, payload }));
}

function readEntry(index: number, given: JsonValue): UpdateEntry | UpdateRefusal {
  if (!isObject(given)) {
    const reason = `An entry is an object, not ${aType(jsonType(given))}`;
    return refusal(index, null, "entry_not_object", reason, LEGAL_ENTRY);
  }
  const contract = valueAt(given, "contract");
  if (!isText(contract)) {
    const got = contract === undefined ? "is absent" : `is ${shown(contract)}`;
    const named = typeof contract === "string" ? contract : null;
    return refusal(index, named, "contract_missing", `contract names a section, but it ${got}`, LEGAL_ENTRY);
  }
  const legal = `{"contract":${shown(contract)},"payload":{"<key>":"<value>"}}`;
  const payload = valueAt(given, "payload");
  if (payload === undefined) {
    return refusal(index, contract, "payload_missing", "The entry has no payload", legal);
  }
  if (!isObject(payload)) {
    const reason = `A payload is an object, whose keys are merged, not ${aType(jsonType(payload))}`;
    return refusal(index, contract, "payload_not_object", reason, legal);
  }
  const drift = valueAt(given, "drift");
  return drift === undefined ? { index, contract, payload } : { index, contract, payload, drift };
}

function refusal(
  index: number,
  contract: string | null,
  code: UpdateRefusalCode,
  reason: string,
  legal: string,
): UpdateRefusal {
  return { index, contract, key: null, code, reason, hint: `The legal shape: ${legal}` };
}
