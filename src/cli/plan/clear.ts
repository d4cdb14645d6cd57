/** `writ plan clear`. */
import { defineCommand } from "../command.ts";
import { answerPlan, PLAN_EXITS, PLAN_OPTIONS } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "plan clear", description: "Empty the task list" },
  args: { ...PLAN_OPTIONS },
  examples: ["writ plan clear", "writ plan clear --json"],
  exits: PLAN_EXITS,
  run({ args, json, out }) {
    return answerPlan({ action: "clear" }, { store: args.store, json, out });
  },
});
