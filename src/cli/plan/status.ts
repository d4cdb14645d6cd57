/** `writ plan status`. */
import { defineCommand } from "../command.ts";
import { answerPlan, PLAN_EXITS, PLAN_OPTIONS } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "plan status", description: "Show the tasks of this worktree's flow" },
  args: { ...PLAN_OPTIONS },
  examples: ["writ plan status", "writ plan status --json"],
  exits: PLAN_EXITS,
  run({ args, json, out }) {
    return answerPlan({ action: "status" }, { store: args.store, json, out });
  },
});
