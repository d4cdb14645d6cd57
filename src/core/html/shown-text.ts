/**
 * Text from strangers as a page shows it: commands, outputs, what a model wrote.
 *
 * It is shown as text, bounded, and as it is: what has no shape gets a sign, and what was left out is said.
 */
import { replaceControls, stripSequences } from "../terminal.ts";
import { controlName, type Markup, markup, type Piece } from "./markup.ts";

/** A text or its beginning, as the store handed it out. */
export type Excerpt = {
  readonly text: string;
  /** Of the whole text, in UTF-8 bytes. */
  readonly size_bytes: number;
};

/** Characters (UTF-16 code units) that are shown of a text, by the place that it has on a page. */
export const LENGTHS = { word: 80, line: 240, block: 2000, document: 20_000 } as const;

/** Of a text, one character in so many may be a sign, which takes more room; it is cut before the next one. */
const ROOM_OF_SIGN = 8;

/** Where a text is cut, and what of it is shown. */
type Cut = { readonly shown: string; readonly left: string };

/**
 * A text of one line: a name, a goal. Line breaks and runs of blanks become one blank; isolated, so that letters
 * written from right to left do not move what stands around them.
 */
export function line(text: string | Excerpt | null, length: number = LENGTHS.line): Markup | null {
  if (text === null) return null;
  const excerpt = excerptOf(text);
  const flat = excerpt.text.replace(/\s+/g, " ").trim();
  const isWhole = isWholeText(excerpt);
  const { shown } = cut(flat, length);
  return markup`<bdi>${signed(shown)}</bdi>${(!isWhole || shown.length < flat.length) && ELLIPSIS}`;
}

/** A text of many lines whose every character counts: a command, a value. */
export function exact(text: string | Excerpt, length: number = LENGTHS.block): Markup {
  return block(excerptOf(text), length, "");
}

/** What a program printed: sequences for a terminal are left out and counted, line ends are line ends. */
export function output(text: string | Excerpt, length: number = LENGTHS.block): Markup {
  const excerpt = excerptOf(text);
  const plain = stripSequences(excerpt.text);
  const dropped = excerpt.text.length - plain.length;
  const note = dropped === 0 ? "" : `${counted(dropped, "character")} of terminal control left out`;
  const lines = plain.replaceAll("\r\n", "\n").replaceAll("\r", "\r\n");
  return block({ text: lines, size_bytes: isWholeText(excerpt) ? -1 : excerpt.size_bytes }, length, note);
}

/** "1 run", "12 runs", "1,200 runs". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Digits in groups of three. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

const ELLIPSIS = markup`<span class="more" title="There is more">…</span>`;

function block(excerpt: Excerpt, length: number, note: string): Markup {
  const { shown, left } = cut(excerpt.text, length);
  // A text that the store cut has more behind it than this process has seen.
  const unread =
    excerpt.size_bytes >= 0 && !isWholeText(excerpt) ? `cut here; ${grouped(excerpt.size_bytes)} bytes in all` : left;
  const notes = [note, unread].filter((one) => one !== "").join("; ");
  return markup`<pre dir="auto">${signed(shown)}</pre>${notes !== "" && markup`<p class="left-out">${notes}</p>`}`;
}

function cut(text: string, length: number): Cut {
  let end = Math.min(text.length, length);
  const most = Math.ceil(length / ROOM_OF_SIGN);
  let signs = 0;
  replaceControls(text.slice(0, end), (found, at) => {
    signs += 1;
    if (signs === most + 1) end = Math.min(end, at);
    return found;
  });
  if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
  if (end === text.length) return { shown: text, left: "" };
  return { shown: text.slice(0, end), left: `cut here; ${grouped(text.length)} characters in all` };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The text with a sign for each character that has no shape. */
function signed(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  replaceControls(text, (found, at) => {
    pieces.push(text.slice(from, at), markup`<span class="sign">${controlName(found)}</span>`);
    from = at + found.length;
    return found;
  });
  pieces.push(text.slice(from));
  return pieces;
}

function excerptOf(text: string | Excerpt): Excerpt {
  return typeof text === "string" ? { text, size_bytes: -1 } : text;
}

/** A text that came from this process is whole (-1); one from the store is when all of its bytes are there. */
function isWholeText({ text, size_bytes }: Excerpt): boolean {
  return size_bytes < 0 || byteLength(text) >= size_bytes;
}

function byteLength(text: string): number {
  // A code unit is at least one byte; most texts need no exact count.
  return new TextEncoder().encode(text).length;
}
