/** `writ contract log`. */
import type { Change } from "../../core/contract/changes.ts";
import { FIELD_PATHS } from "../../core/contract/envelope.ts";
import { counted } from "../../core/counted.ts";
import { compactJson, isArray, type JsonObject, type JsonValue } from "../../core/json/value.ts";
import { continuedBy, listChanges } from "../../editor/look.ts";
import { defineCommand } from "../command.ts";
import { printFacts, printParagraph } from "../paragraph.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import {
  ADDRESS,
  ADDRESS_NOTE,
  addressOf,
  JSON_SWITCH,
  talkContinued,
  talkCut,
  VERY_NOTE,
  wholeNumber,
} from "./address.ts";

export const command = defineCommand({
  meta: { name: "contract log", description: "List every change of an envelope, newest first" },
  args: {
    path: {
      type: "string",
      valueHint: "PATH",
      offers: FIELD_PATHS,
      description: "Only changes at this path or under it",
    },
    limit: { type: "string", valueHint: "N", description: "At most this many (default 20)" },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: ["writ contract log", "writ contract log --path evidence_report.key_outputs --json"],
  notes: [
    "The number in front of a change is its id: undo --change, view --at and diff --from take it.",
    ADDRESS_NOTE,
    VERY_NOTE,
  ],
  exits: { 0: "listed", 3: "no such draft, or several that could be meant" },
  run({ args, json, out }) {
    const limit = wholeNumber(args.limit, "--limit", 1) ?? 20;
    const { draft_id, changes, total, live } = inWorld(openReadingWorld(), (world) => {
      const listed = listChanges(world, addressOf(args), args.path ?? null, limit);
      return { ...listed, live: continuedBy(world, listed.draft_id) };
    });
    talkContinued(out, draft_id, live);
    if (json) {
      const documents = changes.map(({ changes: entries, ...change }) => ({
        ...change,
        entries: entries.map(entryDocument),
      }));
      out.document({ ok: true, draft_id, count: changes.length, changes: documents });
      return 0;
    }
    if (changes.length === 0) out.line("No changes.");
    for (const change of changes) {
      const undoes = change.undoes === null ? "" : ` of ${change.undoes}`;
      printFacts(out, [String(change.change_id), change.at, `${change.verb}${undoes}`, `(pid ${change.pid})`]);
      for (const line of change.changes.flatMap(entryLines)) printParagraph(out, line, "    ");
    }
    talkCut(out, changes.length, total);
    return 0;
  },
});

/** The two sides of one path; an absent side is left out. */
export function entryDocument(entry: Change): JsonObject {
  return {
    path: entry.path,
    ...(entry.before === undefined ? {} : { before: entry.before }),
    ...(entry.after === undefined ? {} : { after: entry.after }),
  };
}

/** `path: before -> after`, long values cut; of a list that only grew one line for each entry that came. */
export function entryLines({ path, before, after }: Change): readonly string[] {
  const name = path === "" ? "(whole envelope)" : path;
  if (before === undefined) return [`+ ${name}: ${short(after ?? null)}`];
  if (after === undefined) return [`- ${name}: ${short(before)}`];
  if (isArray(before) && isArray(after)) return listLines(name, before, after);
  return [`~ ${name}: ${short(before)} -> ${short(after)}`];
}

/** One that shrank or changed is shown at the first place where it differs. */
function listLines(name: string, before: readonly JsonValue[], after: readonly JsonValue[]): readonly string[] {
  const place = before.findIndex((entry, index) => compactJson(entry) !== compactJson(after[index] ?? null));
  const first = place < 0 || place >= after.length ? Math.min(before.length, after.length) : place;
  if (first === before.length) {
    return after.slice(first).map((entry, index) => `+ ${name}[${first + index}]: ${short(entry)}`);
  }
  const count =
    before.length === after.length ? "" : ` (${before.length} -> ${counted(after.length, "entry", "entries")})`;
  const was = short(before[first] ?? null);
  if (first === after.length) return [`- ${name}[${first}]: ${was}${count}`];
  return [`~ ${name}[${first}]: ${was} -> ${short(after[first] ?? null)}${count}`];
}

const SHORT = 100;

function short(value: JsonValue): string {
  const points = [...JSON.stringify(value)];
  return points.length > SHORT ? `${points.slice(0, SHORT - 1).join("")}…` : points.join("");
}
