/** `writ runs list`: past delegations, newest first. */
import { type RunEntry, readRunEntry } from "../../core/delegation/run-entry.ts";
import type { JsonObject } from "../../core/json/value.ts";
import { isAlive } from "../../host/process-identity.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { oneLine, tableLines } from "../table.ts";
import { openRecords } from "./open.ts";

const USUAL = 20;

export const command = defineCommand({
  meta: { name: "runs list", description: "List past delegations, newest first" },
  args: {
    limit: { type: "string", valueHint: "N", description: `At most so many (default: ${USUAL})` },
    ...JSON_SWITCH,
  },
  examples: ["writ runs list", "writ runs list --limit 100 --json"],
  notes: ["What writ run recorded belongs to a turn: writ contract show. These are delegations: writ delegate."],
  exits: { 0: "done; an empty list is an answer too" },
  run({ args, json, out }) {
    const limit = wholeNumber(args.limit, "--limit", 1) ?? USUAL;
    const records = openRecords();
    const entries: RunEntry[] = [];
    for (const { run_id } of records.list()) {
      if (entries.length === limit) break;
      const text = records.read(run_id);
      const entry = text === null ? null : readRunEntry(text);
      // What is no record any more is passed over: nothing of it could be shown.
      if (entry !== null) entries.push(entry);
    }
    if (json) out.document({ ok: true, status: "ok", runs: entries.map(entryDocument) });
    else if (entries.length === 0) out.line("There is no record of a delegation");
    else for (const line of tableLines(HEADER, entries.map(row), out.columns())) out.line(line);
    return 0;
  },
});

const HEADER = [
  "delegation",
  "started",
  "legs",
  "succeeded",
  "unverified",
  "deferred",
  "failed",
  "wall",
  "state",
  "label",
];

function row(entry: RunEntry): readonly (string | number)[] {
  const { run_id, started_at, legs, summary, wall_ms, label } = entry;
  const counts = ["succeeded", "failed_verification", "deferred", "failed"].map((name) => summary[name] ?? 0);
  return [run_id, started_at, legs, ...counts, `${Math.round(wall_ms / 1000)}s`, stateOf(entry), oneLine(label)];
}

function entryDocument(entry: RunEntry): JsonObject {
  const { run_id, started_at, wall_ms, legs, label, summary } = entry;
  return { run_id, started_at, wall_ms, legs, state: stateOf(entry), label, summary };
}

/** A delegator that is no more left behind what it had. */
function stateOf({ ended, pid }: RunEntry): "ended" | "running" | "left" {
  if (ended) return "ended";
  return pid > 0 && isAlive(pid) ? "running" : "left";
}
