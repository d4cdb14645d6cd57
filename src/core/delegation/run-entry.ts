/** A record of a call, read back: its document as it stands, the facts that a list shows, and single fields of it. */
import { memberOf, readSource, type SourceNode, type SourceObject } from "../json/source.ts";

/** Of a call; a record that claims more was not written by this program. */
const MOST_LEGS = 64;

export type RunEntry = {
  readonly run_id: string;
  readonly started_at: string;
  readonly wall_ms: number;
  /** Of the call; results may be fewer where it did not end. */
  readonly legs: number;
  readonly ended: boolean;
  readonly pid: number;
  readonly label: string;
  /** The counts of the summary, by name, in their order. */
  readonly summary: Readonly<Record<string, number>>;
  /** The text of the result document alone. */
  readonly document: string;
  readonly results: readonly LegText[];
  /** Legs without a result, in their order. */
  readonly unfinished: readonly OpenLeg[];
};

/** A leg that had no result when the record was written. */
export type OpenLeg = {
  readonly index: number;
  /** Where it was handed to last; "" where nobody had it. */
  readonly node: string;
  readonly seat: string;
  /** When that was, in milliseconds since the call began. */
  readonly at_ms: number;
};

/** One leg of a record: each of its members as it is written, by name, in their order. */
export type LegText = {
  readonly index: number;
  /** The whole element. */
  readonly text: string;
  readonly fields: ReadonlyMap<string, FieldText>;
};

/** `value` of a text is the text itself; of anything else, as it is written. */
export type FieldText = { readonly kind: SourceNode["kind"]; readonly value: string };

/**
 * Reads a record.
 *
 * @returns null where it is none: a file that was cut, or edited by hand into something else
 * Errors: none
 */
export function readRunEntry(text: string): RunEntry | null {
  const read = readSource(text, { surrogates: "keep" });
  if (!read.ok || read.node.kind !== "object") return null;
  const { node } = read;
  const results = memberOf(node, "results");
  const summary = memberOf(node, "summary");
  const run_id = textOf(node, "run_id");
  if (results?.kind !== "array" || summary?.kind !== "object" || run_id === "") return null;
  const legs = results.items.map((item) => legText(text, item));
  const record = memberOf(node, "record");
  const facts = record?.kind === "object" ? record : null;
  const count = facts === null ? legs.length : Math.min(MOST_LEGS, numberOf(facts, "legs"));
  const known = legs.filter((leg) => leg !== null);
  return {
    run_id,
    started_at: textOf(node, "started_at"),
    wall_ms: numberOf(node, "wall_ms"),
    legs: facts === null ? legs.length : numberOf(facts, "legs"),
    ended: facts === null || flagOf(facts, "ended"),
    pid: facts === null ? 0 : numberOf(facts, "pid"),
    label: facts === null ? "" : textOf(facts, "label"),
    summary: Object.fromEntries(
      summary.members.flatMap(({ key, value }) => (value.kind === "number" ? [[key, Number(value.text)]] : [])),
    ),
    document: withoutRecord(text, node),
    results: known,
    unfinished: openLegs(count, known, facts),
  };
}

/** The document with another `wall_ms` of the whole call, and else to the letter. */
export function documentLasting({ document }: RunEntry, wall_ms: number): string {
  const read = readSource(document, { surrogates: "keep" });
  const node = read.ok && read.node.kind === "object" ? memberOf(read.node, "wall_ms") : null;
  return node === null || node === undefined
    ? document
    : `${document.slice(0, node.start)}${wall_ms}${document.slice(node.end)}`;
}

/** The legs of a call that have no result, and where the events of the record left them. */
function openLegs(count: number, results: readonly LegText[], facts: SourceObject | null): readonly OpenLeg[] {
  const ended = new Set(results.map(({ index }) => index));
  const open = new Map<number, OpenLeg>();
  for (let index = 0; index < count; index += 1) {
    if (!ended.has(index)) open.set(index, { index, node: "", seat: "", at_ms: 0 });
  }
  const events = facts === null ? null : memberOf(facts, "events");
  for (const event of events?.kind === "array" ? events.items : []) {
    if (event.kind !== "object") continue;
    const index = numberOf(event, "index");
    const kind = textOf(event, "kind");
    if (!open.has(index) || (kind !== "placed" && kind !== "waiting")) continue;
    open.set(index, {
      index,
      node: textOf(event, "node"),
      seat: textOf(event, "seat"),
      at_ms: numberOf(event, "at_ms"),
    });
  }
  return [...open.values()];
}

/** What each id of a run begins with. */
const HEAD = "run-";

/** How an id that was typed, with or without "run-", whole or its beginning, stands for a run. */
export type FoundRun =
  | { readonly kind: "one"; readonly run_id: string }
  | { readonly kind: "none" }
  | { readonly kind: "several"; readonly run_ids: readonly string[] };

export function findRun(runIds: readonly string[], typed: string): FoundRun {
  // "run" is the beginning of each id, and no digits behind one.
  const wanted = typed.startsWith(HEAD) || HEAD.startsWith(typed) ? typed : HEAD + typed;
  const found = typed === "" ? [] : runIds.filter((id) => id.startsWith(wanted));
  const [run_id] = found;
  if (run_id === undefined) return { kind: "none" };
  return found.length === 1 ? { kind: "one", run_id } : { kind: "several", run_ids: found };
}

function legText(text: string, node: SourceNode): LegText | null {
  if (node.kind !== "object") return null;
  const fields = node.members.map(({ key, value }): [string, FieldText] => [
    key,
    { kind: value.kind, value: value.kind === "string" ? value.value : text.slice(value.start, value.end) },
  ]);
  return { index: numberOf(node, "index"), text: text.slice(node.start, node.end), fields: new Map(fields) };
}

/** The record is the last member: what stands before it stays to the letter. */
function withoutRecord(text: string, node: SourceObject): string {
  const last = node.members.at(-1);
  if (last?.key !== "record") return text.slice(node.start, node.end);
  const before = node.members.at(-2)?.value.end ?? node.start + 1;
  return `${text.slice(node.start, before)}}`;
}

function textOf(object: SourceObject, key: string): string {
  const node = memberOf(object, key);
  return node?.kind === "string" ? node.value : "";
}

function numberOf(object: SourceObject, key: string): number {
  const node = memberOf(object, key);
  return node?.kind === "number" ? Number(node.text) : 0;
}

function flagOf(object: SourceObject, key: string): boolean {
  const node = memberOf(object, key);
  return node?.kind === "boolean" && node.value;
}
