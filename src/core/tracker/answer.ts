/** What a tracker says to a call: done, with the new state, or refused, with the old one kept. */
import type { Flow } from "./flow.ts";

export type Refusal = {
  /** "usage": something is missing on the command line. */
  readonly code: "phase_refused" | "plan_refused" | "usage";
  /** The whole text, as it is printed; several lines for some. */
  readonly message: string;
  /** The short form of the JSON document. */
  readonly error: string;
  /** What to type now; null where the message says it all. */
  readonly hint: string | null;
};

export type TrackerAnswer =
  | {
      readonly ok: true;
      readonly flow: Flow;
      /** The answer as printed, without a final newline. */
      readonly text: string;
    }
  | { readonly ok: false; readonly refusal: Refusal };

export function refuse(
  code: Refusal["code"],
  message: string,
  error: string,
  hint: string | null = null,
): TrackerAnswer {
  return { ok: false, refusal: { code, message, error, hint } };
}
