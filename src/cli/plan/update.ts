/** `writ plan update`. */
import { WritError } from "../../core/error.ts";
import { SETTABLE_STATUSES, type TaskStatus } from "../../core/tracker/task.ts";
import { defineCommand } from "../command.ts";
import { choiceOperand } from "../operand.ts";
import { answerPlan, PLAN_EXITS, PLAN_OPTIONS } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "plan update", description: "Set the status of a task" },
  args: {
    index: { type: "positional", required: false, description: "Its place in the list, from 0" },
    status: { type: "positional", required: false, description: "in_progress, complete, failed or skipped" },
    ...PLAN_OPTIONS,
  },
  examples: ["writ plan update 0 in_progress", "writ plan update 0 complete --json"],
  notes: ["Pending tasks stand behind all others: tasks are taken up in their order."],
  exits: PLAN_EXITS,
  run({ args, json, out }) {
    const index = args.index === undefined ? null : indexOperand(args.index);
    const status = args.status === undefined ? null : statusOperand(args.status);
    return answerPlan({ action: "update", index, status }, { store: args.store, json, out });
  },
});

/** A status that no task can be set to is the tracker's to refuse, by its own text. Errors: `usage` */
function statusOperand(text: string): TaskStatus {
  return text === "pending" ? text : choiceOperand(text, "STATUS", SETTABLE_STATUSES);
}

/** Errors: `usage` */
function indexOperand(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new WritError("usage", `INDEX takes the place of a task, not "${text}"`, {
    hint: "writ plan status shows the places",
  });
}
