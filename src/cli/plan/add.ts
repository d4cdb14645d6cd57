/** `writ plan add`. */
import { defineCommand } from "../command.ts";
import { answerPlan, PLAN_EXITS, PLAN_OPTIONS, readTasks, TASKS_OPTION } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "plan add", description: "Add pending tasks at the end of the list" },
  args: {
    name: { type: "positional", required: false, multiple: true, description: "The name of a task; one line" },
    ...TASKS_OPTION,
    ...PLAN_OPTIONS,
  },
  examples: ['writ plan add "W3: docs"', "writ plan add --tasks more.json --json"],
  exits: PLAN_EXITS,
  async run({ args, json, out }) {
    const names = (await readTasks(args.name, args.tasks)).map(({ name }) => name);
    return answerPlan({ action: "add", names }, { store: args.store, json, out });
  },
});
