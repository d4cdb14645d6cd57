/** `writ task list`. */
import { counted } from "../../core/counted.ts";
import { listTasks } from "../../task/task.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { textOf, WORKSPACE_OPTION } from "../operand.ts";
import { tableLines } from "../table.ts";
import { inWorld, openReadingWorld } from "../world.ts";

const HEADER = ["id", "place", "status", "gates passed", "goal"];

export const command = defineCommand({
  meta: { name: "task list", description: "List the tasks of a brief's plan and what their gates say" },
  args: {
    brief: { type: "string", required: true, valueHint: "NAME", description: "The brief" },
    ...WORKSPACE_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ task list --brief checkout-fix", "writ task list --brief checkout-fix --json"],
  exits: { 0: "listed; also when there is none", 3: "no such brief" },
  run({ args, json, out }) {
    const name = { name: args.brief, workspace: textOf(args.workspace) };
    const { brief, tasks } = inWorld(openReadingWorld(), (world) => listTasks(world, name));
    if (json) {
      const documents = tasks.map(({ task, gates, approving }) => ({ ...task, approving, gates }));
      out.document({ ok: true, brief_id: brief.id, count: tasks.length, tasks: documents });
    } else if (tasks.length === 0) out.line("No tasks matched.");
    else {
      const cells = tasks.map(({ task, gates }) => {
        const passed = gates.filter((gate) => gate.status === "pass").length;
        return [task.id, task.order_num, task.status, `${passed} of ${gates.length}`, task.goal];
      });
      for (const line of tableLines(HEADER, cells, out.columns())) out.line(line);
      out.line(`${counted(tasks.length, "task")}.`);
    }
    return 0;
  },
});
