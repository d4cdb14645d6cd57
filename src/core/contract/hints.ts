/**
 * What to type next, for every code of the validator, and the one text that goes with every rejection. Codes and paths
 * are decided in `validate.ts`; here is only wording.
 */
import { isObject, type JsonType, type JsonValue, jsonType, prettyJson, withKey } from "../json/value.ts";
import { nearest } from "../near-miss.ts";
import {
  AGENT_ID_PATTERN,
  EVIDENCE_KEYS,
  EVIDENCE_LISTS,
  homeOf,
  initialEnvelope,
  isSystemKey,
  LEVELS,
  type Level,
  pathOf,
  STATES,
  STATUS_KEYS,
  WHOLE,
  WRITABLE_KEYS,
} from "./envelope.ts";

/** Room for a value of the agent's in a message, in UTF-16 code units of its JSON. */
const VALUE_ROOM = 80;

/** The build order that a close in COMPLETE needs. */
const VERIFICATION_FIRST =
  "Order: evidence_report.verification first, then next_action and pending_steps, agent_status.agent_state last.";

const EMPTY_EVIDENCE = JSON.stringify({
  evidence_report: Object.fromEntries(EVIDENCE_LISTS.map((name) => [name, []])),
});

/** A value as JSON, cut where it is long. */
export function shown(value: JsonValue): string {
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, VALUE_ROOM + 1) : value);
  return text.length <= VALUE_ROOM ? text : `${text.slice(0, VALUE_ROOM).toWellFormed()}…`;
}

/** "a string", "an object". */
export function aType(type: JsonType): string {
  if (type === "null") return "null";
  return type === "array" || type === "object" ? `an ${type}` : `a ${type}`;
}

const MISSING: Readonly<Record<string, string>> = {
  [WHOLE]: "The envelope is a JSON object: writ contract init starts one",
  agent_status: `Write agent_status whole: writ contract fill --json '${JSON.stringify({ agent_status: { agent_state: "IN_PROGRESS", agent_id: "<agent_id>", pending_steps: [], next_action: "pending" } })}'`,
  "agent_status.agent_state": `Write agent_status.agent_state: writ contract set agent_status.agent_state IN_PROGRESS (or another of ${STATES.join(", ")})`,
  "agent_status.agent_id":
    "Write agent_status.agent_id: writ contract set agent_status.agent_id <agent_id>, the part of the draft id before its first dot",
  "agent_status.next_action": "Write agent_status.next_action: writ contract set agent_status.next_action '...'",
  evidence_report: `Write evidence_report with all seven lists: writ contract fill --json '${EMPTY_EVIDENCE}'`,
};

export function missingHint(path: string): string {
  return MISSING[path] ?? `Write ${path}: writ contract set ${path} '[]'`;
}

export function typeHint(path: string, value: JsonValue, wanted: JsonType): string {
  const arrived = `${path} got ${aType(jsonType(value))} where ${aType(wanted)} is declared.`;
  if (wanted === "array")
    return `${arrived} One entry: writ contract add ${path} '...'; a whole list: writ contract set ${path} '["..."]'`;
  if (wanted === "object") return `${arrived} Merge an object into it: writ contract fill --json '${patchFor(path)}'`;
  return `${arrived} A text that looks like JSON stands in double quotes: writ contract set ${path} '"..."'`;
}

function patchFor(path: string): string {
  return path.split(".").reduceRight((inner, key) => `{"${key}":${inner}}`, "{...}");
}

export function stateHint(value: string): string {
  return `${shown(value)} is no state. The six states: ${STATES.join(", ")}`;
}

export function agentIdHint(value: JsonValue): string {
  return `${shown(value)} does not match ${AGENT_ID_PATTERN}. Copy the agent_id of the dispatch; a turn without one gets it from writ contract init`;
}

/** The call that takes a turn out of COMPLETE, whatever its verification says. */
const ANOTHER_STATE = `writ contract fill --json '{"agent_status":{"agent_state":"BLOCKED","next_action":"..."}}'`;

/** @param isSaid whether there is a result that is none of pass: it may be what is so, and then the state gives way */
export function resultHint(isSaid: boolean): string {
  const rule = "evidence_report.verification.result must be pass under COMPLETE";
  const passed = `writ contract fill --json '{"evidence_report":{"verification":{"type":"command","command":"...","result":"pass"}}}'`;
  return isSaid
    ? `${rule}. A result that is no pass is closed in another state, which is set first: ${ANOTHER_STATE}. Where the command did pass: ${passed}. ${VERIFICATION_FIRST}`
    : `${rule}. Where a command passed: ${passed}; where none did, the state is another: ${ANOTHER_STATE}. ${VERIFICATION_FIRST}`;
}

/** @param type the folded word, or null for a type that is no string; `companion` is the key it owes, or null for any */
export function companionHint(type: string | null, companion: string | null): string {
  const name = type === null ? "A type that is no string" : `Type ${shown(type)}`;
  const owed =
    companion === null
      ? "at least one of command, requires_human and reviewed"
      : companion === "requires_human"
        ? "requires_human with a value that is not empty or false"
        : `a non-blank ${companion}`;
  return `${name} owes ${owed}: write type and companion in one writ contract fill. When nothing was run, the honest type is none`;
}

export function approvalShapeHint(): string {
  return `Write approval_request.exact_content, the text to consent to, first: writ contract set approval_request.exact_content '...'. Order: approval_request first, agent_status.agent_state last.`;
}

export function completeHint(path: string): string {
  return path.endsWith("next_action")
    ? `Under COMPLETE next_action is done: writ contract set agent_status.next_action done. ${VERIFICATION_FIRST}`
    : `Under COMPLETE pending_steps is []: writ contract set agent_status.pending_steps '[]'. ${VERIFICATION_FIRST}`;
}

const FAILURE_WANTS: Readonly<Record<string, string>> = {
  failure_report: "failure_report is an object with attempted, symptom and evidence",
  "failure_report.attempted": "failure_report.attempted is a non-blank text",
  "failure_report.symptom": "failure_report.symptom is a non-blank text",
  "failure_report.evidence": "failure_report.evidence is a list with at least one non-blank text",
  "failure_report.severity": "failure_report.severity, when it is there, is one of info, warning, error",
};

export function failureHint(path: string): string {
  return `${FAILURE_WANTS[path] ?? path}. The block is judged whole, so write it in one fill: writ contract fill --json '{"failure_report":{"attempted":"...","symptom":"...","evidence":["..."]}}'`;
}

export function referenceHint(): string {
  return 'An entry is a path as a text, "src/a.ts", or {"path":"src/a.ts","commit":"<7 to 64 hex digits>"} and nothing else. A bare path is always right for an uncommitted file';
}

/** Where a declared key belongs, as a path to write. A state is written in `agent_status`, wherever else it is at home. */
export function belongsAt(key: string): string {
  return pathOf((STATUS_KEYS as readonly string[]).includes(key) ? "agent_status" : (homeOf(key) ?? ""), key);
}

export function misplacedHint(key: string): string {
  const place = belongsAt(key);
  if (place !== key) return `It belongs at ${place}. It was not moved.`;
  return isSystemKey(key)
    ? `${key} belongs at the root, where only writ writes it. It was not moved.`
    : `It belongs at the root, as ${place}. It was not moved.`;
}

/**
 * Where a path that names nothing in an envelope may have meant to go.
 *
 * @returns null when nothing is near
 */
export function absentHint(segments: readonly string[], segment: string, under: string): string | null {
  const level = LEVELS.find((one) => one === under);
  if (level === undefined) return null;
  const typed = pathOf(level, segment);
  const rest = segments.slice(typed.split(".").length);
  const home = homeOf(segment);
  const place = home === null ? null : belongsAt(segment);
  if (place === typed) return isSystemKey(segment) ? null : `${typed} is a declared field that was not written yet`;
  if (place !== null) return `It belongs at ${place}: --field ${[place, ...rest].join(".")}`;
  const near = nearest(segment, CANDIDATES[level].keys());
  return near === null ? null : `Did you mean ${CANDIDATES[level].get(near)}?`;
}

/** The keys that an unknown one may have meant: those of its own level first, since the first of equals wins. */
const CANDIDATES: Readonly<Record<Level, ReadonlyMap<string, string>>> = {
  "": candidatesFrom(["", "agent_status", "evidence_report"]),
  agent_status: candidatesFrom(["agent_status", "evidence_report", ""]),
  evidence_report: candidatesFrom(["evidence_report", "agent_status", ""]),
};

function candidatesFrom(levels: readonly Level[]): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const level of levels)
    for (const key of WRITABLE_KEYS[level]) if (!paths.has(key)) paths.set(key, pathOf(level, key));
  return paths;
}

const WRITABLE: Readonly<Record<Level, string>> = {
  "": `Keys to write at the root: ${WRITABLE_KEYS[""].join(", ")}`,
  agent_status: `Keys of agent_status: ${WRITABLE_KEYS.agent_status.join(", ")}`,
  evidence_report: `Keys of evidence_report: ${WRITABLE_KEYS.evidence_report.join(", ")}`,
};

export function unknownHint(level: Level, key: string): string {
  const near = nearest(key, CANDIDATES[level].keys());
  return near === null ? WRITABLE[level] : `Did you mean ${CANDIDATES[level].get(near)}?`;
}

export function unboundHint(): string {
  return "A binding that would do: --plan-task-id N, or a row dispatched with a plan_task_id or a parent_handoff_id. Without one, close COMPLETE with a verification, or BLOCKED or NEEDS_INPUT";
}

const EXAMPLE_VERIFICATION = {
  type: "command",
  command: "bun test checkout",
  method: "re-ran the failing suite after the fix",
  result: "pass",
};

/** The one text that goes with every rejection. */
export const REPAIR_MESSAGE = repairMessage();

function repairMessage(): string {
  const initial = initialEnvelope("a0123456789abcdef");
  const evidence = isObject(initial.evidence_report) ? initial.evidence_report : {};
  const template = withKey(initial, "evidence_report", withKey(evidence, "verification", EXAMPLE_VERIFICATION));
  return `The envelope is this JSON object, with the agent_id of the turn:

${prettyJson(template)}

Required: agent_status with ${STATUS_KEYS.join(", ")}; evidence_report with ${EVIDENCE_LISTS.join(", ")} (empty lists are valid). APPROVAL_REQUEST also needs approval_request.exact_content; COMPLETE needs evidence_report.verification.result pass, next_action done and pending_steps []; every close needs a conclusion.
Keys of evidence_report are ${EVIDENCE_KEYS.join(", ")}; a declared key at another level is refused, never moved.
verification.type is the classifier and owes a companion: command and code owe command, semantic owes requires_human, self_review owes reviewed, none owes nothing, any other word owes one of the three. verification.method is free prose about how it was done and never stands for type.
Build order: dependencies first, agent_state last. Write the evidence, then verification, approval_request and conclusion, then next_action and pending_steps, and agent_status.agent_state at the end.
Lists: fill writes a list once, add extends it by one entry, set replaces it.`;
}
