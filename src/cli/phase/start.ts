/** `writ phase start`. */
import { defineCommand } from "../command.ts";
import { answerPhase, PHASE_ARGUMENTS, PHASE_EXITS, PHASE_OPTIONS, phaseOperand } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "phase start", description: "Put a phase in progress" },
  args: {
    ...PHASE_ARGUMENTS,
    force: { type: "boolean", description: "Start a phase that is complete or skipped again" },
    ...PHASE_OPTIONS,
  },
  examples: ["writ phase start brainstorm", "writ phase start implement --json"],
  notes: [
    "start brainstorm arms the flow. In an armed flow, implement is entered on a plan that passed plan check as it is now.",
  ],
  exits: PHASE_EXITS,
  run({ args, json, out }) {
    const phase = phaseOperand(args.phase);
    return answerPhase({ action: "start", phase, force: args.force }, { store: args.store, json, out });
  },
});
