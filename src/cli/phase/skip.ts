/** `writ phase skip`. */
import { defineCommand } from "../command.ts";
import { answerPhase, oneLineText, PHASE_ARGUMENTS, PHASE_EXITS, PHASE_OPTIONS, phaseOperand } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "phase skip", description: "Skip a phase, with the reason why" },
  args: {
    ...PHASE_ARGUMENTS,
    reason: { type: "string", valueHint: "TEXT", description: "Why it is skipped; one line" },
    ...PHASE_OPTIONS,
  },
  examples: ['writ phase skip ship --reason "delivered by hand"', 'writ phase skip verify --reason "waived by Ada"'],
  exits: PHASE_EXITS,
  run({ args, json, out }) {
    const reason = args.reason === undefined ? null : oneLineText(args.reason, "reason");
    const phase = phaseOperand(args.phase);
    return answerPhase({ action: "skip", phase, reason }, { store: args.store, json, out });
  },
});
