/** The contracts that writ ships, as they lie below contracts/: every file, and every contract in them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ContractDraft, readContracts } from "../../src/core/delegation/contract.ts";
import type { DelegationIssue } from "../../src/core/delegation/issue.ts";
import { JUDGES } from "../../src/core/delegation/judges.ts";

export const CONTRACTS = join(import.meta.dir, "..", "..", "contracts");

/** Every file, by its path from contracts/, sorted. */
export function shippedFiles(): readonly string[] {
  return readdirSync(CONTRACTS, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => statSync(join(CONTRACTS, path)).isFile())
    .sort();
}

export function shippedText(path: string): string {
  return readFileSync(join(CONTRACTS, path), "utf8");
}

/** The paths of the files that hold contracts. */
export function contractFiles(): readonly string[] {
  return shippedFiles().filter((path) => /^(templates|digests)\/[^/]+\.json$|\/contract\.json$/.test(path));
}

/** The contracts of one file; `context_paths` are not read. */
export function readShipped(path: string): {
  readonly issues: readonly DelegationIssue[];
  readonly subtasks: readonly ContractDraft[];
} {
  return readContracts(shippedText(path), JUDGES);
}

/** The only contract of a file. */
export function onlyContract(path: string): ContractDraft {
  const { issues, subtasks } = readShipped(path);
  const [only, ...more] = subtasks;
  if (only === undefined || more.length > 0 || issues.length > 0) {
    throw new Error(`${path} is not one valid contract: ${JSON.stringify(issues)}`);
  }
  return only;
}
