/**
 * Reading `context_paths` below a read root: each entry gives exactly one document or says why not.
 *
 * No link is followed below the root, whatever it points to: a name is a path that a diff applies to. Nothing is opened
 * that is no regular file, since opening a pipe waits for its writer.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { isAbsolute, join, normalize, sep } from "node:path";
import { quote } from "../core/acceptance/quoting.ts";
import type { Document, DocumentReader, DocumentsRead, Fault, PathFault } from "../core/delegation/document.ts";
import type { DelegationIssueCode } from "../core/delegation/issue.ts";
import { CONTRACT_LIMITS } from "../core/delegation/limits.ts";
import { readFault } from "../core/file-fault.ts";
import { decodeUtf8 } from "../core/utf8.ts";

const KIB = 1024;

/**
 * A reader for one read root, which is resolved once, at the first entry that is asked for.
 *
 * @param root a folder; it may be reached through links
 * @param open what opens a file; a test puts something else into its place first
 * Errors: none is thrown; a root that is no folder is a fault `read_root` of no entry
 */
export function documentReader(root: string, open: Open = openSync): DocumentReader {
  let resolved: string | Refusal | null = null;
  return (paths) => {
    resolved ??= resolveRoot(root);
    return typeof resolved === "string"
      ? readAllBelow(resolved, paths, open)
      : { documents: [], faults: [{ ...resolved, index: null }] };
  };
}

/** The entries of one `context_paths`, read below a root. See `documentReader`. */
export function readDocuments(root: string, paths: readonly string[]): DocumentsRead {
  return documentReader(root)(paths);
}

type Open = (path: string, flags: number) => number;

type Refusal = Fault & { readonly code: DelegationIssueCode };

/** Leaves the walk; never seen outside of this file. */
class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

function refuse(code: DelegationIssueCode, entry: string, why: string, hint: string | null = null): never {
  throw new Refused({ code, message: `Cannot read context path ${quote(entry)}: ${why}`, hint });
}

function resolveRoot(root: string): string | Refusal {
  const refused = (why: string): Refusal => ({
    code: "read_root",
    message: `Cannot use ${quote(root)} as the read root: ${why}`,
    hint: "Name a folder with --read-root",
  });
  try {
    const path = realpathSync(root);
    return statSync(path).isDirectory() ? path : refused("it is no folder");
  } catch (error) {
    return refused(codeOf(error) === "ENOENT" ? "it does not exist" : readFault(error));
  }
}

function readAllBelow(root: string, paths: readonly string[], open: Open): DocumentsRead {
  const documents: { index: number; document: Document }[] = [];
  const faults: PathFault[] = [];
  paths.forEach((entry, index) => {
    try {
      documents.push({ index, document: readBelow(root, entry, open) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      faults.push({ ...error.refusal, index });
    }
  });
  return { documents, faults };
}

function readBelow(root: string, entry: string, open: Open): Document {
  if (entry === "") refuse("path_empty", entry, "it is empty");
  if (entry.includes("\0")) refuse("path_nul", entry, "it contains NUL");
  const walked = walk(root, entry, segmentsBelow(root, entry));
  const bytes = readFile(entry, walked, open);
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) refuse("not_text", entry, `byte ${decoded.offset} is no UTF-8`, "Only text can be a document");
  return { name: walked.map(({ name }) => name).join("/"), text: decoded.text };
}

/** The entry, split, and relative to the root. By words alone. */
function segmentsBelow(root: string, entry: string): readonly string[] {
  const separators = sep === "\\" ? /[\\/]/ : /\//;
  // A drive without a root (`C:x`) is as absolute as `C:\x`: it is relative to another folder than this one.
  if (!isAbsolute(entry) && !(sep === "\\" && /^[A-Za-z]:/.test(entry))) return entry.split(separators);
  const path = normalize(entry);
  if (path === root) return ["."];
  const prefix = root.endsWith(sep) ? root : root + sep;
  if (!path.startsWith(prefix)) outside(root, entry);
  return path.slice(prefix.length).split(separators);
}

function outside(root: string, entry: string): never {
  return refuse("path_outside", entry, `it is outside of the read root ${quote(root)}`, "Name another --read-root");
}

/** A folder or file on the way, as it was found. */
type Step = { readonly name: string; readonly path: string; readonly stat: BigIntStats };

/** Follows the entry on the real tree, without following links. */
function walk(root: string, entry: string, segments: readonly string[]): readonly Step[] {
  const steps: Step[] = [];
  segments.forEach((segment, index) => {
    if (segment === "" || segment === ".") return;
    if (segment === "..") {
      if (steps.pop() === undefined) outside(root, entry);
      return;
    }
    const path = join(steps.at(-1)?.path ?? root, segment);
    const stat = look(root, entry, path);
    if (stat.isSymbolicLink()) refuse("path_link", entry, `${quote(segment)} is a link`, "Name the file itself");
    if (index < segments.length - 1 && !stat.isDirectory()) {
      refuse("path_not_a_directory", entry, `${quote(segment)} is no folder`);
    }
    steps.push({ name: segment, path, stat });
  });
  const last = steps.at(-1);
  if (last === undefined || last.stat.isDirectory()) {
    refuse("path_is_a_directory", entry, "it is a folder", "Name each file");
  }
  if (!last.stat.isFile()) refuse("path_not_a_file", entry, `it is ${kindOf(last.stat)}, no regular file`);
  return steps;
}

function look(root: string, entry: string, path: string): BigIntStats {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    const code = codeOf(error);
    // A name that is too long for the file system is the name of nothing.
    if (isGone(code) || code === "ENAMETOOLONG") {
      refuse("path_missing", entry, `there is no such file in ${quote(root)}`, "Name another --read-root");
    }
    return refuse("file_unreadable", entry, readFault(error));
  }
}

/** The bytes of the file that was walked to. */
function readFile(entry: string, walked: readonly Step[], open: Open): Uint8Array {
  const file = openLast(entry, walked, open);
  try {
    const opened = fstatSync(file, { bigint: true });
    const isSame = opened.isFile() && isSameNode(opened, walked.at(-1)?.stat);
    // The way is looked at again: a folder on it that was exchanged for a link would have led elsewhere.
    if (!isSame || walked.some(({ path, stat }) => !isSameNode(lstatSync(path, { bigint: true }), stat)))
      changed(entry);
    return readUpTo(file, CONTRACT_LIMITS.document_bytes, entry);
  } catch (error) {
    if (error instanceof Refused) throw error;
    if (isGone(codeOf(error))) changed(entry);
    return refuse("file_unreadable", entry, readFault(error));
  } finally {
    closeSync(file);
  }
}

function openLast(entry: string, walked: readonly Step[], open: Open): number {
  try {
    // Neither a link nor a pipe that took the file's place since it was looked at is followed or waited for.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    return open(walked.at(-1)?.path ?? "", flags);
  } catch (error) {
    const code = codeOf(error);
    if (isGone(code) || code === "ELOOP") changed(entry);
    return refuse("file_unreadable", entry, readFault(error));
  }
}

function isGone(code: string | null): boolean {
  return code === "ENOENT" || code === "ENOTDIR";
}

function readUpTo(file: number, limit: number, entry: string): Uint8Array {
  const bytes = Buffer.alloc(limit + 1);
  let size = 0;
  while (size <= limit) {
    const length = readSync(file, bytes, size, limit + 1 - size, null);
    if (length === 0) break;
    size += length;
  }
  if (size <= limit) return bytes.subarray(0, size);
  return refuse("file_too_large", entry, `it is larger than ${limit / KIB} KiB`, "Cut it to what the goal needs");
}

function changed(entry: string): never {
  return refuse("path_changed", entry, "it changed while it was looked at", "Try again");
}

function isSameNode(one: BigIntStats, other: BigIntStats | undefined): boolean {
  return one.dev === other?.dev && one.ino === other.ino;
}

function kindOf(stat: BigIntStats): string {
  if (stat.isFIFO()) return "a pipe";
  if (stat.isSocket()) return "a socket";
  return "a device";
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
