/**
 * Documents of a contract and their names. A name is a path relative to the read root, kept as it was written, so that
 * a diff that a place returns applies where the file lives.
 *
 * The rules are the same on every machine, the strictest platform's: a contract is checked on one and unpacked on
 * another.
 */
import { quote } from "../acceptance/quoting.ts";
import { utf8Length } from "../utf8.ts";
import { deviceOf } from "./device-name.ts";
import type { DelegationIssueCode } from "./issue.ts";
import { CONTRACT_LIMITS } from "./limits.ts";

export type Document = { readonly name: string; readonly text: string };

/** Why something is refused; `message` names it. */
export type Fault = { readonly message: string; readonly hint: string | null };

/** Why an entry of `context_paths` gave no document. `index` is its place in the list; null: the read root itself. */
export type PathFault = Fault & { readonly index: number | null; readonly code: DelegationIssueCode };

/** What reading `context_paths` gave: in the order of the list, each with its place; a fault for each that gave none. */
export type DocumentsRead = {
  readonly documents: readonly { readonly index: number; readonly document: Document }[];
  readonly faults: readonly PathFault[];
};

/** Reads the entries of one subtask's `context_paths`, all of them. */
export type DocumentReader = (paths: readonly string[]) => DocumentsRead;

/** What no file of some platform can have in its name, or what a diff header would have to quote. */
const FORBIDDEN = /[\\:"<>|?*\u0000-\u001f\u007f]/;

/**
 * Holds the name of a document against the rules of names.
 *
 * @returns the first rule that it breaks; null when it breaks none
 * Units:   lengths in bytes of UTF-8
 * Errors:  none, whatever the text; time is linear in it
 */
export function documentNameFault(name: string): Fault | null {
  const fault = (rule: string, hint: string | null = null): Fault => ({
    message: `Document name ${quote(name)} ${rule}`,
    hint,
  });
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

/** Two documents that would be one file, by their places in the list: the later one is `index`. */
export type Collision = Fault & { readonly index: number; readonly other: number };

/**
 * Documents whose names are one file, or a file and a folder at once, where case and Unicode form do not count.
 *
 * @param names each without a fault of its own
 * @returns     at most one for each name, in the order of the list
 * Errors:      none; time is linear in the names
 */
export function findCollisions(names: readonly string[]): readonly Collision[] {
  const files = new Map<string, number>();
  const folders = new Map<string, number>();
  const found: Collision[] = [];
  names.forEach((name, index) => {
    const folded = foldPath(name);
    const parents = parentsOf(folded);
    const same = files.get(folded);
    const file = parents.map((parent) => files.get(parent)).find((place) => place !== undefined);
    const below = folders.get(folded);
    const other = same ?? file ?? below;
    if (other !== undefined) {
      const before = names[other] ?? "";
      const why = same === undefined ? "the one is a folder of the other" : whySame(name, before);
      found.push({
        index,
        other,
        message: `Documents ${quote(before)} and ${quote(name)} collide: ${why}`,
        hint: name === before ? "List each document once" : "Rename one of them",
      });
    }
    if (same === undefined) files.set(folded, index);
    for (const parent of parents) if (!folders.has(parent)) folders.set(parent, index);
  });
  return found;
}

/** What the documents of a subtask weigh together: names and texts, in bytes. */
export function documentsSize(documents: readonly Document[]): number {
  return documents.reduce((sum, { name, text }) => sum + utf8Length(name) + utf8Length(text), 0);
}

function whySame(name: string, other: string): string {
  if (name === other) return "they have one name";
  return name.normalize("NFC") === other.normalize("NFC")
    ? "they are spelled with the same letters in two Unicode forms"
    : "they differ in nothing but case";
}

function foldPath(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/** `a/b/c` has the parents `a` and `a/b`. */
function parentsOf(name: string): readonly string[] {
  const parents: string[] = [];
  for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) parents.push(name.slice(0, at));
  return parents;
}

/** Without the spaces and dots at its end. */
export function withoutTail(segment: string): string {
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
