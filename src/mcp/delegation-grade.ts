/** `delegation_grade`: `writ grade` for an answer that is at hand. */
import { gradeAnswers } from "../author/grade.ts";
import { gradeDocument } from "../cli/grade.ts";
import { WritError } from "../core/error.ts";
import { sha256 } from "../store/drafts.ts";
import { badInput, type Parameters, readArguments, schemaOf, type ValuesOf } from "./arguments.ts";
import { badContracts, CONTRACT_SCHEMA, READ_ROOT, readContractsIn } from "./contracts.ts";
import { readRootOf } from "./read-root.ts";
import { answered, type Tool } from "./tool.ts";

const PARAMETERS = {
  contract: {
    kind: "json",
    required: true,
    schema: { ...CONTRACT_SCHEMA, type: ["object", "array"] },
    description: "The delegation contract, or a list of them with index",
  },
  output: { kind: "text", description: "The answer as text" },
  structured: { kind: "json", schema: {}, description: "The answer as the object that output_schema asks for" },
  diff: { kind: "text", description: "A unified diff" },
  diff_files: { kind: "texts", description: "The changed paths, where there is no diff to read them from" },
  result: {
    kind: "json",
    schema: { type: "object" },
    description:
      "In place of the four: a result document, one element of its results, or what runs recover kept of a job",
  },
  index: { kind: "number", least: 0, most: 7, description: "Only this subtask, from 0" },
  read_root: { ...READ_ROOT, description: "Where context_paths are read; relative to the server's read root" },
} as const satisfies Parameters;

const PARTS = ["output", "structured", "diff", "diff_files"] as const;

export const tool: Tool = {
  name: "delegation_grade",
  description:
    "Grade an answer by the acceptance checks of its delegation contract, as a live one is graded: pass, fail or unknown for each check, with its reason. Give output, structured, diff or diff_files, or a result. Nothing is asked again.",
  inputSchema: schemaOf(PARAMETERS),
  reads: true,
  async run(call) {
    const values = readArguments(PARAMETERS, call.arguments);
    const answer = answerOf(values);
    const read = readContractsIn("contract", values.contract, readRootOf(values.read_root, call.server));
    if (read.issues.length > 0) throw badContracts(read.issues);
    const index = indexOf(values, read.subtasks.length);
    const request = { file: "contract", result: "result", index };
    const grades = inThisCall(() => gradeAnswers({ sha256 }, read.subtasks, answer, request));
    const ok = grades.every(({ verdict }) => verdict === "pass");
    return answered({ ok, status: ok ? "ok" : "no", subtasks: grades.map(gradeDocument) }, !ok);
  },
};

/** A result that does not pair: what names a subtask is an argument here. */
function inThisCall<T>(grade: () => T): T {
  try {
    return grade();
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== "no_pair") throw error;
    const hint = error.hint?.replace("--index N", "index") ?? null;
    throw new WritError("no_pair", error.message, { path: "/result", hint });
  }
}

/** Which subtask is graded; null: as the result says. Errors: `bad_input` */
function indexOf({ index, result }: ValuesOf<typeof PARAMETERS>, count: number): number | null {
  const hint = `There are ${count} subtasks, from 0`;
  if (index === undefined && result === undefined && count > 1) {
    const message = `"contract" has ${count} subtasks, and the answer is of one: "index" says which`;
    throw badInput([{ code: "missing_argument", path: "/index", message, hint }]);
  }
  if (index !== undefined && index >= count) {
    const message = `"contract" has no subtask ${index}`;
    throw badInput([{ code: "bad_argument", path: "/index", message, hint: count === 1 ? "There is one: 0" : hint }]);
  }
  return index ?? null;
}

/** The saved answer as a file would have it. Errors: `bad_input` */
function answerOf(values: ValuesOf<typeof PARAMETERS>): string {
  const given = PARTS.filter((part) => values[part] !== undefined);
  const { result, structured, output, diff, diff_files } = values;
  if ((result === undefined) === (given.length === 0)) {
    const message =
      result === undefined
        ? "There is no answer to grade"
        : `"result" and ${given.map((part) => `"${part}"`).join(", ")} are given: one answer is graded at a time`;
    const hint = "Give output, structured, diff or diff_files, or a result";
    throw badInput([{ code: "missing_argument", path: "", message, hint }]);
  }
  if (result !== undefined) return result;
  const texts = Object.entries({ output, diff, diff_files }).flatMap(([key, value]) =>
    value === undefined ? [] : [`${JSON.stringify(key)}:${JSON.stringify(value)}`],
  );
  return `{${[...texts, ...(structured === undefined ? [] : [`"structured":${structured}`])].join(",")}}`;
}
