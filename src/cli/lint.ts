/** `writ lint`: what can be said of contract files without running anything. */
import { type FileLint, lintFiles, type SubtaskLint } from "../author/lint.ts";
import { counted } from "../core/counted.ts";
import type { DelegationIssue } from "../core/delegation/issue.ts";
import { WritError } from "../core/error.ts";
import type { JsonObject } from "../core/json/value.ts";
import { assertOneStdin, authorWorld } from "./author-world.ts";
import { defineCommand, type Output } from "./command.ts";
import { JSON_SWITCH } from "./contract/address.ts";
import { printParagraph } from "./paragraph.ts";
import { errorDocument } from "./print.ts";
import { oneLine } from "./table.ts";

export const command = defineCommand({
  meta: { name: "lint", description: "Check delegation contracts, and what their checks would prove" },
  args: {
    file: {
      type: "positional",
      required: true,
      multiple: true,
      valueHint: "FILE",
      description: "A contract file; - is standard input",
    },
    "read-root": { type: "string", valueHint: "DIR", description: "Where the files of context_paths are" },
    strict: { type: "boolean", description: "End in 1 when there is a warning" },
    ...JSON_SWITCH,
  },
  examples: ["writ lint research.json --read-root .", "writ lint --strict --json a.json b.json"],
  notes: [
    "Nothing is run, and neither network nor config is used. Without --read-root the files of context_paths stay unread, and nothing is said of what no document has.",
    "writ docs delegation-contracts says what each warning means and what to do about it.",
  ],
  exits: {
    0: "every file is valid; there may be warnings",
    1: "a file is not valid; with --strict, also when there is a warning",
    2: "a file does not open",
  },
  run({ args, json, out }) {
    assertOneStdin(args.file);
    const files = lintFiles(authorWorld(args["read-root"]), args.file);
    const unopened = files.filter(({ state }) => state === "unopened");
    const isWarned = files.some(({ subtasks }) => subtasks.some(({ warnings }) => warnings.length > 0));
    const isSound = files.every(({ state }) => state === "valid") && !(args.strict && isWarned);
    const exit = unopened.length > 0 ? 2 : isSound ? 0 : 1;
    if (json) out.document(documentOf(files, unopened, exit));
    else for (const file of files) printFile(out, file);
    return exit;
  },
});

function documentOf(
  files: readonly FileLint[],
  unopened: readonly FileLint[],
  exit: number,
): JsonObject & { ok: boolean } {
  const list = files.map(({ file, state, subtasks, issues }) => ({
    file,
    subtasks: subtasks.map(subtaskDocument),
    ...(state === "valid" || state === "invalid" ? {} : { issues: issues.map((issue) => ({ ...issue })) }),
  }));
  if (exit !== 2) return { ok: exit === 0, status: exit === 0 ? "ok" : "no", files: list };
  const issues = unopened.flatMap((file) => file.issues.map((issue) => ({ ...issue, file: file.file })));
  const which = unopened.map(({ file }) => `"${file}"`).join(", ");
  const error = new WritError(
    "bad_contract",
    `${counted(unopened.length, "contract file")} cannot be opened: ${which}`,
    {
      hint: "Name readable files, or - for standard input",
      details: { issues, files: list },
    },
  );
  return errorDocument(error);
}

/** One subtask, as documents have it. */
export function subtaskDocument({ index, valid, issues, warnings, notes }: SubtaskLint): JsonObject {
  return {
    index,
    valid,
    issues: issues.map((issue) => ({ ...issue })),
    warnings: warnings.map((warning) => ({ ...warning })),
    notes,
  };
}

function printFile(out: Output, { file, subtasks, issues }: FileLint): void {
  if (issues.length > 0) {
    out.line(`${oneLine(file)}  invalid  ${codesOf(issues)}`);
    for (const issue of issues) printIssue(out, issue);
  }
  for (const { index, valid, issues: own, warnings, notes } of subtasks) {
    out.line(`${oneLine(file)}[${index}]  ${valid ? "ok" : "invalid"}  ${codesOf(valid ? warnings : own)}`.trimEnd());
    for (const issue of own) printIssue(out, issue);
    for (const { code, path, check, message, hint } of warnings) {
      const about = check === undefined ? "" : ` ${JSON.stringify(check)}`;
      printParagraph(out, `${code} [${path}]${about}: ${message}`, "  ");
      printParagraph(out, hint, "    ");
    }
    for (const note of notes) printParagraph(out, `note: ${note}`, "  ");
  }
}

function printIssue(out: Output, { code, path, message, hint }: DelegationIssue): void {
  printParagraph(out, `${code}${path === "" ? "" : ` [${path}]`}: ${message}`, "  ");
  if (hint !== null) printParagraph(out, hint, "    ");
}

function codesOf(found: readonly { readonly code: string }[]): string {
  return [...new Set(found.map(({ code }) => code))].join(" ");
}
