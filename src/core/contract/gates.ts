/**
 * The gates of a close that need no record and no store: whose draft it is, what it is bound to, what a close owes.
 * They run behind the validator, in the order of the specification; the first that refuses ends the close.
 */
import { WritError } from "../error.ts";
import { isObject, type JsonObject, valueAt, withKey } from "../json/value.ts";
import type { Issue } from "../result.ts";
import { bindingOf, type Links } from "./chain.ts";
import { agentPart, withoutFinalizeKeys } from "./envelope.ts";
import { isText } from "./fold.ts";
import { shown, unboundHint } from "./hints.ts";
import { validationError } from "./rejection.ts";
import type { State } from "./state.ts";
import { effectiveState } from "./validate.ts";

export type CloseInput = {
  readonly draft_id: string;
  /** Valid in form. */
  readonly envelope: JsonObject;
  /** Rows of the chain, own first; empty for a draft without a row. */
  readonly chain: readonly Links[];
  /** `--plan-task-id`, or null. */
  readonly plan_task_id: number | null;
  /** The dispatch marked consolidation. */
  readonly consolidation: boolean;
  /** Whether the task of `--plan-task-id` exists; left out when nobody has looked. */
  readonly task_exists?: boolean;
};

export type CloseDecision =
  | { readonly outcome: "refuse"; readonly error: WritError }
  /** Valid and not a close: `IN_PROGRESS`. */
  | { readonly outcome: "checkpoint"; readonly envelope: JsonObject }
  | {
      readonly outcome: "close";
      /** Without what only a finalize writes, and with the conclusion under its own name. */
      readonly envelope: JsonObject;
      readonly state: State;
      readonly conclusion: string;
      readonly conclusion_alias: "user_facing_summary" | null;
    };

export const OWNERSHIPS: readonly string[] = ["owned_here", "cross_surface_dependency", "not_my_surface"];

/**
 * Decides whether an envelope may close its turn.
 *
 * @returns a refusal, with code `agent_id_mismatch`, `plan_task_id_unresolved`, `blind_verification_required`,
 *          `validation`, `consolidation_required` or `conclusion_required`; or what is to be written
 * Source:  spec/contract.md 9.3, steps 3 to 9
 */
export function closeGate(input: CloseInput): CloseDecision {
  const { draft_id, chain, plan_task_id } = input;
  const envelope = withoutFinalizeKeys(input.envelope);
  const status = valueAt(envelope, "agent_status");
  const agentId = isObject(status) ? (valueAt(status, "agent_id") ?? null) : null;
  if (agentId !== agentPart(draft_id)) return refuse(agentIdMismatch(draft_id, shown(agentId)));
  if (plan_task_id !== null && input.task_exists === false) return refuse(unresolvedTask(plan_task_id));

  const state = effectiveState(envelope);
  if (state === null || state === "IN_PROGRESS") return { outcome: "checkpoint", envelope };
  const binding = bindingOf(chain, plan_task_id);
  if (state === "COMPLETE" && binding.plan_task_id !== null) return refuse(blindVerification(binding.plan_task_id));
  if (state === "NEEDS_VERIFICATION" && binding.plan_task_id === null && binding.parent_handoff_id === null) {
    return refuse(validationError([unboundIssue()]));
  }
  if (input.consolidation && !isConsolidated(envelope)) return refuse(consolidationRequired());
  return conclude(envelope, state, draft_id);
}

/** The issue of a turn that asks for verification and is bound to nothing. */
export function unboundIssue(): Issue {
  return {
    code: "NEEDS_VERIFICATION_UNBOUND",
    path: "agent_status.agent_state",
    message: "NEEDS_VERIFICATION needs a plan task or a parent handoff, and this turn is bound to neither",
    hint: unboundHint(),
  };
}

function isConsolidated(envelope: JsonObject): boolean {
  const report = valueAt(envelope, "consolidation_report");
  const ownership = isObject(report) ? valueAt(report, "ownership_assessment") : undefined;
  return typeof ownership === "string" && OWNERSHIPS.includes(ownership);
}

function conclude(envelope: JsonObject, state: State, draftId: string): CloseDecision {
  const conclusion = valueAt(envelope, "conclusion");
  if (isText(conclusion)) return { outcome: "close", envelope, state, conclusion, conclusion_alias: null };
  const summary = valueAt(envelope, "user_facing_summary");
  if (!isText(summary)) return refuse(conclusionRequired(draftId));
  const alias = "user_facing_summary";
  const aliased = withKey(withKey(envelope, "conclusion", summary), "conclusion_alias", alias);
  return { outcome: "close", envelope: aliased, state, conclusion: summary, conclusion_alias: alias };
}

function refuse(error: WritError): CloseDecision {
  return { outcome: "refuse", error };
}

function agentIdMismatch(draftId: string, agentId: string): WritError {
  const own = agentPart(draftId);
  return new WritError(
    "agent_id_mismatch",
    `agent_status.agent_id is ${agentId}, and draft "${draftId}" is of "${own}"`,
    {
      path: "agent_status.agent_id",
      hint: `writ contract set --draft-id ${draftId} agent_status.agent_id ${own}`,
    },
  );
}

function unresolvedTask(id: number): WritError {
  return new WritError("plan_task_id_unresolved", `--plan-task-id ${id} names no task`, {
    hint: "writ task list --brief NAME shows the tasks",
    details: { plan_task_id: id },
  });
}

function blindVerification(id: number): WritError {
  const message = `a producer bound to plan task ${id} closes NEEDS_VERIFICATION, not COMPLETE`;
  return new WritError("blind_verification_required", message, {
    path: "agent_status.agent_state",
    hint: "writ contract set agent_status.agent_state NEEDS_VERIFICATION; a verifier then settles the gate of the task",
    details: { plan_task_id: id },
  });
}

function consolidationRequired(): WritError {
  const message = `the dispatch asked for consolidation: consolidation_report needs an ownership_assessment of ${OWNERSHIPS.join(", ")}`;
  return new WritError("consolidation_required", message, {
    status: "rejected",
    path: "consolidation_report",
    hint: `writ contract fill --json '{"consolidation_report":{"ownership_assessment":"owned_here","confirmed_findings":[]}}'`,
  });
}

function conclusionRequired(draftId: string): WritError {
  const message = `conclusion is missing. Write it: writ contract set --draft-id ${draftId} conclusion '...'`;
  return new WritError("conclusion_required", message, { status: "rejected", path: "conclusion" });
}
