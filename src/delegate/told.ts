/** What is told of attempts that did not bring a result, each in one line. */
import { cut } from "../core/acceptance/quoting.ts";
import type { Attempt } from "../core/delegation/result.ts";
import type { Decision } from "../core/placement/deal.ts";
import type { PlaceOutcome } from "../core/placement/port.ts";
import type { Abandoned, Ended } from "./attempt.ts";

/** Where a job was when the call was stopped. */
export function stoppedText(
  { job, spot, doing }: Pick<Ended, "job" | "spot" | "doing">,
  outcome: Extract<PlaceOutcome, { kind: "stopped" }> | Abandoned,
): string {
  const what = `job ${job.job_id} on ${spot.place}`;
  if (outcome.kind === "abandoned") {
    const verb = outcome.was_stopped ? "stop" : "end";
    return `${what} did not ${verb} within ${Math.round(outcome.after_sec)}s and was abandoned (${doing})`;
  }
  switch (outcome.state) {
    case "withdrawn":
      return `${what} was withdrawn before it started`;
    case "running":
      return `job ${job.job_id} still running on ${spot.place}, not taken back${outcome.why === undefined || outcome.why === "" ? "" : ` (${cut(outcome.why)})`}`;
    case "stopped":
      return `${what} was stopped (${doing})`;
    default:
      return outcome.state satisfies never;
  }
}

/** What a place said or did instead of a result; "" for one that ran the leg. */
export function outcomeText(ended: Ended, outcome: Ended["outcome"] = ended.outcome): string {
  switch (outcome.kind) {
    case "refused": {
      const status = [outcome.http === null ? "" : String(outcome.http), outcome.code].filter((part) => part !== "");
      const said = status.length === 0 ? "no answer" : status.join(" ");
      return outcome.message === "" ? said : `${said} (${cut(outcome.message)})`;
    }
    case "withdrawn":
      return `taken back before it started${outcome.message === "" ? "" : ` (${cut(outcome.message)})`}`;
    case "gave_up":
    case "failed":
    case "lost":
      return outcome.reason;
    case "silent":
      return `silent for ${Math.round(outcome.silent_sec)}s`;
    case "stopped":
    case "abandoned":
      return stoppedText(ended, outcome);
    case "ran":
      return "";
    default:
      return outcome satisfies never;
  }
}

/** The status of an attempt that brought no result. */
export function attemptStatus(outcome: Exclude<Ended["outcome"], { kind: "ran" }>): Attempt["status"] {
  switch (outcome.kind) {
    case "refused":
    case "withdrawn":
    case "failed":
      return outcome.kind;
    case "lost":
      return "failed";
    case "gave_up":
      return "deferred";
    case "stopped":
      return outcome.state === "withdrawn" ? "withdrawn" : "abandoned";
    case "silent":
    case "abandoned":
      return "abandoned";
    default:
      return outcome satisfies never;
  }
}

/** The soonest moment at which a place may have room, in seconds; 0: nobody can say. */
export function soonestSec(
  decision: Decision,
  now_ms: number,
  cooldowns: ReadonlyMap<string, { until_ms: number }>,
): number {
  const waits = decision.survey.flatMap(({ place, miss, able }) => {
    if (!place.probe.ok || miss === null || able.length === 0) return [];
    const { new_job_wait_sec, recent_wall_sec } = place.probe.record;
    const cooling = miss.word === "cooldown" ? ((cooldowns.get(place.name)?.until_ms ?? now_ms) - now_ms) / 1000 : null;
    const expected = cooling ?? new_job_wait_sec ?? recent_wall_sec;
    return expected === null ? [] : [Math.max(1, expected)];
  });
  return waits.length === 0 ? 0 : Math.min(...waits);
}
