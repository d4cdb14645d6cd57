/** `writ task set`. */
import { TASK_STATUSES } from "../../core/task/verdict.ts";
import { setTask } from "../../task/task.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { choiceOperand, idOperand } from "../operand.ts";
import { inWorld, openWorld } from "../world.ts";

export const command = defineCommand({
  meta: { name: "task set", description: "Set the status of a task by hand" },
  args: {
    "task-id": { type: "positional", required: true, description: "The id that task add printed" },
    status: { type: "positional", required: true, description: "done, skipped or pending" },
    ...JSON_SWITCH,
  },
  examples: ["writ task set 4 skipped", "writ task set 4 done --json"],
  notes: ["A turn that worked on the task does not set it done: a verifier settles its gates."],
  exits: { 0: "set", 3: "no such task, or done by its own producer" },
  run({ args, json, out }) {
    const id = idOperand(args["task-id"], "TASK_ID");
    const status = choiceOperand(args.status, "STATUS", TASK_STATUSES);
    const { task, before } = inWorld(openWorld(), (world) => setTask(world, id, status));
    if (json) out.document({ ok: true, ...task, before });
    else out.line(`task id=${task.id} ${task.status}${before === task.status ? ", as it was" : ""}`);
    return 0;
  },
});
