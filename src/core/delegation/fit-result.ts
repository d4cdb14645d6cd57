/**
 * A result document for a client that cuts long answers: what is largest in it is taken out whole and said to be, with how
 * to fetch it, until the rest fits. Everything that stays is as it was written.
 *
 * Source: delegation run, section 9.1
 */
import { memberOf, readSource, type SourceMember, type SourceNode } from "../json/source.ts";
import { utf8Length } from "../utf8.ts";

/** What is taken out first; the others only where that is not enough. */
const FIRST = ["output", "diff"];
const THEN = ["structured", "trace", "acceptance", "attempts"];

type Cut = { readonly start: number; readonly end: number; readonly text: string; readonly saved_bytes: number };

/**
 * @param text   a result document, or one element of its results
 * @param run_id of the run that it is from
 * @param most   bytes
 * @returns      the text as it is where it fits; else with `output_ref` for `output` and so on, the largest first
 * Errors: none; what cannot be made to fit is as small as it gets
 */
export function fitResult(text: string, run_id: string, most: number): string {
  let size = utf8Length(text);
  if (size <= most) return text;
  const read = readSource(text, { surrogates: "keep" });
  if (!read.ok || read.node.kind !== "object") return text;
  const results = memberOf(read.node, "results");
  const legs: readonly SourceNode[] = results?.kind === "array" ? results.items : [read.node];
  const cuts: Cut[] = [];
  for (const names of [FIRST, THEN]) {
    const candidates = legs.flatMap((leg) => cutsOf(text, leg, run_id, names));
    for (const cut of candidates.sort((left, right) => right.saved_bytes - left.saved_bytes)) {
      if (size <= most) break;
      cuts.push(cut);
      size -= cut.saved_bytes;
    }
  }
  let fitted = "";
  let from = 0;
  for (const cut of cuts.sort((left, right) => left.start - right.start)) {
    fitted += text.slice(from, cut.start) + cut.text;
    from = cut.end;
  }
  return fitted + text.slice(from);
}

function cutsOf(text: string, leg: SourceNode, run_id: string, names: readonly string[]): readonly Cut[] {
  if (leg.kind !== "object") return [];
  const place = memberOf(leg, "index");
  const index = place?.kind === "number" ? Number(place.text) : 0;
  return leg.members.flatMap((member) => {
    if (!names.includes(member.key)) return [];
    const { start, value } = member;
    const ref = `"${member.key}_ref":${refOf(text, member, run_id, index)}`;
    const saved_bytes = utf8Length(text.slice(start, value.end)) - utf8Length(ref);
    return saved_bytes > 0 ? [{ start, end: value.end, text: ref, saved_bytes }] : [];
  });
}

function refOf(text: string, { key, value }: SourceMember, run_id: string, index: number): string {
  const content = value.kind === "string" ? value.value : text.slice(value.start, value.end);
  return JSON.stringify({ truncated: true, bytes: utf8Length(content), fetch: { run_id, index, field: key } });
}
