/** What each field and each state is for, in the words of a help page. Which there are is `envelope.ts`'s business. */
import {
  type AGENT_KEYS,
  type EVIDENCE_KEYS,
  type Level,
  pathOf,
  type STATUS_KEYS,
  type VERIFICATION_KEYS,
} from "./envelope.ts";
import type { State } from "./state.ts";

type PathsOf<L extends string, K extends string> = L extends "" ? K : `${L}.${K}`;
type DeclaredPath =
  | (typeof AGENT_KEYS)[number]
  | PathsOf<"agent_status", (typeof STATUS_KEYS)[number]>
  | PathsOf<"evidence_report", (typeof EVIDENCE_KEYS)[number]>;

type OtherKey = Exclude<(typeof VERIFICATION_KEYS)[number], "type" | "command" | "requires_human" | "reviewed">;

/** By path, one line each, as it stands on a help page behind the field's type. */
export const FIELD_MEANINGS: Readonly<Record<DeclaredPath, string>> = {
  agent_status: "where the turn stands",
  "agent_status.agent_state": "one of the six states, written last",
  "agent_status.agent_id": "the draft id before its first dot",
  "agent_status.pending_steps": "what is left to do",
  "agent_status.next_action": "what comes next, never blank",
  evidence_report: "what was found and run; a list may be empty",
  "evidence_report.patterns_checked": "searches, above all those that found nothing",
  "evidence_report.files_checked": 'paths, or {"path":"...","commit":"..."}',
  "evidence_report.commands_run": "rewritten from the record at the close",
  "evidence_report.key_outputs": "findings",
  "evidence_report.verbatim_outputs": "quotes of outputs, see below",
  "evidence_report.cross_layer_impacts": "what the change reaches elsewhere",
  "evidence_report.open_gaps": "what is unknown or undone",
  "evidence_report.verification": "the claim that is checked, see below",
  consolidation_report: "ownership_assessment, where it was asked for",
  approval_request: "exact_content, approval_id",
  failure_report: "attempted, symptom, evidence: in one fill",
  conclusion: "the verdict; every close needs one",
  report_prose: "narrative, never evidence",
  memory_delta: "proposals, for others to decide on",
  update_contracts: "proposals, for others to decide on",
  user_facing_summary: "the old name of conclusion",
  rollback_executed: "advisory, never judged",
  context_consumption: "advisory, never judged",
};

/** By state: what it says, and what its close needs besides a conclusion. */
export const STATE_NEEDS: Readonly<Record<State, string>> = {
  IN_PROGRESS: "the turn goes on: finalize keeps it and closes nothing",
  APPROVAL_REQUEST: "waits for consent; needs approval_request.exact_content",
  BLOCKED: "waits for someone else; needs nothing more",
  NEEDS_INPUT: "waits for someone else; needs nothing more",
  NEEDS_VERIFICATION: "another turn judges; needs a task or a parent bound",
  COMPLETE: "needs result pass, next_action done, pending_steps []",
};

/** What is read of `evidence_report.verification` besides a type and what it owes, by key. */
export const VERIFICATION_MEANINGS: Readonly<Record<OtherKey, string>> = {
  result: "pass, or what happened",
  expect_exit: "when it is not 0",
  evidence_ids: "[7], from writ evidence add",
  method: "prose",
  details: "prose",
};

/** The meaning of a declared field; `""` for what is none. */
export function meaningOf(level: Level, key: string): string {
  const path = pathOf(level, key);
  return Object.hasOwn(FIELD_MEANINGS, path) ? FIELD_MEANINGS[path as DeclaredPath] : "";
}
