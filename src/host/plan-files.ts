/** The files of a checkout, as plan check asks for them. */
import { type Dirent, existsSync, readdirSync } from "node:fs";
import { isAbsolute, join, normalize, sep } from "node:path";

/** A larger tree is looked at no further. */
const MOST_FILES = 200_000;
const LONGEST_PATTERN = 1_000;

type Expansion =
  | { readonly ok: true; readonly paths: readonly string[] }
  | { readonly ok: false; readonly error: string };

/**
 * Paths relative to a toplevel. The tree is walked once, when the first pattern is asked for; git's own folders are left
 * out, and links are not followed.
 */
export function planFiles(toplevel: string): { exists(path: string): boolean; expand(pattern: string): Expansion } {
  let walked: readonly string[] | null = null;
  return {
    exists: (path) => isInside(path) && existsSync(join(toplevel, path)),
    expand: (pattern) => {
      const error = patternFault(pattern);
      if (error !== null) return { ok: false, error };
      walked ??= walk(toplevel);
      const glob = new Bun.Glob(pattern.replace(/^(?:\.\/)+/, ""));
      return { ok: true, paths: walked.filter((path) => glob.match(path)) };
    },
  };
}

/** A path leads below the toplevel, or to it. */
function isInside(path: string): boolean {
  if (path === "" || path.includes("\0") || isAbsolute(path)) return false;
  const clean = normalize(path);
  return clean !== ".." && !clean.startsWith(`..${sep}`);
}

/** Why a pattern cannot be expanded; null when it can. */
function patternFault(pattern: string): string | null {
  if (pattern.length > LONGEST_PATTERN) return `it is longer than ${LONGEST_PATTERN} characters`;
  if (!isInside(pattern)) return "it leads out of the checkout";
  let braces = 0;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    if (char === "\\") at += 1;
    else if (char === "{") braces += 1;
    else if (char === "}" && braces > 0) braces -= 1;
    else if (char === "[") {
      // A bracket that stands first in its class is one of its characters.
      const first = /^\[[!^]?\]?/.exec(pattern.slice(at))?.[0].length ?? 1;
      const close = pattern.indexOf("]", at + first);
      if (close < 0) return "a [ is never closed";
      at = close;
    }
  }
  return braces > 0 ? "a { is never closed" : null;
}

function walk(toplevel: string): readonly string[] {
  const files: string[] = [];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined && files.length < MOST_FILES; folder = folders.pop()) {
    for (const entry of entriesOf(join(toplevel, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isDirectory()) files.push(path);
      else if (entry.name !== ".git") folders.push(path);
    }
  }
  return files.sort();
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // gone meanwhile, or not ours to read
  }
}
