/**
 * What stands at a path below a folder, found segment by segment: no link is followed, whatever it points to, and
 * nothing that is no regular file is opened, since opening a pipe waits for its writer.
 */
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { quote } from "../core/acceptance/quoting.ts";
import { foldPath } from "../core/delegation/path-name.ts";
import type { Refusal } from "../core/seat/workspace.ts";

/** A folder on the way to a place, as it was found. */
export type Step = { readonly path: string; readonly stat: BigIntStats };

export type Place = {
  readonly ok: true;
  /** As the system takes it. */
  readonly path: string;
  /** Null: nothing is there. A link never is. */
  readonly stat: BigIntStats | null;
  /** The root and the folders on the way that are there, outermost first. */
  readonly folders: readonly Step[];
  /** The folders on the way that are not, outermost first. */
  readonly missing: readonly string[];
};

/**
 * Walks to a place.
 *
 * @param root a folder that the caller trusts; no link itself, though it may be reached through links
 * @param path normalised, relative, `/` between segments; `.` for the root
 * @param find `"as_named"`: a name that differs from one that is there in case or Unicode form alone is refused, since
 *             the two are one file on some platforms
 * @returns    the place; refused where a link stands on the way or at its end, or where a folder is due and none is
 * Errors:     none; what the system refuses is a refusal of kind "failed"
 * Source:     delegation run, section 6.2
 */
export function findPlace(root: string, path: string, find: "any" | "as_named" = "any"): Place | Refusal {
  const segments = path === "." ? [] : path.split("/");
  const folders: Step[] = [];
  const missing: string[] = [];
  try {
    let here = root;
    let stat: BigIntStats | null = lookAt(root);
    if (!stat?.isDirectory()) return refusal("failed", `${quote(root)} is no folder`);
    for (const [index, segment] of segments.entries()) {
      const walked = segments.slice(0, index).join("/");
      if (stat === null) missing.push(here);
      else if (stat.isDirectory()) folders.push({ path: here, stat });
      else return refusal("refused", `${quote(walked)} is ${kindOf(stat)}, no folder`);
      if (find === "as_named" && stat !== null) {
        const other = siblingOf(here, segment);
        if (other !== null) {
          return refusal(
            "refused",
            `${quote(prefixed(walked, segment))} differs from ${quote(prefixed(walked, other))} in case or Unicode form alone`,
          );
        }
      }
      here = join(here, segment);
      stat = stat === null ? null : lookAt(here);
      if (stat?.isSymbolicLink()) return refusal("refused", `${quote(prefixed(walked, segment))} is a link`);
    }
    return { ok: true, path: here, stat, folders, missing };
  } catch (error) {
    return refusal("failed", reasonOf(error));
  }
}

/**
 * The bytes of a regular file that was walked to.
 *
 * @param stat as it was found; another file in its place is not read
 * @returns    null where the file is larger than allowed; judged by what was read
 * Errors:     those of the file system
 */
export function readPlace(path: string, stat: BigIntStats, maxBytes: number): Uint8Array | null {
  const file = openToRead(path, stat);
  try {
    // One byte more than there should be says whether there is more.
    let bytes = new Uint8Array(Math.min(Number(stat.size), maxBytes) + 1);
    let size = 0;
    for (;;) {
      const length = readSync(file, bytes, size, bytes.length - size, null);
      size += length;
      if (size > maxBytes) return null;
      if (length === 0) return bytes.subarray(0, size);
      if (size < bytes.length) continue;
      const larger = new Uint8Array(Math.min(2 * bytes.length, maxBytes + 1));
      larger.set(bytes);
      bytes = larger;
    }
  } finally {
    closeSync(file);
  }
}

/** Opens the regular file that was walked to, and no other. Errors: those of the file system; another file. */
export function openToRead(path: string, stat: BigIntStats): number {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  const opened = fstatSync(file, { bigint: true });
  if (opened.isFile() && isSameNode(opened, stat)) return file;
  closeSync(file);
  throw new Error("it changed while it was looked at");
}

export function isSameNode(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** Null when nothing is there. Errors: those of the file system. */
export function lookAt(path: string): BigIntStats | null {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
}

export function kindOf(stat: BigIntStats): string {
  if (stat.isFile()) return "a file";
  if (stat.isDirectory()) return "a folder";
  if (stat.isSymbolicLink()) return "a link";
  if (stat.isFIFO()) return "a named pipe";
  return stat.isSocket() ? "a socket" : "a device";
}

/** The system's words, without the path that it puts behind them. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split(", ", 1)[0] ?? message;
}

export function refusal(kind: Refusal["kind"], message: string): Refusal {
  return { ok: false, kind, message };
}

/** Another name in a folder that is this one on some platform; null where the name itself is there, or none. */
function siblingOf(folder: string, name: string): string | null {
  const folded = foldPath(name);
  const alike = readdirSync(folder).filter((other) => foldPath(other) === folded);
  return alike.includes(name) ? null : (alike[0] ?? null);
}

function prefixed(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
