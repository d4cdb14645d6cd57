/** `writ phase substep`. */
import { defineCommand } from "../command.ts";
import { answerPhase, oneLineText, PHASE_ARGUMENTS, PHASE_EXITS, PHASE_OPTIONS, phaseOperand } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "phase substep", description: "Say where in a phase the work is" },
  args: {
    ...PHASE_ARGUMENTS,
    label: { type: "positional", required: false, description: "One line; none clears it" },
    ...PHASE_OPTIONS,
  },
  examples: ["writ phase substep implement W2", "writ phase substep implement"],
  exits: PHASE_EXITS,
  run({ args, json, out }) {
    const substep = args.label === undefined ? null : oneLineText(args.label, "substep");
    const phase = phaseOperand(args.phase);
    return answerPhase({ action: "substep", phase, substep }, { store: args.store, json, out });
  },
});
