/**
 * Documents of a contract and their names. A name is a path relative to the read root, kept as it was written, so that
 * a diff that a place returns applies where the file lives.
 *
 * The rules are the same on every machine, the strictest platform's: a contract is checked on one and unpacked on
 * another.
 */
import { quote } from "../acceptance/quoting.ts";
import { utf8Length } from "../utf8.ts";
import type { DelegationIssueCode } from "./issue.ts";
import { findPathCollisions, pathNameFault } from "./path-name.ts";

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

/**
 * Holds the name of a document against the rules of names.
 *
 * @returns the first rule that it breaks; null when it breaks none
 * Units:   lengths in bytes of UTF-8
 * Errors:  none, whatever the text; time is linear in it
 */
export function documentNameFault(name: string): Fault | null {
  const fault = pathNameFault(name);
  return fault === null ? null : { message: `Document name ${quote(name)} ${fault.rule}`, hint: fault.hint };
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
  return findPathCollisions(names).map(({ index, other, why }) => {
    const [before, name] = [names[other] ?? "", names[index] ?? ""];
    return {
      index,
      other,
      message: `Documents ${quote(before)} and ${quote(name)} collide: ${why}`,
      hint: name === before ? "List each document once" : "Rename one of them",
    };
  });
}

/** What the documents of a subtask weigh together: names and texts, in bytes. */
export function documentsSize(documents: readonly Document[]): number {
  return documents.reduce((sum, { name, text }) => sum + utf8Length(name) + utf8Length(text), 0);
}
