/**
 * Whether the lists of a structured result stand in the answer that it was made from. A note, and never a failure.
 *
 * Source: delegation run, section 3.2
 */
import { readSource, type SourceNode } from "../json/source.ts";
import type { Repack } from "./wire-result.ts";

/** Shorter lists say too little. */
const LEAST_ITEMS = 3;
/** More missing than this share is told. */
const TOLERATED = 0.2;
/** Characters of the answer that are looked at for one list; items beyond it are not judged. */
const MOST_LOOKED_AT = 2 ** 28;

/**
 * One note for each top-level list of texts of which too many items are not in the answer; whitespace is collapsed and
 * case folded.
 *
 * @param structured JSON text of an object
 * Errors: none. Time is linear in the answer for each item, up to a bound for each list
 */
export function listFidelityNotes(output: string, structured: string, mode: Repack["mode"]): readonly string[] {
  if (mode === "none" || mode === "lossless") return [];
  const read = readSource(structured, { surrogates: "keep" });
  if (!read.ok || read.node.kind !== "object") return [];
  const answer = folded(output);
  return read.node.members.flatMap(({ key, value }) => {
    const items = textsOf(value)?.slice(0, Math.max(LEAST_ITEMS, Math.floor(MOST_LOOKED_AT / (answer.length + 1))));
    if (items === undefined || items.length < LEAST_ITEMS) return [];
    const missing = items.filter((item) => !answer.includes(folded(item))).length;
    if (missing <= TOLERATED * items.length) return [];
    return [`list fidelity: ${key}: ${missing} of ${items.length} items are not in the answer`];
  });
}

/** null where it is no list of texts. */
function textsOf(value: SourceNode): readonly string[] | null {
  if (value.kind !== "array") return null;
  const texts: string[] = [];
  for (const item of value.items) {
    if (item.kind !== "string") return null;
    texts.push(item.value);
  }
  return texts;
}

function folded(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().toLowerCase();
}
