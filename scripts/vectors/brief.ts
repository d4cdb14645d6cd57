/** Runs the cases of areas "brief-parse", "ledger-name", "process-block" and "restore". */
import type { Leg, PullRequest, Subject } from "../../src/core/brief/brief.ts";
import { firstStop, parseBrief } from "../../src/core/brief/parse.ts";
import { renderProcess, taskSubject } from "../../src/core/brief/render.ts";
import { planRestore } from "../../src/core/brief/restore.ts";
import type { JsonObject } from "../../src/core/json/value.ts";
import { restoreRowName } from "../../src/core/ledger/row-name.ts";
import type { Phase } from "../../src/core/tracker/phase.ts";
import type { Task } from "../../src/core/tracker/task.ts";

type Block = {
  readonly phases: readonly Phase[];
  readonly tasks: readonly Task[];
  readonly ledger?: Omit<Extract<Subject, { kind: "ledger" }>, "kind">;
  readonly prs?: readonly PullRequest[];
  readonly rework_base?: string;
  readonly legs?: readonly Leg[];
};
type RestoreCase = { readonly text: string; readonly brief: string; readonly spec: string; readonly plan: string };

/** @returns what the case should expect; undefined when it names an operation, which these areas have not */
export function run(op: string, input: unknown): unknown {
  if (op !== "") return undefined;
  const given = input as JsonObject;
  if (typeof given.name === "string") return { name: restoreRowName(given.name) };
  if ("phases" in given) return { text: blockOf(input as Block) };
  return "brief" in given ? restore(input as RestoreCase) : parse((input as { text: string }).text);
}

function parse(text: string) {
  const { brief, issues } = parseBrief(text);
  const found = issues.map(({ line, kind, code }) => ({ line, kind, code }));
  const stop = firstStop(issues);
  if (stop === null) return { stop: null, brief, issues: found };
  return { stop: stop.message, lines: stop.lines ?? (stop.line === 0 ? [] : [stop.line]), issues: found };
}

function blockOf({ phases, tasks, ledger, prs = [], rework_base = undefined, legs = [] }: Block): string {
  const subject: Subject = ledger === undefined ? taskSubject(tasks) : { kind: "ledger", ...ledger };
  return renderProcess({ phases, tasks }, { subject, prs, rework_base: rework_base ?? null, legs });
}

function restore({ text, ...input }: RestoreCase) {
  const { brief } = parseBrief(text);
  if (brief?.process == null) return { stop: "the brief of this case has no process state" };
  const found = planRestore({ process: brief.process, ...input });
  if (found.kind === "calls") return { calls: found.calls };
  if (found.kind === "stop") return { stop: found.message, rows: found.rows };
  return { question: found.question, propose: found.propose };
}
