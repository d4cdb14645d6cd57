/** The bytes of a contract file, or of standard input. What is in them is judged by `core/delegation/contract.ts`. */
import { fstatSync, type Stats } from "node:fs";
import { quote } from "../core/acceptance/quoting.ts";
import type { DelegationIssue } from "../core/delegation/issue.ts";
import { CONTRACT_LIMITS } from "../core/delegation/limits.ts";
import { WritError } from "../core/error.ts";
import { readFault } from "../core/file-fault.ts";
import { readAll } from "./file.ts";
import { readNamedFile } from "./named-file.ts";

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
  const most = CONTRACT_LIMITS.file_bytes;
  try {
    if (path !== "-") return { ok: true, bytes: readNamedFile(path, most, what) };
    if (fstatSync(0).isDirectory()) return unreadable(what, "it is a folder");
    return { ok: true, bytes: readAll(0, most, what) };
  } catch (error) {
    if (!(error instanceof WritError)) return unreadable(what, readFault(error));
    if (error.code !== "body_too_large") return unreadable(what, error.message);
    return tooLarge(what);
  }
}

/**
 * A contract on standard input that nobody named: it is there when standard input is a file, or a pipe that brings a byte
 * in time. A harness may hand over a pipe that nobody ever writes to or closes.
 *
 * @returns null where nothing came
 * Errors: none is thrown
 */
export async function readOfferedContract(firstByteMs: number): Promise<ReadContractFile | null> {
  const what = "standard input";
  let stat: Stats;
  try {
    stat = fstatSync(0);
  } catch {
    return null; // closed
  }
  if (stat.isFile()) return stat.size === 0 ? null : readContractFile("-");
  if (!stat.isFIFO() && !stat.isSocket()) return null;
  const reader = Bun.stdin.stream().getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), firstByteMs);
  });
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (
      let next = await Promise.race([reader.read(), late]);
      next !== "late" && !next.done;
      next = await reader.read()
    ) {
      clearTimeout(timer);
      pieces.push(next.value);
      size += next.value.length;
      if (size > CONTRACT_LIMITS.file_bytes) return tooLarge(what);
    }
    return size === 0 ? null : { ok: true, bytes: Buffer.concat(pieces) };
  } catch (error) {
    return unreadable(what, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
    // Not awaited: on a pipe that stays open the cancellation may never settle.
    void reader.cancel().catch(() => {});
  }
}

function tooLarge(what: string): ReadContractFile {
  const message = `The contract in ${what} is larger than ${CONTRACT_LIMITS.file_bytes / 1024} KiB`;
  return refused("file_too_large", message, "Name large documents in context_paths");
}

function unreadable(what: string, why: string): ReadContractFile {
  return refused("file_unreadable", `Cannot read ${what}: ${why}`, "Name a readable file, or - for standard input");
}

function refused(code: DelegationIssue["code"], message: string, hint: string): ReadContractFile {
  return { ok: false, issue: { code, path: "", message, hint } };
}
