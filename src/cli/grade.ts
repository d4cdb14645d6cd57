/** `writ grade`: a saved answer, graded as a live one is. */
import { gradeSaved, type SubtaskGrade } from "../author/grade.ts";
import type { Outcome } from "../core/acceptance/evaluate.ts";
import { MAX_RESULT_BYTES } from "../core/delegation/saved-answer.ts";
import type { JsonObject } from "../core/json/value.ts";
import { readBodyFile } from "../host/named-file.ts";
import { readStdinText } from "../host/stdin.ts";
import { sha256 } from "../store/drafts.ts";
import { assertOneStdin, authorWorld } from "./author-world.ts";
import { defineCommand, type Output } from "./command.ts";
import { JSON_SWITCH, wholeNumber } from "./contract/address.ts";
import { printParagraph } from "./paragraph.ts";

export const command = defineCommand({
  meta: { name: "grade", description: "Grade a saved answer by the checks of its contract" },
  args: {
    file: {
      type: "positional",
      required: true,
      valueHint: "FILE",
      description: "The contract file; - is standard input",
    },
    result: {
      type: "string",
      required: true,
      valueHint: "RESULT",
      description: "The saved answer; - is standard input",
    },
    index: { type: "string", valueHint: "N", description: "Only this subtask, from 0" },
    "read-root": { type: "string", valueHint: "DIR", description: "Where the files of context_paths are" },
    ...JSON_SWITCH,
  },
  examples: [
    "writ grade research.json --result result.json --read-root .",
    "writ grade contracts/digests/digest-8.json --result - --index 3 --json",
  ],
  notes: [
    "A saved answer is a result document, one element of its results, a result that writ runs recover kept, or an object with output, structured, diff or diff_files. Nothing is asked again.",
    "What writ runs recover kept names the digest of its contract: of several subtasks it answers the one that has it, read with the read root of the call. --index names another.",
    "A structured result that does not hold against the contract's schema counts as absent. Without --read-root a contract with context_paths has no documents, and its @grounded: checks are unknown.",
  ],
  exits: {
    0: "every check of every subtask passes",
    1: "one does not, or a contract has no check: nothing measured is not passed",
    2: "a file does not open or is not what it should be, or no answer belongs to a subtask",
  },
  async run({ args, json, out }) {
    assertOneStdin([args.file, args.result]);
    const world = {
      ...authorWorld(args["read-root"]),
      sha256,
      readResult: (file: string) =>
        file === "-" ? readStdinText(MAX_RESULT_BYTES) : readBodyFile(file, MAX_RESULT_BYTES),
    };
    const index = wholeNumber(args.index, "--index", 0);
    const grades = await gradeSaved(world, { file: args.file, result: args.result, index });
    const passed = grades.every(({ verdict }) => verdict === "pass");
    if (json) out.document({ ok: passed, status: passed ? "ok" : "no", subtasks: grades.map(gradeDocument) });
    else for (const grade of grades) printGrade(out, args.file, grade);
    return passed ? 0 : 1;
  },
});

/** The grade of one subtask, as documents have it. */
export function gradeDocument({ outcomes, ...grade }: SubtaskGrade): JsonObject {
  const { index, verdict, closed_at, acceptance_lint, notes } = grade;
  return { index, verdict, outcomes: outcomes.map((outcome) => ({ ...outcome })), closed_at, acceptance_lint, notes };
}

function printGrade(out: Output, file: string, grade: SubtaskGrade): void {
  const { index, verdict, outcomes, closed_at, acceptance_lint, notes } = grade;
  out.line(`${file}[${index}]  ${verdict}${closed_at === "none" ? "" : `  closed at ${closed_at} authority`}`);
  for (const outcome of outcomes) printParagraph(out, `${outcome.outcome} ${textOf(outcome)}`, "  ");
  for (const warning of acceptance_lint) printParagraph(out, `lint: ${warning}`, "  ");
  for (const note of notes) printParagraph(out, `note: ${note}`, "  ");
}

/** The reason begins with the check. */
function textOf(outcome: Outcome): string {
  return outcome.outcome === "pass" ? outcome.check : outcome.reason;
}
