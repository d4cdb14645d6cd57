/** `writ plan repair`. */
import { recordCheck } from "../../brief/check-plan.ts";
import { type PlanRepair, repairPlanFile } from "../../brief/repair-plan.ts";
import { quoteWords } from "../../core/brief/quote.ts";
import { EXIT, WritError } from "../../core/error.ts";
import { continuationLines, repairFindingText } from "../../core/plan/repair.ts";
import type { Task } from "../../core/tracker/task.ts";
import { defineCommand, type Output } from "../command.ts";
import { STORE_OPTION } from "../flow-world.ts";
import { errorDocument } from "../print.ts";
import { readTaskList, TASKS_OPTION } from "./answer.ts";
import { findingDocument, readingNotes } from "./check.ts";
import { planWorld } from "./world.ts";

export const command = defineCommand({
  meta: { name: "plan repair", description: "Repair the anchors, quotes and paths of a plan, and nothing else" },
  args: {
    plan: { type: "positional", required: true, valueHint: "PLAN.md", description: "The plan" },
    ...TASKS_OPTION,
    ...STORE_OPTION,
    json: { type: "boolean", description: "Print one JSON document" },
  },
  examples: ["writ plan repair doc/plans/cache.md", "writ plan repair doc/plans/cache.md --tasks tasks.json --json"],
  notes: [
    "The tasks, from --tasks or from the flow, tell which are done: only the dead path of one that is done is dropped. They are never changed.",
    "A finding that is no citation ends the repair, and the plan stays as it was. What was repaired is committed when the plan was committed before, and stays in the working copy else.",
  ],
  exits: {
    0: "the plan passes, repaired or as it was",
    1: "a finding is outside of repair, or survived three rounds; the plan is as it was",
    3: "git cannot read the repository",
    4: "the store is locked, or git is missing",
  },
  async run({ args, json, out }) {
    const world = planWorld(args.store);
    const cwd = process.cwd();
    const tasks = args.tasks === undefined ? storedTasks(world, cwd, args.plan) : await readTaskList(args.tasks);
    const found = repairPlanFile(world, { cwd, plan: args.plan, spec: null }, tasks);
    const { toplevel } = found.check;
    if (toplevel !== null) recordCheck(world.storeAt(toplevel), found.check);
    if (found.ok) printRepaired(out, json, found);
    else printStopped(out, json, found);
    return found.ok ? EXIT.ok : EXIT.no;
  },
});

function storedTasks(world: ReturnType<typeof planWorld>, cwd: string, plan: string): readonly Task[] {
  const toplevel = world.toplevelOf(world.folderOf(world.resolve(cwd, plan)));
  return toplevel === null ? [] : world.storeAt(toplevel).read().flow.tasks;
}

function printRepaired(out: Output, json: boolean, found: Extract<PlanRepair, { ok: true }>): void {
  const { rounds, repaired, where, edits } = found;
  if (json) out.document({ ok: true, rounds, repaired, where, edits: edits.map((edit) => ({ ...edit })) });
  else out.line(where === null ? "Plan needs no repair." : `Repaired plan: ${repaired} findings (${where})`);
}

function printStopped(out: Output, json: boolean, { repair, check }: Extract<PlanRepair, { ok: false }>): void {
  const { stop, findings, rounds } = repair;
  const hint = `writ plan check ${quoteWords([check.planPath])}`;
  const lines = stop === null ? continuationLines(findings) : [stop];
  if (json) {
    const details = { rounds, findings: findings.map(findingDocument) };
    const error = new WritError("repair_stopped", lines.join("\n"), { path: check.planPath, hint, details });
    out.document(errorDocument(error));
    return;
  }
  for (const finding of findings) out.line(repairFindingText(finding));
  if (stop === null) for (const line of lines) out.line(line);
  else out.talk(`${stop}\nhint: ${hint}`);
  for (const note of readingNotes(check)) out.talk(note);
}
