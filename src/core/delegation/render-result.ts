/**
 * The result document as JSON text: its members in their fixed order, and each structured result exactly as the place
 * wrote it.
 *
 * It is made in pieces, since a document of many legs may be too large to be held as a text beside what it was made of.
 * No piece ends inside of a character or of an escape.
 *
 * Source: delegation run, section 3.1
 */
import { partsOf } from "../utf8.ts";
import type { LegResult, ResultDocument } from "./result.ts";

/** @returns one JSON text; it spans lines only where a structured result does */
export function renderResultDocument(document: ResultDocument): string {
  return [...resultPieces(document)].join("");
}

/** The pieces of that text, in their order. */
export function* resultPieces(document: ResultDocument): Generator<string> {
  yield* aroundLegs(document, document.results.map(legPieces));
}

/** The same around results that are rendered already. `more`: the text of further members, a comma in front of each. */
export function* aroundLegs(
  document: Omit<ResultDocument, "results">,
  results: Iterable<Iterable<string>>,
  more: Iterable<string> = [],
): Generator<string> {
  const { schema_version, run_id, summary, writ_version, started_at, wall_ms } = document;
  yield `{${members({ schema_version, run_id, summary })},"results":[`;
  let isFirst = true;
  for (const pieces of results) {
    if (!isFirst) yield ",";
    isFirst = false;
    yield* pieces;
  }
  yield `],${members({ writ_version, started_at, wall_ms })}`;
  yield* more;
  yield "}";
}

/** The text as it is printed: `ok`, true where the command ends in 0, comes first. */
export function renderPrinted(document: string, ok: boolean): string {
  return `{"ok":${ok},${document.slice(1)}`;
}

/** The same in pieces. */
export function* printedPieces(pieces: Iterable<string>, ok: boolean): Generator<string> {
  let isFirst = true;
  for (const piece of pieces) {
    yield isFirst ? renderPrinted(piece, ok) : piece;
    isFirst = false;
  }
}

export function renderLegResult(leg: LegResult): string {
  return [...legPieces(leg)].join("");
}

/** A piece of its own for each member: one of them may be most of the document. */
export function* legPieces(leg: LegResult): Generator<string> {
  let lead = "{";
  for (const [key, value] of Object.entries(leg)) {
    if (value === undefined) continue;
    yield `${lead}${JSON.stringify(key)}:`;
    if (key === "structured") yield String(value);
    else if (typeof value === "string") yield* stringPieces(value);
    else yield JSON.stringify(value);
    lead = ",";
  }
  yield "}";
}

const LONG = 64 * 1024;

function* stringPieces(text: string): Generator<string> {
  if (text.length <= LONG) {
    yield JSON.stringify(text);
    return;
  }
  yield '"';
  for (const part of partsOf(text, LONG)) yield JSON.stringify(part).slice(1, -1);
  yield '"';
}

/** Members without the braces around them. */
function members(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}
