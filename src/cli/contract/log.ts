/** `writ contract log`. */
import type { Change } from "../../core/contract/changes.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import { listChanges } from "../../editor/look.ts";
import { defineCommand } from "../command.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, JSON_SWITCH, wholeNumber } from "./address.ts";

export const command = defineCommand({
  meta: { name: "contract log", description: "List every change of an envelope, newest first" },
  args: {
    path: { type: "string", valueHint: "PATH", description: "Only changes at this path or under it" },
    limit: { type: "string", valueHint: "N", description: "At most this many (default 20)" },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: ["writ contract log", "writ contract log --path evidence_report.key_outputs --json"],
  notes: ["The number in front of a change is its id: undo --change, view --at and diff --from take it.", ADDRESS_NOTE],
  exits: { 0: "listed", 3: "no such draft" },
  run({ args, json, out }) {
    const limit = wholeNumber(args.limit, "--limit", 1) ?? 20;
    const { draft_id, changes } = inWorld(openReadingWorld(), (world) =>
      listChanges(world, addressOf(args), args.path ?? null, limit),
    );
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
      out.line(`${change.change_id}  ${change.at}  ${change.verb}${undoes}  (pid ${change.pid})`);
      for (const entry of change.changes) out.line(`    ${entryLine(entry)}`);
    }
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

/** `path: before -> after`, long values cut. */
export function entryLine({ path, before, after }: Change): string {
  const name = path === "" ? "(whole envelope)" : path;
  if (before === undefined) return `+ ${name}: ${short(after ?? null)}`;
  if (after === undefined) return `- ${name}: ${short(before)}`;
  return `~ ${name}: ${short(before)} -> ${short(after)}`;
}

const SHORT = 100;

function short(value: JsonValue): string {
  const points = [...JSON.stringify(value)];
  return points.length > SHORT ? `${points.slice(0, SHORT - 1).join("")}…` : points.join("");
}
