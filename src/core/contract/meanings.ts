/** What each field and each state is for, in the words of a help page. Which there are is `envelope.ts`'s business. */
import { AGENT_KEYS, EVIDENCE_KEYS, pathOf, STATUS_KEYS, VERIFICATION_KEYS } from "./envelope.ts";
import type { State } from "./state.ts";

type PathsOf<L extends string, K extends string> = L extends "" ? K : `${L}.${K}`;
type DeclaredPath =
  | (typeof AGENT_KEYS)[number]
  | PathsOf<"agent_status", (typeof STATUS_KEYS)[number]>
  | PathsOf<"evidence_report", (typeof EVIDENCE_KEYS)[number]>;

/** By path, one line each. */
export const FIELD_MEANINGS: Readonly<Record<DeclaredPath, string>> = {
  agent_status: "where the turn stands",
  "agent_status.agent_state": "one of the six states, written last",
  "agent_status.agent_id": "the draft id before its first dot",
  "agent_status.pending_steps": "what is left to do",
  "agent_status.next_action": "what comes next, never blank",
  evidence_report: "what the turn found and ran; its lists may be empty",
  "evidence_report.patterns_checked": "searches, above all those that found nothing",
  "evidence_report.files_checked": 'paths, or {"path","commit"}; those recorded come first',
  "evidence_report.commands_run": "rewritten from the record at the close",
  "evidence_report.key_outputs": "findings",
  "evidence_report.verbatim_outputs": "quotes of outputs, in one of the forms below",
  "evidence_report.cross_layer_impacts": "what the change reaches outside its own place",
  "evidence_report.open_gaps": "what is unknown or undone",
  "evidence_report.verification": "the claim that the record is held against",
  conclusion: "the verdict: what holds, on what evidence, what is open",
  report_prose: "narrative for the next agent, never evidence",
  approval_request: "exact_content, and the approval_id that was printed",
  consolidation_report: "ownership_assessment, where the dispatch asks for it",
  failure_report: "attempted, symptom, evidence: written in one fill",
  memory_delta: "a proposal, stored as it is",
  update_contracts: "proposals to project context, and evidence",
  user_facing_summary: "the old name of conclusion",
  rollback_executed: "advisory",
  context_consumption: "advisory",
};

/** By state: when it is declared, and what its close needs besides a valid envelope and a conclusion. */
export const STATE_NEEDS: Readonly<Record<State, string>> = {
  IN_PROGRESS: "the turn goes on: finalize keeps a checkpoint, and closes nothing",
  APPROVAL_REQUEST: "waits for consent: approval_request.exact_content",
  BLOCKED: "an obstacle that someone else owns: a next_action",
  NEEDS_INPUT: "a question: a next_action",
  NEEDS_VERIFICATION: "done, and another turn judges it: a task or a parent bound",
  COMPLETE: "done: verification.result pass, next_action done, pending_steps []",
};

/** What is read of `evidence_report.verification`, by key. */
export const VERIFICATION_MEANINGS: Readonly<Record<(typeof VERIFICATION_KEYS)[number], string>> = {
  type: "what kind of check it was",
  command: "the command, exactly as it ran",
  result: "pass, or what happened",
  expect_exit: "the exit it should end in, when that is not 0",
  requires_human: "that a person has to judge it",
  reviewed: "what was reviewed",
  evidence_ids: "numbers that writ evidence add printed: positive, and of this turn's brief and task",
  method: "how, in prose",
  details: "more, in prose",
};

/** Where a key of a level stands in `FIELD_MEANINGS`. */
export function meaningOf(level: "" | "agent_status" | "evidence_report", key: string): string {
  const path = pathOf(level, key);
  return Object.hasOwn(FIELD_MEANINGS, path) ? FIELD_MEANINGS[path as DeclaredPath] : "";
}
