/** How the commands of the phase tracker answer. */
import { type Tracked, trackPhase } from "../../brief/track.ts";
import { EXIT, WritError } from "../../core/error.ts";
import type { JsonObject } from "../../core/json/value.ts";
import { type Flow, phaseDocument } from "../../core/tracker/flow.ts";
import { PHASE_NAMES, type PhaseName } from "../../core/tracker/phase.ts";
import type { PhaseCall } from "../../core/tracker/phase-verbs.ts";
import type { Output } from "../command.ts";
import { STORE_OPTION, trackerWorld } from "../flow-world.ts";
import { choiceOperand } from "../operand.ts";

export const PHASE_ARGUMENTS = {
  phase: {
    type: "positional",
    valueHint: "PHASE",
    required: false,
    description: "brainstorm, plan, implement, verify or ship",
  },
} as const;

export const PHASE_OPTIONS = {
  ...STORE_OPTION,
  json: { type: "boolean", description: "Print one JSON document" },
} as const;

export const PHASE_EXITS = {
  0: "done",
  2: "something is missing",
  3: "the state forbids it, or git cannot read the repository",
  4: "the store is locked",
};

/** Errors: `usage` */
export function phaseOperand(text: string | undefined): PhaseName | null {
  return text === undefined ? null : choiceOperand(text, "PHASE", PHASE_NAMES);
}

/** Errors: `usage` for a text of several lines: a status could not be read back. */
export function oneLineText(text: string, what: string): string {
  if (!/[\n\r]/.test(text)) return text;
  throw new WritError("usage", `${what} must be one line`, { hint: "Leave the line breaks out" });
}

/** Carries out a call on the flow of the session checkout, and prints the answer. */
export function answerPhase(
  call: PhaseCall,
  { store, json, out }: { readonly store: string | undefined; readonly json: boolean; readonly out: Output },
): number {
  const { answer, flow } = trackPhase(trackerWorld(store, out), call);
  return printTracked({ answer, flow }, { action: call.action, ...flowDocument(flow) }, json, out);
}

/** Prints an answer. Errors: a refusal, whose text is the tracker's to the letter; its document has the short form and the state */
export function printTracked({ answer }: Tracked, state: JsonObject, json: boolean, out: Output): number {
  if (!answer.ok) {
    const { code, message, error, hint } = answer.refusal;
    throw new WritError(code, message, { hint, layout: "plain", details: { error, ...state } });
  }
  if (json) out.document({ ok: true, ...state });
  else out.line(answer.text);
  return EXIT.ok;
}

/** A flow without its tasks, as JSON. */
export function flowDocument({ armed, reviewed, stamp, phases }: Flow): JsonObject {
  return { armed, reviewed, stamp: stamp === null ? null : { ...stamp }, phases: phases.map(phaseDocument) };
}
