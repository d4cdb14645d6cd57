/** What `writ resume` reads in a spec's header block: the standing grant, the deferral, and that it is no draft. */
import { isBlankLine } from "./line.ts";

/** Line 1 of a draft that is no spec. */
export const DRAFT_MARK = "# CONTEXT DRAFT - NOT A SPEC - fully replaced at spec-writing";

export type Grant =
  | { readonly kind: "none" }
  | { readonly kind: "active"; readonly sentence: string }
  | { readonly kind: "malformed"; readonly lines: readonly string[] };

export type SpecHeader = {
  readonly grant: Grant;
  /** The line that defers the spec, as it stands; null where none does. */
  readonly deferral: string | null;
  readonly goal: string | null;
};

const GRANT = "**Amend-grant:**";
const DEFERRED = "**Deferred:**";
const GOAL = "**Goal:**";

export function isDraft(text: string): boolean {
  return linesOf(text)[0] === DRAFT_MARK;
}

/** Source: flow state, sections 5.2 and 12.9 */
export function readSpecHeader(text: string): SpecHeader {
  const lines = linesOf(text);
  const title = lines.findIndex((line) => /^#\s/.test(line));
  const end = lines.findIndex((line, index) => index > title && line.startsWith("## "));
  const block = title < 0 ? [] : lines.slice(title + 1, end < 0 ? lines.length : end);
  const deferred = block.find((line) => line.startsWith(DEFERRED));
  const reason = deferred?.slice(DEFERRED.length).trim() ?? "none";
  const goal = block
    .find((line) => line.startsWith(GOAL))
    ?.slice(GOAL.length)
    .trim();
  return {
    grant: readGrant(block),
    deferral: deferred !== undefined && reason !== "none" && reason !== "" ? deferred : null,
    goal: goal ?? null,
  };
}

function readGrant(block: readonly string[]): Grant {
  const places = block.flatMap((line, index) => (line.startsWith(GRANT) ? [index] : []));
  const [at, ...further] = places;
  if (at === undefined) return { kind: "none" };
  const lines = places.map((place) => block[place] ?? "");
  if (further.length > 0) return { kind: "malformed", lines };
  const sentence = (block[at] ?? "").slice(GRANT.length).trim();
  const next = block[at + 1];
  if (sentence === "") return { kind: "malformed", lines };
  if (next !== undefined && !mayFollow(next)) return { kind: "malformed", lines: [...lines, next] };
  return sentence === "none" ? { kind: "none" } : { kind: "active", sentence };
}

/** A grant is one line: what follows it must not read as more of it. */
function mayFollow(line: string): boolean {
  return isBlankLine(line) || /^\*\*[^*:]+:\*\*/.test(line) || line.startsWith("> **Superseded by:**");
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}
