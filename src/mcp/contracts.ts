/** Delegation contracts that came as an argument: read by the reader of contract files, and by nothing before it. */
import { counted } from "../core/counted.ts";
import { type ReadContracts, readContracts } from "../core/delegation/contract.ts";
import type { DelegationIssue } from "../core/delegation/issue.ts";
import { JUDGES } from "../core/delegation/judges.ts";
import { WritError } from "../core/error.ts";
import type { JsonObject } from "../core/json/value.ts";
import { documentReader } from "../host/read-root.ts";
import type { Parameter } from "./arguments.ts";

/** What clients see of one contract. The reader takes more: an unknown member is a warning to it. */
export const CONTRACT_SCHEMA: JsonObject = {
  type: "object",
  required: ["goal"],
  properties: {
    goal: { type: "string" },
    context_paths: { type: "array", items: { type: "string" }, maxItems: 16 },
    context: {
      type: "array",
      maxItems: 16,
      items: {
        type: "object",
        required: ["name", "text"],
        properties: { name: { type: "string" }, text: { type: "string" } },
      },
    },
    output_schema: { type: "object" },
    acceptance: { type: "array", items: { type: "string" } },
    profile: { type: "string", description: "research (default), general or edit" },
    thinking: { type: "string", description: "auto (default), on or off" },
    max_steps: { type: "integer" },
    timeout_sec: { type: "integer" },
    write_root: { type: "string" },
  },
};

/** From 1 to 8 contracts. */
export const SUBTASKS = {
  kind: "json",
  required: true,
  schema: { type: "array", minItems: 1, maxItems: 8, items: CONTRACT_SCHEMA },
} as const satisfies Parameter;

/** `read_root` of every tool that reads documents. */
export const READ_ROOT = { kind: "text" } as const satisfies Parameter;

/**
 * @param name the argument, where the pointers of issues begin
 * @param text as it was written
 * @param root where `context_paths` are read
 * Errors: none; what is wrong is among the issues
 */
export function readContractsIn(name: string, text: string, root: string): ReadContracts {
  const read = readContracts(text, { ...JUDGES, base: `/${name}`, readDocuments: documentReader(root) });
  // An option is nothing that a call can give.
  const issues = read.issues.map((issue) => ({
    ...issue,
    hint: issue.hint?.replaceAll("--read-root", "read_root") ?? null,
  }));
  return { ...read, issues };
}

/** The contracts of a call are not valid, and nothing was done. @param issues at least one */
export function badContracts(issues: readonly DelegationIssue[]): WritError {
  const count = counted(issues.length, "issue");
  return new WritError("bad_contract", `The contracts of the call are not valid: ${count}; nothing ran`, {
    details: { issues: issues.map((issue) => ({ ...issue })) },
  });
}
