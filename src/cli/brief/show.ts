/** `writ brief show`. */
import type { Brief, ProcessState } from "../../core/brief/brief.ts";
import { prIdentity } from "../../core/brief/brief.ts";
import { firstStop, parseBrief, stopDetails } from "../../core/brief/parse.ts";
import { stop } from "../../core/brief/stop.ts";
import { EXIT, type WritError } from "../../core/error.ts";
import type { JsonObject } from "../../core/json/value.ts";
import { defineCommand } from "../command.ts";
import { readBriefText } from "./read.ts";

export const command = defineCommand({
  meta: { name: "brief show", description: "Print what a handoff brief says" },
  args: {
    file: { type: "positional", required: true, valueHint: "FILE", description: "The brief; - is standard input" },
    json: { type: "boolean", description: "Print one JSON document" },
  },
  examples: ["writ brief show /tmp/pi-handoff/x.md", "writ brief show - --json < x.md"],
  exits: { 0: "printed", 1: "the brief has a stop", 3: "the file is not there, or cannot be read" },
  async run({ args, json, out }) {
    const brief = readWhole(await readBriefText(args.file), args.file === "-" ? null : args.file);
    // A brief is plain JSON; the type system cannot see it.
    if (json) out.document({ ok: true, ...(brief as unknown as JsonObject) });
    else for (const line of summary(brief)) out.line(line);
    return EXIT.ok;
  },
});

/** The brief of a text. Errors: its first stop, under the issue's own code. */
export function readWhole(text: string, path: string | null): Brief {
  const { brief, issues } = parseBrief(text);
  const found = firstStop(issues);
  if (brief !== null && found === null) return brief;
  throw parseStop(text, path);
}

function parseStop(text: string, path: string | null): WritError {
  const found = firstStop(parseBrief(text).issues);
  if (found === null) throw new Error("a text without a stop is no stop");
  return stop("brief_unreadable", found.message, { path, details: stopDetails(text, found), name: found.code });
}

function summary(brief: Brief): readonly string[] {
  const { process, repo_state } = brief;
  const fields = repo_state?.fields ?? null;
  const worktree = fields?.worktree ?? null;
  return [
    `Title: ${brief.title}`,
    `Worktree: ${worktree === null ? "unavailable" : worktree.kind === "yes" ? worktree.path : worktree.kind}`,
    `Branch: ${fields?.branch ?? "unavailable"}`,
    `HEAD: ${fields?.head ?? "unavailable"}`,
    `Decisions: ${brief.decisions.length}`,
    `Open questions: ${brief.open_questions.length}`,
    `Skills: ${listed(brief.skills)}`,
    `Active phase: ${process === null ? "none - plain handoff" : phaseText(process)}`,
    `Tasks: ${process?.plan == null ? "no plan" : `${process.plan.done}/${process.plan.total}`}`,
    `Subject: ${process === null ? "none" : subjectText(process)}`,
    `PRs: ${listed((process?.prs ?? []).map(prIdentity))}`,
    `Members: ${Math.max(process?.legs.length ?? 0, 1)}`,
  ];
}

function phaseText({ active, substep }: ProcessState): string {
  return substep === null ? active : `${active}(${substep})`;
}

function subjectText({ subject }: ProcessState): string {
  return subject.kind === "ledger" ? subject.path : (subject.active_task ?? "none");
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}
