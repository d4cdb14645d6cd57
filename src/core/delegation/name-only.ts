/**
 * Whether a changed fixture set differs from the old one in names alone, and so needs no runs beside it.
 *
 * Decided from the parsed JSON of both. The mapping of words is handed back for a reviewer: no rule can know that a
 * replaced word is a name.
 */
import { kindOf } from "../acceptance/evidence.ts";
import { counted } from "../counted.ts";
import { compactSource, type SourceMember, type SourceNode, type SourceObject } from "../json/source.ts";
import { pointerTo } from "./pointer.ts";

/** A word and what stands in its place. */
export type Renaming = { readonly old: string; readonly new: string };

export type NameOnly =
  /** `mapping`: only words that changed, in the order in which they first stand in the set. */
  | { readonly exempt: true; readonly mapping: readonly Renaming[] }
  /** The first difference: `path` is a JSON pointer into both files. */
  | { readonly exempt: false; readonly path: string; readonly message: string };

/**
 * Compares two sets.
 *
 * @param before the old set, read strictly
 * @param after  the new one
 * Errors: none. Time is linear in the two texts
 * Source: delegation contract, section 8.7
 */
export function judgeNameOnly(before: SourceNode, after: SourceNode): NameOnly {
  try {
    return { exempt: true, mapping: new Comparison().sets(before, after) };
  } catch (error) {
    if (error instanceof Differs) return { exempt: false, path: error.path, message: error.message };
    throw error;
  }
}

/** Leaves the comparison at the first difference; never seen outside of this file. */
class Differs extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

type Pair<T> = { readonly old: T; readonly new: T };

class Comparison {
  private readonly forth = new Map<string, string>();
  private readonly back = new Map<string, string>();

  sets(before: SourceNode, after: SourceNode): readonly Renaming[] {
    if (before.kind !== "array") throw new Differs("", `the old set is no list but ${kindOf(before)}`);
    if (after.kind !== "array") throw new Differs("", `the new set is no list but ${kindOf(after)}`);
    const counts = { old: before.items.length, new: after.items.length };
    if (counts.old !== counts.new) throw new Differs("", `${counted(counts.old, "subtask")} became ${counts.new}`);
    for (const [index, old] of before.items.entries()) {
      const next = after.items[index];
      if (next !== undefined) this.subtasks({ old, new: next }, pointerTo("", index));
    }
    return [...this.forth].filter(([old, now]) => old !== now).map(([old, now]) => ({ old, new: now }));
  }

  private subtasks(pair: Pair<SourceNode>, path: string): void {
    const objects = bothObjects(pair, path);
    if (objects === null) return;
    const members = sameKeys(objects, path);
    for (const [key, values] of members) {
      if (key !== "goal" && key !== "context") identical(values, pointerTo(path, key));
    }
    const context = members.get("context");
    const renamed = context === undefined ? false : this.documents(context, pointerTo(path, "context"));
    const goal = members.get("goal");
    if (goal === undefined) return;
    if (!renamed && compactSource(goal.old) !== compactSource(goal.new)) {
      throw new Differs(pointerTo(path, "goal"), "the goal differs, and no document of this subtask was renamed");
    }
    this.texts(goal, pointerTo(path, "goal"));
  }

  /** True when a document's name differs. */
  private documents(pair: Pair<SourceNode>, path: string): boolean {
    if (pair.old.kind !== "array" || pair.new.kind !== "array") {
      identical(pair, path);
      return false;
    }
    const counts = { old: pair.old.items.length, new: pair.new.items.length };
    if (counts.old !== counts.new) throw new Differs(path, `${counted(counts.old, "document")} became ${counts.new}`);
    let renamed = false;
    for (const [index, old] of pair.old.items.entries()) {
      const next = pair.new.items[index];
      const place = pointerTo(path, index);
      const objects = next === undefined ? null : bothObjects({ old, new: next }, place);
      if (objects === null) continue;
      const members = sameKeys(objects, place);
      for (const [key, values] of members) {
        if (key !== "name" && key !== "text") identical(values, pointerTo(place, key));
      }
      for (const key of ["name", "text"]) {
        const values = members.get(key);
        if (values !== undefined) this.texts(values, pointerTo(place, key));
      }
      const name = members.get("name");
      renamed ||= name !== undefined && compactSource(name.old) !== compactSource(name.new);
    }
    return renamed;
  }

  /** Holds that the new text is the old one with words substituted, and keeps which. */
  private texts(pair: Pair<SourceNode>, path: string): void {
    if (pair.old.kind !== "string" || pair.new.kind !== "string") {
      identical(pair, path);
      return;
    }
    const old = piecesOf(pair.old.value);
    const next = piecesOf(pair.new.value);
    for (let index = 0; index < Math.max(old.length, next.length); index++) {
      const left = old[index];
      const right = next[index];
      if (left === undefined || right === undefined || left.isWord !== right.isWord) {
        const where = left === undefined ? "behind its end" : `at ${quote(left.text)}`;
        throw new Differs(path, `the texts have other words and gaps ${where}`);
      }
      if (left.isWord) this.words(left.text, right.text, path);
      else if (left.text !== right.text) {
        throw new Differs(path, `the text between words differs: ${quote(left.text)} became ${quote(right.text)}`);
      }
    }
  }

  private words(old: string, next: string, path: string): void {
    if (old !== next && (BARE_FIGURE.test(old) || BARE_FIGURE.test(next))) {
      throw new Differs(path, `a figure is no name: ${quote(old)} became ${quote(next)}`);
    }
    const other = this.forth.get(old);
    if (other !== undefined && other !== next) {
      throw new Differs(path, `${quote(old)} became ${quote(other)} elsewhere and ${quote(next)} here`);
    }
    const origin = this.back.get(next);
    if (origin !== undefined && origin !== old) {
      throw new Differs(path, `two words became one: ${quote(origin)} and ${quote(old)} are both ${quote(next)}`);
    }
    this.forth.set(old, next);
    this.back.set(next, old);
  }
}

const BARE_FIGURE = /^[0-9][0-9.,]*$/;

type Piece = { readonly isWord: boolean; readonly text: string };

/** A text as words and what stands between them, in turn; together they are the text. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(/[A-Za-z0-9_][A-Za-z0-9_./-]*/g)) {
    let end = match.index + match[0].length;
    // A sentence's full stop is no part of its last word.
    while (end > match.index && "./-".includes(text[end - 1] ?? " ")) end -= 1;
    if (match.index > from) pieces.push({ isWord: false, text: text.slice(from, match.index) });
    pieces.push({ isWord: true, text: text.slice(match.index, end) });
    from = end;
  }
  if (from < text.length) pieces.push({ isWord: false, text: text.slice(from) });
  return pieces;
}

/** Both as objects; null where neither is one and both are the same. */
function bothObjects(pair: Pair<SourceNode>, path: string): Pair<SourceObject> | null {
  if (pair.old.kind === "object" && pair.new.kind === "object") return { old: pair.old, new: pair.new };
  identical(pair, path);
  return null;
}

function sameKeys(pair: Pair<SourceObject>, path: string): ReadonlyMap<string, Pair<SourceNode>> {
  const news = new Map(pair.new.members.map((member: SourceMember) => [member.key, member.value]));
  const members = new Map<string, Pair<SourceNode>>();
  for (const { key, value } of pair.old.members) {
    const next = news.get(key);
    if (next === undefined) throw new Differs(pointerTo(path, key), `the key ${quote(key)} is gone`);
    members.set(key, { old: value, new: next });
  }
  const added = [...news.keys()].find((key) => !members.has(key));
  if (added !== undefined) throw new Differs(pointerTo(path, added), `the key ${quote(added)} is new`);
  return members;
}

function identical(pair: Pair<SourceNode>, path: string): void {
  const [old, next] = [compactSource(pair.old), compactSource(pair.new)];
  if (old !== next)
    throw new Differs(path, `only goals, names and texts may differ: ${clip(old)} became ${clip(next)}`);
}

function quote(text: string): string {
  return JSON.stringify(clip(text));
}

function clip(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79).toWellFormed()}…`;
}
