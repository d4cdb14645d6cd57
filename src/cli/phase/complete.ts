/** `writ phase complete`. */
import { defineCommand } from "../command.ts";
import { answerPhase, PHASE_ARGUMENTS, PHASE_EXITS, PHASE_OPTIONS, phaseOperand } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "phase complete", description: "Complete a phase" },
  args: { ...PHASE_ARGUMENTS, ...PHASE_OPTIONS },
  examples: ["writ phase complete brainstorm", "writ phase complete verify --json"],
  notes: [
    "In an armed flow, verify is completed after a conformance review was observed, and neither implement nor verify while a task is pending or in progress.",
  ],
  exits: PHASE_EXITS,
  run({ args, json, out }) {
    const phase = phaseOperand(args.phase);
    return answerPhase({ action: "complete", phase }, { store: args.store, json, out });
  },
});
