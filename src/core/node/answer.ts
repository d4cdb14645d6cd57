/**
 * What a node answers, as status and body. Every error body has one shape.
 *
 * Source: delegation run, sections 7.2 to 7.7
 */
import { PROTOCOL } from "../placement/eligibility.ts";
import { isTerminal, type JobView, NODE_ERRORS, type NodeErrorCode, renderView } from "./job.ts";
import type { CancelAnswer, NodeRecord, SubmitAnswer } from "./service.ts";
import type { Refusal } from "./submit.ts";

export type Answer = {
  readonly status: number;
  /** A JSON text. */
  readonly body: string;
  /** For `Retry-After`. */
  readonly retryAfterSec?: number;
  /** For `Allow`. */
  readonly allow?: string;
};

type More = {
  readonly hint?: string | null;
  readonly issues?: Refusal["issues"];
  readonly retryAfterSec?: number | undefined;
  readonly allow?: string | undefined;
};

export function errorAnswer(code: NodeErrorCode, message: string, more: More = {}): Answer {
  const { hint = null, issues, retryAfterSec, allow } = more;
  const error = { code, path: null, message, hint, ...(issues === undefined ? {} : { issues }) };
  return {
    status: NODE_ERRORS[code],
    body: JSON.stringify({ error }),
    ...(retryAfterSec === undefined ? {} : { retryAfterSec }),
    ...(allow === undefined ? {} : { allow }),
  };
}

export const NO_SUCH_JOB = errorAnswer("not_found", "There is no such job here");

export function healthAnswer(record: NodeRecord): Answer {
  return { status: 200, body: JSON.stringify({ ok: true, ...record }) };
}

/** All that is told to somebody without the token. */
export const REDUCED_HEALTH: Answer = { status: 200, body: JSON.stringify({ ok: true, protocol: PROTOCOL }) };

/** An acknowledgement: the view of the job, and how long it will probably wait. */
export function submitAnswer(answer: SubmitAnswer): Answer {
  if (answer.kind === "refused") return errorAnswer(answer.code, answer.message, answer);
  const { new_job_wait_sec, view } = answer;
  return {
    status: 202,
    body: `${renderView(view).slice(0, -1)},"new_job_wait_sec":${JSON.stringify(new_job_wait_sec)}}`,
  };
}

export function viewAnswer(view: JobView | null): Answer {
  return view === null ? NO_SUCH_JOB : { status: 200, body: renderView(view) };
}

export function resultAnswer(view: JobView | null): Answer {
  if (view === null) return NO_SUCH_JOB;
  if (view.state === "done" && view.result !== undefined) return { status: 200, body: view.result };
  const there = isTerminal(view.state) ? "it ended without a result" : "it has no result yet";
  return errorAnswer("not_done", `Job ${view.job_id} is ${view.state}: ${there}`);
}

/** Where a job could not be taken back, its view stands beside the error: there may be a result in it. */
export function cancelAnswer(answer: CancelAnswer): Answer {
  switch (answer.kind) {
    case "canceled":
      return { status: 200, body: JSON.stringify({ state: "canceled", withdrawn: true }) };
    case "stopping":
      return viewAnswer(answer.view);
    case "running":
      return beside(answer.view, "running", `Job ${answer.view.job_id} runs`, "With force=1 it is stopped");
    case "terminal":
      return beside(answer.view, "terminal", `Job ${answer.view.job_id} has ended: ${answer.view.state}`, null);
    case "unknown":
      return NO_SUCH_JOB;
    default:
      return answer satisfies never;
  }
}

function beside({ error: _, ...view }: JobView, code: NodeErrorCode, message: string, hint: string | null): Answer {
  const { status, body } = errorAnswer(code, message, { hint });
  return { status, body: `${body.slice(0, -1)},${renderView(view).slice(1)}` };
}

export function recentAnswer(views: readonly JobView[]): Answer {
  return { status: 200, body: JSON.stringify({ jobs: views }) };
}
