/** The real world of plan check and plan repair. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { PlanWorld, ReadFile } from "../../brief/plan-world.ts";
import { readFault } from "../../core/file-fault.ts";
import { decodeUtf8 } from "../../core/utf8.ts";
import { runGit } from "../../host/git.ts";
import { planFiles } from "../../host/plan-files.ts";
import { writeFileWhole } from "../../host/write-file.ts";
import { sha256 } from "../../store/drafts.ts";
import { flowStore } from "../../store/flow.ts";
import { checkoutAround, storePath } from "../flow-world.ts";

/** A larger plan or spec is not read, in bytes. */
const LARGEST = 8 * 1024 * 1024;

export function planWorld(store: string | undefined): PlanWorld {
  return {
    resolve,
    folderOf: dirname,
    readFile,
    replaceFile: (path, text) => writeFileWhole(realpathSync(path), text),
    toplevelOf: (folder) => checkoutAround(folder).toplevel,
    filesOf: planFiles,
    storeAt: (folder) => flowStore(storePath(checkoutAround(folder), store)),
    git: runGit,
    sha256,
  };
}

export function readFile(path: string): ReadFile | null {
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > LARGEST) return null;
    const bytes = readFileSync(path);
    const decoded = decodeUtf8(bytes);
    return decoded.ok ? { text: decoded.text, sha256: sha256(bytes) } : null;
  } catch {
    return null; // gone, or not ours to read
  }
}

/** Why `readFile` gives nothing, for a person. */
export function whyUnreadable(path: string): string {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return "it is a folder";
    if (!stat.isFile()) return "it is no regular file";
    if (stat.size > LARGEST) return `it has more than ${LARGEST / 1024 / 1024} MiB`;
    const decoded = decodeUtf8(readFileSync(path));
    return decoded.ok ? "it changed meanwhile" : `it is no UTF-8 text: byte ${decoded.offset}`;
  } catch (error) {
    return readFault(error);
  }
}
