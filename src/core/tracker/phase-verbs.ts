/**
 * What `writ phase` decides: the transitions of the five phases, the guards of an armed flow, and every text.
 *
 * Guards are tested from top to bottom; the first that applies is the answer. A transition makes a fresh record of its
 * phase: a reason survives on a skipped phase only, a substep until the phase moves.
 */
import { refuse, type TrackerAnswer } from "./answer.ts";
import { activePhase, type Flow, INITIAL_FLOW, phaseOf, withPhase } from "./flow.ts";
import type { PhaseName } from "./phase.ts";
import type { FlowSettings } from "./settings.ts";
import { renderPhases } from "./status-text.ts";
import type { Task } from "./task.ts";

export type PhaseCall =
  | { readonly action: "status" | "reset" }
  | { readonly action: "start"; readonly phase: PhaseName | null; readonly force: boolean }
  | { readonly action: "complete"; readonly phase: PhaseName | null }
  /** `reason` is null where none was given. */
  | { readonly action: "skip"; readonly phase: PhaseName | null; readonly reason: string | null }
  | { readonly action: "substep"; readonly phase: PhaseName | null; readonly substep: string | null }
  | { readonly action: "observe"; readonly agent: string; readonly exit: number };

/** What the guards look at besides the flow. */
export type PhaseFacts = {
  readonly settings: Pick<FlowSettings, "guards" | "closureReview">;
  /** The SHA-256 of a file's bytes as they are now; null when it cannot be read. */
  readonly digestOf: (path: string) => string | null;
};

const REVIEWER = "conformance-reviewer";

/** Follows the phase status after verify is complete; only its first sentence is fixed. */
export const SHIP_ADVISORY =
  "Verify is complete and ship is pending. Finish the branch now: start ship, deliver what was verified, and complete it, " +
  "or skip ship with a reason.";

/**
 * Carries out one call on a flow.
 *
 * Errors: none; a call that the state forbids is a refusal
 * Source: flow state, sections 3.2 to 3.9
 */
export function movePhase(flow: Flow, call: PhaseCall, facts: PhaseFacts): TrackerAnswer {
  switch (call.action) {
    case "status":
      return { ok: true, flow, text: renderPhases(flow.phases) };
    case "reset": {
      const { tasks } = flow;
      return { ok: true, flow: { ...INITIAL_FLOW, tasks }, text: "Phase tracker reset. All phases pending." };
    }
    case "observe": {
      const reviewed = flow.reviewed || (call.agent === REVIEWER && call.exit === 0);
      return { ok: true, flow: { ...flow, reviewed }, text: `Observed ${call.agent} (exit ${call.exit}).` };
    }
    case "start":
      return call.phase === null ? phaseRequired(call.action) : start(flow, call.phase, call.force, facts);
    case "complete":
      return call.phase === null ? phaseRequired(call.action) : complete(flow, call.phase, facts);
    case "skip":
      return call.phase === null ? phaseRequired(call.action) : skip(flow, call.phase, call.reason);
    case "substep":
      return call.phase === null ? phaseRequired(call.action) : substep(flow, call.phase, call.substep);
    default:
      return call satisfies never;
  }
}

function start(flow: Flow, name: PhaseName, force: boolean, facts: PhaseFacts): TrackerAnswer {
  const { status } = phaseOf(flow, name);
  if (!force && (status === "complete" || status === "skipped")) {
    return refuse(
      "phase_refused",
      `Error: phase_tracker start: phase '${name}' is already ${status}. Pass force: true to restart it intentionally.`,
      `phase '${name}' is already ${status}`,
      `writ phase start ${name} --force`,
    );
  }
  const other = activePhase(flow);
  if (other !== null && other.name !== name) {
    return refuse(
      "phase_refused",
      `Error: phase "${other.name}" is already in_progress. Complete or skip it first.`,
      `${other.name} already in_progress`,
    );
  }
  if (name === "implement") {
    const stopped = stampGuard(flow, facts);
    if (stopped !== null) return stopped;
  }
  const moved = withPhase(flow, { name, status: "in_progress" });
  return done(
    {
      ...moved,
      armed: flow.armed || name === "brainstorm",
      // A rewind must not inherit an earlier review.
      reviewed: flow.reviewed && name !== "implement",
    },
    `Phase "${name}" → in_progress`,
  );
}

/** An armed flow enters implement on a plan that passed plan check as it is now. */
function stampGuard({ armed, stamp }: Flow, { settings, digestOf }: PhaseFacts): TrackerAnswer | null {
  if (!armed || !settings.guards) return null;
  if (stamp === null) {
    return stampRefusal(
      'plan not verified - run plan_check({ planPath: "<plan path>" }) and fix findings before starting implementation',
      "writ plan check <plan>",
    );
  }
  const files = [
    { path: stamp.plan_path, sha256: stamp.plan_sha256 },
    { path: stamp.spec_path, sha256: stamp.spec_sha256 },
  ];
  for (const { path, sha256 } of files) {
    const digest = digestOf(path);
    const hint = `writ plan check ${stamp.plan_path}`;
    if (digest === null) {
      return stampRefusal(
        `plan-check stamp file missing at ${path} - re-run plan_check on the current plan path`,
        hint,
      );
    }
    if (digest !== sha256) {
      return stampRefusal(
        `plan-check stamp is stale: ${path} changed since the last pass - re-run plan_check and retry`,
        hint,
      );
    }
  }
  return null;
}

function stampRefusal(error: string, hint: string): TrackerAnswer {
  return refuse("phase_refused", `Error: ${error}`, error, hint);
}

function complete(flow: Flow, name: PhaseName, facts: PhaseFacts): TrackerAnswer {
  const { status } = phaseOf(flow, name);
  if (status === "complete" || status === "skipped") {
    return refuse("phase_refused", `Error: phase "${name}" is ${status}, cannot complete.`, `${name} is ${status}`);
  }
  if (name === "verify" && flow.armed && facts.settings.closureReview && !flow.reviewed) return reviewRefusal();
  if ((name === "implement" || name === "verify") && flow.armed && facts.settings.guards) {
    const stopped = unfinishedGuard(flow.tasks, name);
    if (stopped !== null) return stopped;
  }
  const moved = withPhase(flow, { name, status: "complete" });
  const answer = done(moved, `Phase "${name}" → complete`);
  if (!answer.ok || name !== "verify" || phaseOf(moved, "ship").status !== "pending") return answer;
  return { ...answer, text: `${answer.text}\n\n${SHIP_ADVISORY}` };
}

function reviewRefusal(): TrackerAnswer {
  return refuse(
    "phase_refused",
    [
      "Error: cannot complete 'verify': no conformance-reviewer dispatch observed.",
      "Record the review that was dispatched and succeeded: writ phase observe conformance-reviewer",
      "or record the human's waiver: writ phase skip verify --reason <text>",
    ].join("\n"),
    "no conformance-reviewer dispatch observed",
    "writ phase observe conformance-reviewer, or writ phase skip verify --reason <text>",
  );
}

function unfinishedGuard(tasks: readonly Task[], name: PhaseName): TrackerAnswer | null {
  const unfinished = tasks.flatMap(({ name: task, status }, index) =>
    status === "pending" || status === "in_progress" ? [`${index}: ${task} (${status})`] : [],
  );
  if (unfinished.length === 0) return null;
  return refuse(
    "phase_refused",
    [
      `Cannot complete ${name}: unfinished tasks:`,
      ...unfinished,
      "Reconcile these same indices against acceptance evidence, update them and retry.",
    ].join("\n"),
    "unfinished tasks",
  );
}

function skip(flow: Flow, name: PhaseName, reason: string | null): TrackerAnswer {
  if (reason === null || reason.trim() === "") {
    return refuse(
      "usage",
      "Error: phase_tracker skip requires a 'reason' string explaining why the phase is being skipped",
      "reason required for skip",
    );
  }
  return done(withPhase(flow, { name, status: "skipped", reason }), `Phase "${name}" → skipped (${reason})`);
}

function substep(flow: Flow, name: PhaseName, given: string | null): TrackerAnswer {
  const { status } = phaseOf(flow, name);
  if (status !== "in_progress") {
    const error = `substep requires an in_progress phase (status is ${status})`;
    return refuse("phase_refused", `Error: phase "${name}": ${error}`, error);
  }
  const label = (given ?? "").trim();
  if (label === "") return done(withPhase(flow, { name, status }), `Phase "${name}" substep cleared`);
  return done(withPhase(flow, { name, status, substep: label }), `Phase "${name}" substep → ${label}`);
}

function done(flow: Flow, first: string): TrackerAnswer {
  return { ok: true, flow, text: `${first}\n${renderPhases(flow.phases)}` };
}

function phaseRequired(action: string): TrackerAnswer {
  return refuse("usage", `Error: phase required for ${action}`, "phase required");
}
