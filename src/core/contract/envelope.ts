/**
 * The envelope's vocabulary: which key may stand at which level, of which type, and who writes it.
 *
 * Three levels are closed (the root, `agent_status`, `evidence_report`); everything deeper is open. What is wrong with
 * an envelope is `validate.ts`'s business.
 */
import {
  assignKey,
  type JsonObject,
  type JsonType,
  type JsonValue,
  valueAt,
  withKey,
  withoutKey,
} from "../json/value.ts";

export { CLOSING_STATES, type RowState, STATES, type State } from "./state.ts";

/** The field that stands for the envelope as a whole where an issue needs one. */
export const WHOLE = "agent_contract_handoff";

/** The seven lists of evidence that every envelope has. */
export const EVIDENCE_LISTS = [
  "patterns_checked",
  "files_checked",
  "commands_run",
  "key_outputs",
  "verbatim_outputs",
  "cross_layer_impacts",
  "open_gaps",
] as const;

/** Accepted spellings of the seven lists, good for presence only; nothing writes them. */
export const CAPITAL_LISTS: readonly string[] = EVIDENCE_LISTS.map((name) => name.toUpperCase());

export const STATUS_KEYS = ["agent_state", "agent_id", "pending_steps", "next_action"] as const;

export const EVIDENCE_KEYS = [...EVIDENCE_LISTS, "verification"] as const;

/** The keys of `verification` that are read; any other is stored as it stands. */
export const VERIFICATION_KEYS = [
  "type",
  "command",
  "result",
  "expect_exit",
  "requires_human",
  "reviewed",
  "evidence_ids",
  "method",
  "details",
] as const;

/** The root keys that an agent writes, in the order in which messages list them. */
export const AGENT_KEYS = [
  "agent_status",
  "evidence_report",
  "consolidation_report",
  "approval_request",
  "failure_report",
  "conclusion",
  "report_prose",
  "memory_delta",
  "update_contracts",
  "user_facing_summary",
  "rollback_executed",
  "context_consumption",
] as const;

/** The root keys that only the system writes: accepted, never offered to an agent. */
export const SYSTEM_KEYS = [
  "_contract_tag",
  "agent_name",
  "agent_output_preview",
  "agent_state",
  "auto_captured",
  "backstop",
  "binding_rejection",
  "born_at_dispatch",
  "conclusion_alias",
  "content_checks",
  "continues_contract_id",
  "degraded",
  "dispatch_closed_at_subagent_stop",
  "fallback",
  "harness_record",
  "reaped",
  "reconciled",
  "reconstructed_from_finalized_draft",
  "salvaged",
  "superseded_by_contract_id",
  "update_contracts_refused",
] as const;

/** What a finalize writes itself: values of these that came from the draft are dropped. */
export const FINALIZE_KEYS = [
  "content_checks",
  "conclusion_alias",
  "harness_record",
  "update_contracts_refused",
] as const;

/** A closed level: the root (`""`) or one of its two closed objects. */
export type Level = "" | "agent_status" | "evidence_report";

export const LEVELS: readonly Level[] = ["", "agent_status", "evidence_report"];

/** Every key that may stand at a level. */
export const ALLOWED_KEYS: Readonly<Record<Level, ReadonlySet<string>>> = {
  "": new Set([...AGENT_KEYS, ...SYSTEM_KEYS]),
  agent_status: new Set(STATUS_KEYS),
  evidence_report: new Set([...EVIDENCE_KEYS, ...CAPITAL_LISTS]),
};

/** The keys of a level that an agent is told of. */
export const WRITABLE_KEYS: Readonly<Record<Level, readonly string[]>> = {
  "": AGENT_KEYS,
  agent_status: STATUS_KEYS,
  evidence_report: EVIDENCE_KEYS,
};

/** The declared fields with a type, in the order in which they are checked. The names in capitals have none. */
export const TYPED_FIELDS: Readonly<Record<Level, readonly (readonly [key: string, type: JsonType])[]>> = {
  "": [
    ["agent_status", "object"],
    ["evidence_report", "object"],
    ["consolidation_report", "object"],
    ["approval_request", "object"],
    ["conclusion", "string"],
    ["report_prose", "string"],
  ],
  agent_status: [
    ["agent_state", "string"],
    ["agent_id", "string"],
    ["pending_steps", "array"],
    ["next_action", "string"],
  ],
  evidence_report: [...EVIDENCE_LISTS.map((name) => [name, "array"] as const), ["verification", "object"]],
};

/** The declared paths, as `set` takes them: those of the three levels, and what is read of a verification. */
export const FIELD_PATHS: readonly string[] = [
  ...LEVELS.flatMap((level) => WRITABLE_KEYS[level].map((key) => pathOf(level, key))),
  ...VERIFICATION_KEYS.map((key) => `evidence_report.verification.${key}`),
];

/** Those among them that are lists, as `add` takes them. */
export const LIST_PATHS: readonly string[] = [
  ...LEVELS.flatMap((level) =>
    TYPED_FIELDS[level].filter(([, type]) => type === "array").map(([key]) => pathOf(level, key)),
  ),
  "update_contracts",
];

/** The lists that may hold file references. */
export const REFERENCE_LISTS = ["files_checked", "FILES_CHECKED"] as const;

const HOMES: ReadonlyMap<string, Level> = new Map<string, Level>([
  ...STATUS_KEYS.map((key) => [key, "agent_status"] as const),
  ...EVIDENCE_KEYS.map((key) => [key, "evidence_report"] as const),
  // Last, so that `agent_state` is at home at the root, where the birth marker has it.
  ...[...AGENT_KEYS, ...SYSTEM_KEYS].map((key) => [key, ""] as const),
]);

/** The level at which a declared key is at home, or null for a key that is declared nowhere. */
export function homeOf(key: string): Level | null {
  return HOMES.get(key) ?? null;
}

export function isSystemKey(key: string): boolean {
  return (SYSTEM_KEYS as readonly string[]).includes(key);
}

/** The path of a key at a level. */
export function pathOf(level: Level, key: string): string {
  return level === "" ? key : `${level}.${key}`;
}

/**
 * The envelope that every draft starts from, valid as it stands.
 *
 * @param agentId not checked here; the validator does
 */
export function initialEnvelope(agentId: string): JsonObject {
  const evidence: Record<string, JsonValue> = {};
  for (const name of EVIDENCE_LISTS) evidence[name] = [];
  return {
    agent_status: { agent_state: "IN_PROGRESS", agent_id: agentId, pending_steps: [], next_action: "pending" },
    evidence_report: evidence,
    consolidation_report: null,
    approval_request: null,
    failure_report: null,
    memory_delta: null,
    conclusion: null,
  };
}

const BIRTH_KEYS = ["born_at_dispatch", "agent_name"] as const;

/** The envelope with the birth keys of an earlier one where it has none itself: a mirror never forgets a birth. */
export function withBirthKeys(envelope: JsonObject, earlier: JsonObject): JsonObject {
  let kept = envelope;
  for (const key of BIRTH_KEYS) {
    const value = valueAt(earlier, key);
    if (value !== undefined && !Object.hasOwn(kept, key)) kept = withKey(kept, key, value);
  }
  return kept;
}

/** The envelope without the values that only a finalize may write. */
export function withoutFinalizeKeys(envelope: JsonObject): JsonObject {
  if (!FINALIZE_KEYS.some((key) => Object.hasOwn(envelope, key))) return envelope;
  const kept: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(envelope)) {
    if (!(FINALIZE_KEYS as readonly string[]).includes(key)) assignKey(kept, key, value);
  }
  return kept;
}

/** The pattern of an agent id, for messages. */
export const AGENT_ID_PATTERN = "^a[0-9a-f]{16,}$";

const AGENT_ID = new RegExp(AGENT_ID_PATTERN);

/** Whether an id may be minted or declared. Ids that exist already are compared, not matched. */
export function isAgentId(id: string): boolean {
  return AGENT_ID.test(id);
}

/** The agent part of a draft id: everything before its first dot. */
export function agentPart(draftId: string): string {
  const dot = draftId.indexOf(".");
  return dot < 0 ? draftId : draftId.slice(0, dot);
}

const MAX_DRAFT_ID_BYTES = 200;

/**
 * Why a draft id must not become a file name, or null when it may.
 *
 * @returns the end of a sentence, for example `holds "/"`
 */
export function draftIdFault(id: string): string | null {
  if (id === "") return "is empty";
  // A code unit is at least one byte; the long ones need no exact count.
  if (id.length > MAX_DRAFT_ID_BYTES || new TextEncoder().encode(id).length > MAX_DRAFT_ID_BYTES) {
    return `is longer than ${MAX_DRAFT_ID_BYTES} bytes`;
  }
  if (id.startsWith(".")) return "starts with a dot";
  if (id.includes("/")) return 'holds "/"';
  if (id.includes("\\")) return 'holds "\\"';
  if (/\p{Cc}/u.test(id)) return "holds a control character";
  if (!id.isWellFormed()) return "holds a lone surrogate";
  return null;
}

/** Whether a draft id may become a file name. */
export function isDraftId(id: string): boolean {
  return draftIdFault(id) === null;
}

/** What a cut writes into an envelope, and a clean close after it takes out again. */
export const CUT_MARKS = ["degraded", "auto_captured", "reaped", "salvaged", "backstop"] as const;

export function withoutCutMarks(envelope: JsonObject): JsonObject {
  return CUT_MARKS.reduce<JsonObject>(
    (kept, key) => (Object.hasOwn(kept, key) ? withoutKey(kept, key) : kept),
    envelope,
  );
}
