/**
 * Layer 1 of the validator: the form of an envelope, as a pure function of it. Facts that only the store knows
 * (approvals, bindings) are judged in `approval.ts` and `gates.ts`.
 *
 * One defect gives one code: a value of the wrong type is not also missing, and a state that is none of the six leaves
 * what depends on the state unjudged.
 */
import { isArray, isObject, type JsonObject, type JsonType, type JsonValue, jsonType, valueAt } from "../json/value.ts";
import type { Issue } from "../result.ts";
import {
  ALLOWED_KEYS,
  EVIDENCE_LISTS,
  homeOf,
  isAgentId,
  LEVELS,
  type Level,
  pathOf,
  REFERENCE_LISTS,
  TYPED_FIELDS,
  WHOLE,
} from "./envelope.ts";
import { referenceFaults } from "./file-reference.ts";
import { foldType, foldWord, isMissing, isText, isTruthy } from "./fold.ts";
import * as hints from "./hints.ts";
import { foldState, type State } from "./state.ts";

/** The codes of form. */
export type FormCode =
  | "MISSING_FIELD"
  | "FIELD_TYPE"
  | "PLAN_STATUS"
  | "AGENT_ID_FORMAT"
  | "VERIFICATION_RESULT"
  | "VERIFICATION_SHAPE"
  | "APPROVAL_REQUEST_SHAPE"
  | "COMPLETE_SHAPE"
  | "FAILURE_REPORT_SHAPE"
  | "MISPLACED_KEY"
  | "UNKNOWN_FIELD"
  | "FILE_REFERENCE_SHAPE";

export const SEVERITIES: readonly string[] = ["info", "warning", "error"];

/**
 * Judges the form of an envelope.
 *
 * @param envelope any JSON value; `undefined` when there is none
 * @returns        every issue, in the order of the checks; none means valid. `path` is the field
 * Errors: none is thrown, whatever the value
 * Source: spec/contract.md section 7
 */
export function validate(envelope: JsonValue | undefined): readonly Issue[] {
  if (!isObject(envelope)) {
    const message = `the envelope is ${aThing(envelope)}, and a JSON object is due`;
    return [issue("MISSING_FIELD", WHOLE, message, hints.missingHint(WHOLE))];
  }
  const issues: Issue[] = [];
  for (const level of LEVELS) checkVocabulary(issues, level, objectAt(envelope, level));
  for (const level of LEVELS) checkTypes(issues, level, objectAt(envelope, level));
  checkStatus(issues, envelope);
  const state = effectiveState(envelope);
  if (state !== null) checkEvidence(issues, envelope, state);
  if (state === "APPROVAL_REQUEST") checkApproval(issues, valueAt(envelope, "approval_request"));
  checkFailure(issues, valueAt(envelope, "failure_report"));
  checkReferences(issues, envelope);
  return issues;
}

/** The state that an envelope declares, folded; null when it declares none of the six. */
export function effectiveState(envelope: JsonValue | undefined): State | null {
  if (!isObject(envelope)) return null;
  const status = valueAt(envelope, "agent_status");
  const state = isObject(status) ? valueAt(status, "agent_state") : undefined;
  return typeof state === "string" ? foldState(state) : null;
}

function issue(code: FormCode, path: string, message: string, hint: string): Issue {
  return { code, path, message, hint };
}

function missing(path: string): Issue {
  return issue("MISSING_FIELD", path, `${path} is missing`, hints.missingHint(path));
}

function aThing(value: JsonValue | undefined): string {
  return value === undefined ? "absent" : hints.aType(jsonType(value));
}

/** The object of a closed level, or null when there is none. */
function objectAt(envelope: JsonObject, level: Level): JsonObject | null {
  if (level === "") return envelope;
  const value = valueAt(envelope, level);
  return isObject(value) ? value : null;
}

function checkVocabulary(issues: Issue[], level: Level, object: JsonObject | null): void {
  if (object === null) return;
  const allowed = ALLOWED_KEYS[level];
  for (const key of Object.keys(object)) {
    if (allowed.has(key)) continue;
    const path = pathOf(level, key);
    issues.push(
      homeOf(key) === null
        ? issue("UNKNOWN_FIELD", path, `${path} is not a field of the envelope`, hints.unknownHint(level, key))
        : issue("MISPLACED_KEY", path, `${path} is a declared field at the wrong level`, hints.misplacedHint(key)),
    );
  }
}

function checkTypes(issues: Issue[], level: Level, object: JsonObject | null): void {
  if (object === null) return;
  for (const [key, wanted] of TYPED_FIELDS[level]) {
    const value = valueAt(object, key);
    if (!isWrongType(value, wanted)) continue;
    const path = pathOf(level, key);
    const message = `${path} is ${aThing(value)}, and ${hints.aType(wanted)} is declared`;
    issues.push(issue("FIELD_TYPE", path, message, hints.typeHint(path, value, wanted)));
  }
}

/** Present, not null, and of another type than declared. */
export function isWrongType(value: JsonValue | undefined, wanted: JsonType): value is JsonValue {
  return value !== undefined && value !== null && jsonType(value) !== wanted;
}

function isAbsentOrEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);
}

function checkStatus(issues: Issue[], envelope: JsonObject): void {
  const status = valueAt(envelope, "agent_status");
  if (isAbsentOrEmpty(status)) issues.push(missing("agent_status"));
  if (!isObject(status) || isAbsentOrEmpty(status)) return;

  const agentState = valueAt(status, "agent_state");
  const state = typeof agentState === "string" ? foldState(agentState) : null;
  if (isMissing(agentState)) issues.push(missing("agent_status.agent_state"));
  else if (typeof agentState === "string" && state === null) {
    const message = `agent_status.agent_state ${hints.shown(agentState)} is none of the six states`;
    issues.push(issue("PLAN_STATUS", "agent_status.agent_state", message, hints.stateHint(agentState)));
  }

  const agentId = valueAt(status, "agent_id");
  if (agentId === undefined || isMissing(agentId)) issues.push(missing("agent_status.agent_id"));
  else if (typeof agentId !== "string" || !isAgentId(agentId)) {
    const message = `agent_status.agent_id ${hints.shown(agentId)} is no agent id`;
    issues.push(issue("AGENT_ID_FORMAT", "agent_status.agent_id", message, hints.agentIdHint(agentId)));
  }

  const pendingSteps = valueAt(status, "pending_steps");
  if (pendingSteps === undefined) issues.push(missing("agent_status.pending_steps"));

  const nextAction = valueAt(status, "next_action");
  if (isMissing(nextAction)) issues.push(missing("agent_status.next_action"));

  if (state !== "COMPLETE") return;
  if (!isMissing(nextAction) && !(typeof nextAction === "string" && foldWord(nextAction) === "done")) {
    const path = "agent_status.next_action";
    issues.push(issue("COMPLETE_SHAPE", path, "COMPLETE needs next_action done", hints.completeHint(path)));
  }
  if (pendingSteps === null || (isArray(pendingSteps) && pendingSteps.length > 0)) {
    const path = "agent_status.pending_steps";
    issues.push(issue("COMPLETE_SHAPE", path, "COMPLETE needs pending_steps []", hints.completeHint(path)));
  }
}

function checkEvidence(issues: Issue[], envelope: JsonObject, state: State): void {
  const report = valueAt(envelope, "evidence_report");
  const evidence = isObject(report) ? report : null;
  if (isAbsentOrEmpty(report)) issues.push(missing("evidence_report"));
  else if (evidence !== null) {
    for (const name of EVIDENCE_LISTS) {
      if (Object.hasOwn(evidence, name) || Object.hasOwn(evidence, name.toUpperCase())) continue;
      issues.push(missing(`evidence_report.${name}`));
    }
  }
  const verification = evidence === null ? undefined : valueAt(evidence, "verification");
  if (isObject(verification)) checkCompanion(issues, verification);
  if (state !== "COMPLETE") return;
  if (!isObject(verification)) {
    const path = "evidence_report.verification";
    issues.push(
      issue("VERIFICATION_RESULT", path, "COMPLETE needs a verification that passed", hints.resultHint(false)),
    );
    return;
  }
  const result = valueAt(verification, "result");
  if (typeof result === "string" && foldWord(result) === "pass") return;
  const message =
    result === undefined ? "COMPLETE needs a result" : `COMPLETE needs result pass, not ${hints.shown(result)}`;
  issues.push(
    issue(
      "VERIFICATION_RESULT",
      "evidence_report.verification.result",
      message,
      hints.resultHint(result !== undefined),
    ),
  );
}

/** What a type of verification owes besides itself. `none` owes nothing, any other word one of the three. */
export const COMPANIONS: ReadonlyMap<string, "command" | "requires_human" | "reviewed"> = new Map([
  ["command", "command"],
  ["code", "command"],
  ["semantic", "requires_human"],
  ["self_review", "reviewed"],
]);

function checkCompanion(issues: Issue[], verification: JsonObject): void {
  const declared = valueAt(verification, "type");
  if (declared === undefined || declared === null) return;
  // A type that is no string declares a type that nobody knows.
  const type = typeof declared === "string" ? foldType(declared) : null;
  if (typeof declared === "string" && (type === null || type === "none")) return;

  const has = {
    command: isText(valueAt(verification, "command")),
    requires_human: isTruthy(valueAt(verification, "requires_human")),
    reviewed: isText(valueAt(verification, "reviewed")),
  };
  const companion = type === null ? undefined : COMPANIONS.get(type);
  if (companion === undefined ? has.command || has.requires_human || has.reviewed : has[companion]) return;
  const path = "evidence_report.verification";
  const message = `verification of type ${hints.shown(type ?? declared)} lacks ${companion ?? "command, requires_human and reviewed"}`;
  const field = companion === undefined ? path : `${path}.${companion}`;
  issues.push(issue("VERIFICATION_SHAPE", field, message, hints.companionHint(type, companion ?? null)));
}

function checkApproval(issues: Issue[], request: JsonValue | undefined): void {
  const hint = hints.approvalShapeHint();
  if (!isObject(request) || isAbsentOrEmpty(request)) {
    const message = "APPROVAL_REQUEST needs an approval_request object";
    issues.push(issue("APPROVAL_REQUEST_SHAPE", "approval_request", message, hint));
  } else if (!isText(valueAt(request, "exact_content"))) {
    const message = "APPROVAL_REQUEST needs a non-blank exact_content";
    issues.push(issue("APPROVAL_REQUEST_SHAPE", "approval_request.exact_content", message, hint));
  }
}

function checkFailure(issues: Issue[], report: JsonValue | undefined): void {
  if (report === undefined || report === null) return;
  const fault = (path: string, message: string) =>
    issues.push(issue("FAILURE_REPORT_SHAPE", path, message, hints.failureHint(path)));
  if (!isObject(report)) {
    fault("failure_report", `failure_report is ${aThing(report)}, and an object is declared`);
    return;
  }
  for (const key of ["attempted", "symptom"]) {
    if (!isText(valueAt(report, key))) fault(`failure_report.${key}`, `failure_report.${key} is no non-blank text`);
  }
  const evidence = valueAt(report, "evidence");
  if (!isArray(evidence) || !evidence.some(isText)) {
    fault("failure_report.evidence", "failure_report.evidence holds no non-blank text");
  }
  const severity = valueAt(report, "severity");
  if (severity === undefined || severity === null) return;
  if (typeof severity !== "string" || !SEVERITIES.includes(foldWord(severity))) {
    fault(
      "failure_report.severity",
      `failure_report.severity ${hints.shown(severity)} is none of ${SEVERITIES.join(", ")}`,
    );
  }
}

function checkReferences(issues: Issue[], envelope: JsonObject): void {
  const evidence = valueAt(envelope, "evidence_report");
  if (!isObject(evidence)) return;
  for (const name of REFERENCE_LISTS) {
    const files = valueAt(evidence, name);
    if (!isArray(files)) continue;
    for (const [index, entry] of files.entries()) {
      if (!isObject(entry)) continue;
      for (const key of referenceFaults(entry)) {
        const path = `evidence_report.${name}[${index}].${key}`;
        issues.push(issue("FILE_REFERENCE_SHAPE", path, referenceMessage(key), hints.referenceHint()));
      }
    }
  }
}

function referenceMessage(key: string): string {
  if (key === "path") return "a file reference needs a non-blank path";
  if (key === "commit") return "a file reference needs a commit of 7 to 64 hexadecimal digits";
  return `a file reference has no key ${hints.shown(key)}`;
}
