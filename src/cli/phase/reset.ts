/** `writ phase reset`. */
import { defineCommand } from "../command.ts";
import { answerPhase, PHASE_EXITS, PHASE_OPTIONS } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "phase reset", description: "Put every phase back to pending" },
  args: { ...PHASE_OPTIONS },
  examples: ["writ phase reset", "writ phase reset --json"],
  notes: ["Clears the stamp, the review and the handoff mark too. The tasks stay: writ plan clear takes them."],
  exits: PHASE_EXITS,
  run({ args, json, out }) {
    return answerPhase({ action: "reset" }, { store: args.store, json, out });
  },
});
