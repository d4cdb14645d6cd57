/** `writ runs list`: past delegations, newest first. */
import { type RunEntry, readRunEntry } from "../../core/delegation/run-entry.ts";
import type { JsonObject } from "../../core/json/value.ts";
import type { RunRecords } from "../../host/run-records.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { oneLine, tableLines } from "../table.ts";
import { openRecords, stateOf, wallOf } from "./open.ts";

const USUAL = 20;

export const command = defineCommand({
  meta: { name: "runs list", description: "List past delegations, newest first" },
  args: {
    limit: { type: "string", valueHint: "N", description: `At most so many (default: ${USUAL})` },
    ...JSON_SWITCH,
  },
  examples: ["writ runs list", "writ runs list --limit 100 --json"],
  notes: [
    "state: ended; running, which its delegator still works on; left, whose delegator was killed or lost before its legs ended: writ runs show says where they are, writ runs recover collects what nodes made of them.",
    "What writ run recorded belongs to a turn: writ contract show. These are delegations: writ delegate.",
  ],
  exits: { 0: "done; an empty list is an answer too", 4: "the folder of the records cannot be read" },
  run({ args, json, out }) {
    const limit = wholeNumber(args.limit, "--limit", 1) ?? USUAL;
    const entries = newest(openRecords(), limit);
    if (json) out.document({ ok: true, status: "ok", runs: entries.map(entryDocument) });
    else if (entries.length === 0) out.line("There is no record of a delegation");
    else for (const line of tableLines(HEADER, entries.map(row), out.columns())) out.line(line);
    return 0;
  },
});

/** By when they began, at most so many. */
function newest(records: RunRecords, limit: number): readonly RunEntry[] {
  let found: { readonly entry: RunEntry; readonly began_ms: number }[] = [];
  // A record is written when its call begins, or later: behind one that was written before the oldest of those that are
  // shown began there is none that began after it.
  for (const { run_id, modified_ms } of records.list()) {
    if (modified_ms < (found[limit - 1]?.began_ms ?? Number.NEGATIVE_INFINITY)) break;
    const text = records.read(run_id);
    const entry = text === null ? null : readRunEntry(text);
    // What is no record any more is passed over: nothing of it could be shown.
    if (entry === null) continue;
    const began_ms = Date.parse(entry.started_at);
    found.push({ entry, began_ms: Number.isNaN(began_ms) ? modified_ms : began_ms });
    found = found.toSorted((one, other) => other.began_ms - one.began_ms).slice(0, limit);
  }
  return found.map(({ entry }) => entry);
}

const HEADER = [
  "delegation",
  "started",
  "legs",
  "succeeded",
  "failed_verification",
  "deferred",
  "failed",
  "wall",
  "state",
  "label",
];

function row(entry: RunEntry): readonly (string | number | null)[] {
  const { run_id, started_at, legs, summary, label } = entry;
  const wall_ms = wallOf(entry);
  const counts = ["succeeded", "failed_verification", "deferred", "failed"].map((name) => summary[name] ?? 0);
  const wall = wall_ms === null ? null : `${Math.round(wall_ms / 1000)}s`;
  return [run_id, started_at, legs, ...counts, wall, stateOf(entry), oneLine(label)];
}

function entryDocument(entry: RunEntry): JsonObject {
  const { run_id, started_at, legs, label, summary } = entry;
  const wall_ms = wallOf(entry) ?? entry.wall_ms;
  return { run_id, started_at, wall_ms, legs, state: stateOf(entry), label, summary };
}
