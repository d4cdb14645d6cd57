/** `writ task add`. */
import { addTask, checkGoal } from "../../task/task.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { textOf, WORKSPACE_OPTION } from "../operand.ts";
import { inWorld, openWorld } from "../world.ts";

export const command = defineCommand({
  meta: { name: "task add", description: "Put a task at the end of a brief's plan" },
  args: {
    brief: { type: "string", required: true, valueHint: "NAME", description: "The brief" },
    goal: { type: "string", required: true, valueHint: "TEXT", description: "What the task is to achieve" },
    ...WORKSPACE_OPTION,
    ...JSON_SWITCH,
  },
  examples: [
    "writ task add --brief checkout-fix --goal 'Round the total'",
    "writ task add --brief checkout-fix --goal 'Add the missing test' --json",
  ],
  notes: ["The plan of a brief is made with its first task."],
  exits: { 0: "added", 2: "a blank goal", 3: "no such brief" },
  run({ args, json, out }) {
    const name = { name: args.brief, workspace: textOf(args.workspace) };
    checkGoal(args.goal);
    const task = inWorld(openWorld(), (world) => addTask(world, name, args.goal));
    if (json) out.document({ ok: true, ...task });
    else out.line(`task id=${task.id}`);
    return 0;
  },
});
