/**
 * Paths that can be the name of a file on every platform and stand in the header of a diff without quotes: those of
 * documents, and those that a seat may write.
 */
import { quote } from "../acceptance/quoting.ts";
import { utf8Length } from "../utf8.ts";
import { deviceOf } from "./device-name.ts";
import { CONTRACT_LIMITS } from "./limits.ts";

/** What no file of some platform can have in its name, or what a diff header would have to quote. */
const FORBIDDEN = /[\\:"<>|?*\u0000-\u001f\u007f]/;

/** A rule that a path breaks, in words that follow the path. */
export type NameFault = { readonly rule: string; readonly hint: string | null };

/**
 * Holds a path against the rules of names, the strictest platform's on every one.
 *
 * @param name relative, with `/` between segments
 * @returns    the first rule that it breaks; null when it breaks none
 * Units:      lengths in bytes of UTF-8
 * Errors:     none, whatever the text; time is linear in it
 * Source:     delegation contract, section 1.6; delegation run, section 6.2
 */
export function pathNameFault(name: string): NameFault | null {
  const fault = (rule: string, hint: string | null = null): NameFault => ({ rule, hint });
  if (name === "") return fault("is empty", "Give each document a name, such as src/port.ts");
  const { name_bytes, segment_bytes } = CONTRACT_LIMITS;
  const size = utf8Length(name);
  if (size > name_bytes) return fault(`has ${size} bytes; at most ${name_bytes} are allowed`);
  const forbidden = FORBIDDEN.exec(name)?.[0];
  if (forbidden !== undefined) {
    const hint = forbidden === "\\" ? 'Write "/" between folders' : null;
    return fault(`contains ${nameOf(forbidden)}`, hint);
  }
  if (name.startsWith("/")) return fault('starts with "/"; it must be relative to the read root');
  if (name.endsWith("/")) return fault('ends with "/"; it must name a file');
  const segments = name.split("/");
  for (const segment of segments) {
    if (segment === "") return fault("has an empty segment");
    if (segment === "." || segment === "..") return fault(`has a segment "${segment}"`, "Write the path without it");
    const kept = withoutTail(segment);
    if (kept !== segment) {
      const became = segments.map(withoutTail).join("/");
      return fault(
        `has a segment that ends in a ${segment.endsWith(".") ? "dot" : "space"}: it would become ${quote(became)}`,
        "Two names would be one file where such endings are dropped",
      );
    }
    const device = deviceOf(segment);
    if (device !== null) return fault(`has a segment that names the device "${device}"`);
    const length = utf8Length(segment);
    if (length > segment_bytes) {
      return fault(`has a segment of ${length} bytes; at most ${segment_bytes} are allowed`);
    }
  }
  return null;
}

/** Two paths that cannot both be, by their places in the list: the later one is `index`. */
export type PathCollision = { readonly index: number; readonly other: number; readonly why: string };

/**
 * Paths that are one file, or a file and a folder at once, where case and Unicode form do not count.
 *
 * @param names each without a fault of its own
 * @returns     at most one for each name, in the order of the list
 * Errors:      none; time is linear in the names
 */
export function findPathCollisions(names: readonly string[]): readonly PathCollision[] {
  const files = new Map<string, number>();
  const folders = new Map<string, number>();
  const found: PathCollision[] = [];
  names.forEach((name, index) => {
    const folded = foldPath(name);
    const parents = parentsOf(folded);
    const same = files.get(folded);
    const file = parents.map((parent) => files.get(parent)).find((place) => place !== undefined);
    const below = folders.get(folded);
    const other = same ?? file ?? below;
    if (other !== undefined) {
      const why = same === undefined ? "the one is a folder of the other" : whySame(name, names[other] ?? "");
      found.push({ index, other, why });
    }
    if (same === undefined) files.set(folded, index);
    for (const parent of parents) if (!folders.has(parent)) folders.set(parent, index);
  });
  return found;
}

/** Two names that are one where case and Unicode form do not count are equal when folded. */
export function foldPath(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function whySame(name: string, other: string): string {
  if (name === other) return "they have one name";
  return name.normalize("NFC") === other.normalize("NFC")
    ? "they are spelled with the same letters in two Unicode forms"
    : "they differ in nothing but case";
}

/** `a/b/c` has the parents `a` and `a/b`. */
function parentsOf(name: string): readonly string[] {
  const parents: string[] = [];
  for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) parents.push(name.slice(0, at));
  return parents;
}

/** Without the spaces and dots at its end. */
function withoutTail(segment: string): string {
  let end = segment.length;
  while (end > 0 && (segment[end - 1] === " " || segment[end - 1] === ".")) end -= 1;
  return segment.slice(0, end);
}

function nameOf(forbidden: string): string {
  const code = forbidden.charCodeAt(0);
  if (code === 0) return "NUL";
  if (code >= 0x20 && code !== 0x7f) return `the character ${forbidden === '"' ? "'\"'" : `"${forbidden}"`}`;
  return `the control character U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
