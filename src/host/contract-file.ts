/** The bytes of a contract file, or of standard input. What is in them is judged by `core/delegation/contract.ts`. */
import { closeSync, fstatSync, openSync } from "node:fs";
import { quote } from "../core/acceptance/quoting.ts";
import type { DelegationIssue } from "../core/delegation/issue.ts";
import { CONTRACT_LIMITS } from "../core/delegation/limits.ts";
import { WritError } from "../core/error.ts";
import { readAll } from "./file.ts";

export type ReadContractFile =
  | { readonly ok: true; readonly bytes: Uint8Array }
  /** `file_unreadable` or `file_too_large`, without `file`. */
  | { readonly ok: false; readonly issue: DelegationIssue };

/**
 * Reads a contract file whole, up to its limit.
 *
 * @param path `-` is standard input
 * Errors: none is thrown for a file that cannot be read
 */
export function readContractFile(path: string): ReadContractFile {
  const what = path === "-" ? "standard input" : quote(path);
  let file: number | null = null;
  try {
    file = path === "-" ? 0 : openSync(path, "r");
    if (fstatSync(file).isDirectory()) return unreadable(what, "it is a folder");
    return { ok: true, bytes: readAll(file, CONTRACT_LIMITS.file_bytes, what) };
  } catch (error) {
    if (!(error instanceof WritError)) return unreadable(what, error instanceof Error ? error.message : String(error));
    if (error.code !== "body_too_large") return unreadable(what, error.message);
    const message = `The contract in ${what} is larger than ${CONTRACT_LIMITS.file_bytes / 1024} KiB`;
    return refused("file_too_large", message, "Name large documents in context_paths");
  } finally {
    if (file !== null && file !== 0) closeSync(file);
  }
}

function unreadable(what: string, why: string): ReadContractFile {
  return refused("file_unreadable", `Cannot read ${what}: ${why}`, "Name a readable file, or - for standard input");
}

function refused(code: DelegationIssue["code"], message: string, hint: string): ReadContractFile {
  return { ok: false, issue: { code, path: "", message, hint } };
}
