/** How a delegation is answered, ended or not. */
import { fitResult } from "../core/delegation/fit-result.ts";
import { renderPrinted } from "../core/delegation/render-result.ts";
import type { JsonObject } from "../core/json/value.ts";
import type { Ended, LiveCall } from "./calls.ts";
import { answered, type ToolAnswer } from "./tool.ts";

/** The largest document that is sent whole, in bytes. */
export const MOST_DOCUMENT_BYTES = 200_000;

/** What is printed around a document: `"ok":false,`. */
const AROUND_BYTES = 11;

/** A document, or a leg of it, as small as it has to be. */
export function answerOfDocument(text: string, run_id: string, ok: boolean): ToolAnswer {
  const printed = renderPrinted(fitResult(text, run_id, MOST_DOCUMENT_BYTES - AROUND_BYTES), ok);
  // The text is exact; the library's value is an object, in which numbers are as good as a double.
  return { text: printed, value: JSON.parse(printed) as JsonObject, isError: !ok, talk: [] };
}

/**
 * An error only where nothing succeeded and something failed or was lost: clients cut or discard what is in an error.
 *
 * Source: delegation run, section 9.1
 */
export function isWorthReading(summary: Readonly<Record<string, number | undefined>>): boolean {
  const { succeeded = 0, failed = 0, infrastructure = 0 } = summary;
  return succeeded > 0 || failed + infrastructure === 0;
}

/** Errors: a defect of the call is thrown */
export function answerOfEnded(ended: Ended): ToolAnswer {
  if (ended.kind === "defect") throw ended.error;
  return answerOfDocument(ended.text, ended.run_id, isWorthReading({ ...ended.summary }));
}

/** The handle of a call that goes on. */
export function answerOfLive({ run_id, legs, done, summary }: LiveCall): ToolAnswer {
  return runningAnswer(run_id, { legs, done }, { ...summary });
}

/** The same for a run that another process carries out. */
export function runningAnswer(
  run_id: string,
  counts: { readonly legs: number; readonly done: number },
  summary: Readonly<Record<string, number>>,
): ToolAnswer {
  const hint = "call delegation_result with this run_id";
  return answered({ ok: true, status: "running", run_id, ...counts, summary, hint }, false);
}
