/** `delegation_lint`: `writ lint` for contracts that are at hand. */
import { fileLint } from "../author/lint.ts";
import { subtaskDocument } from "../cli/lint.ts";
import { readArguments, schemaOf } from "./arguments.ts";
import { READ_ROOT, readContractsIn, SUBTASKS } from "./contracts.ts";
import { readRootOf } from "./read-root.ts";
import { answered, type Tool } from "./tool.ts";

const PARAMETERS = {
  subtasks: SUBTASKS,
  read_root: { ...READ_ROOT, description: "Where context_paths are read; relative to the server's read root" },
  strict: { kind: "flag", description: "A warning is an error too" },
} as const;

export const tool: Tool = {
  name: "delegation_lint",
  description:
    "Check delegation contracts before they are sent: every issue of every subtask at once, and a warning for each acceptance check that would prove little. Nothing is run, and no network is used.",
  inputSchema: schemaOf(PARAMETERS),
  reads: true,
  async run(call) {
    const { subtasks: text, read_root, strict } = readArguments(PARAMETERS, call.arguments);
    const { state, subtasks, issues } = fileLint(
      "subtasks",
      readContractsIn("subtasks", text, readRootOf(read_root, call.server)),
    );
    const isWarned = subtasks.some(({ warnings }) => warnings.length > 0);
    const ok = state === "valid" && !(strict === true && isWarned);
    const document = {
      ok,
      status: ok ? "ok" : "no",
      subtasks: subtasks.map(subtaskDocument),
      issues: issues.map((issue) => ({ ...issue })),
    };
    return answered(document, !ok);
  },
};
