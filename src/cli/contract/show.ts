/** `writ contract show`. */
import type { HandoffRow } from "../../core/contract/repository.ts";
import { counted } from "../../core/counted.ts";
import { parseJson } from "../../core/json/parse.ts";
import { type JsonObject, type JsonValue, prettyJson } from "../../core/json/value.ts";
import type { ToolRecord } from "../../core/record/tool-record.ts";
import { type Shown, showHandoff } from "../../editor/look.ts";
import { defineCommand } from "../command.ts";
import { factLines, tableLines } from "../table.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { JSON_SWITCH } from "./address.ts";
import { proposalDocument, proposalLines } from "./proposals/list.ts";

export const command = defineCommand({
  meta: { name: "contract show", description: "Print one turn whole: its row, envelope, checks and record" },
  args: {
    id: { type: "positional", required: true, description: "A contract id or a handoff id" },
    ...JSON_SWITCH,
  },
  examples: ["writ contract show 41", "writ contract show a3f1c09d2be47a650.5d2e8c01b7f4 --json"],
  exits: { 0: "printed", 3: "there is no such turn" },
  run({ args, json, out }) {
    const shown = inWorld(openReadingWorld(), (world) => showHandoff(world, args.id));
    const { row, envelope, bound, record } = shown;
    if (json) {
      const { raw_handoff_json, content_checks, update_contracts_refused, ...columns } = row;
      out.document({
        ok: true,
        result: [resultLine(shown), ...shown.notices],
        handoff: columns as JsonObject,
        envelope,
        raw_handoff_json: envelope === null ? raw_handoff_json : null,
        content_checks: read(content_checks),
        update_contracts_refused: read(update_contracts_refused),
        proposals: shown.proposals.map(proposalDocument),
        record: { bound, runs: record as unknown as JsonValue },
      });
      return 0;
    }
    const columns = out.columns();
    // What a table is indented by is not there for it.
    for (const line of plainLines(shown, columns === null ? null : columns - INDENT.length)) out.line(line);
    return 0;
  },
});

/** What an orchestrator reads first. One line, so that no conclusion passes itself off as a notice below it. */
function resultLine({ row, envelope }: Pick<Shown, "row" | "envelope">): string {
  const who = row.agent_name ?? row.agent_id;
  const how = row.cut_reason ?? row.agent_state;
  const line = `${who} ${how} (handoff_id=${row.id}): ${row.conclusion ?? soFar(envelope)}`;
  return line.trim().replaceAll(/\s+/g, " ");
}

/** A row has its conclusion from a close; before one, or where a turn was cut, its envelope may have one. */
function soFar(envelope: JsonObject | null): string {
  const conclusion = envelope === null ? null : (envelope.conclusion ?? null);
  if (typeof conclusion !== "string" || conclusion.trim() === "") return "no conclusion";
  return `no conclusion of a close; so far: ${conclusion}`;
}

const INDENT = "  ";

function plainLines(
  { row, notices, proposals, envelope, bound, record }: Shown,
  columns: number | null,
): readonly string[] {
  const { raw_handoff_json, content_checks, conclusion, update_contracts_refused, ...facts } = row;
  return [
    resultLine({ row, envelope }),
    ...notices,
    "",
    ...factLines(facts),
    "",
    "envelope",
    ...(envelope === null
      ? [`  ${row.raw_handoff_json}`]
      : prettyJson(envelope)
          .split("\n")
          .map((line) => `  ${line}`)),
    "",
    "content_checks",
    ...(row.content_checks === null
      ? ["  none"]
      : prettyJson(read(row.content_checks))
          .split("\n")
          .map((line) => `  ${line}`)),
    "",
    ...(proposals.length === 0 ? [] : ["proposals", ...proposalLines(proposals, columns).map(indented), ""]),
    `record (${bound ? "bound" : "not bound"}, ${counted(record.length, "entry", "entries")}${lateText(row, record.length)})`,
    ...recordLines(record, columns).map(indented),
  ];
}

function indented(line: string): string {
  return line === "" ? "" : `${INDENT}${line}`;
}

function lateText(row: HandoffRow, entries: number): string {
  const late = row.record_count === null ? 0 : entries - row.record_count;
  return late > 0 ? `, the last ${late} after the close` : "";
}

/** Commands, reads and edits of a record, oldest first. */
function recordLines(record: readonly ToolRecord[], columns: number | null): readonly string[] {
  if (record.length === 0) return [];
  const rows = record.map((one) => [one.seq, one.ended_at, one.tool, exitText(one), one.command ?? one.path]);
  return tableLines(["seq", "ended_at", "tool", "exit", "command or path"], rows, columns);
}

function exitText(one: ToolRecord): string {
  if (one.tool !== "bash") return "-";
  if (one.signal !== null) return one.signal;
  if (one.exit_code !== null) return String(one.exit_code);
  return one.failed ? "failed" : "unknown";
}

function read(text: string | null): JsonValue {
  if (text === null) return null;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}
