/** `writ plan init`. */
import { defineCommand } from "../command.ts";
import { answerPlan, PLAN_EXITS, PLAN_OPTIONS, readTasks, TASKS_OPTION } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "plan init", description: "Set the task list, in place of what was there" },
  args: {
    name: { type: "positional", required: false, multiple: true, description: "The name of a task; one line" },
    ...TASKS_OPTION,
    ...PLAN_OPTIONS,
  },
  examples: ['writ plan init "W1: contract" "W2: producer"', "writ plan init --tasks tasks.json"],
  notes: ["Pending tasks stand behind all others."],
  exits: PLAN_EXITS,
  async run({ args, json, out }) {
    const tasks = await readTasks(args.name, args.tasks);
    return answerPlan({ action: "init", tasks }, { store: args.store, json, out });
  },
});
