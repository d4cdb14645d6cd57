/** A result document for a person: a row a leg, why it is no success or how its answer begins, and what they come to. */
import type { ResultDocument } from "../../core/delegation/result.ts";
import type { LegText, RunEntry } from "../../core/delegation/run-entry.ts";
import { oneLine, tableLines } from "../table.ts";
import { cutColumns } from "./leg-board.ts";

const NOTE_COLUMNS = 80;

export type Row = {
  readonly index: number;
  readonly status: string;
  readonly node: string;
  readonly seat: string;
  readonly scripted: boolean;
  /** null: nobody knows. */
  readonly wall_ms: number | null;
  readonly note: string;
  /** Lines below it that are never cut: a path, what to type. */
  readonly under?: readonly string[];
};

type Totals = {
  readonly run_id: string;
  /** null: nobody knows. */
  readonly wall_ms: number | null;
  readonly summary: { readonly [count: string]: number | undefined };
};

/** @param columns of the terminal; null: as wide as it gets */
export function resultLines(document: ResultDocument, columns: number | null): readonly string[] {
  const rows = document.results.map(({ index, status, node, seat, scripted, wall_ms, ...leg }) => ({
    index,
    status,
    node,
    seat,
    scripted: scripted === true,
    wall_ms,
    note: leg.reason ?? leg.output ?? leg.structured ?? "",
  }));
  return lines(rows, document, columns);
}

/**
 * The same of a record.
 *
 * @param unfinished rows of legs that have no result
 */
export function entryLines(
  entry: Omit<RunEntry, "wall_ms"> & Pick<Totals, "wall_ms">,
  columns: number | null,
  unfinished: readonly Row[] = [],
): readonly string[] {
  const rows = [...entry.results.map(rowOf), ...unfinished].sort((left, right) => left.index - right.index);
  return lines(rows, entry, columns, unfinished.length);
}

function rowOf({ index, fields }: LegText): Row {
  const text = (name: string) => fields.get(name)?.value ?? "";
  return {
    index,
    status: text("status"),
    node: text("node"),
    seat: text("seat"),
    scripted: fields.has("scripted"),
    wall_ms: Number(text("wall_ms")) || 0,
    note: fields.get("reason")?.value ?? fields.get("output")?.value ?? text("structured"),
  };
}

function lines(rows: readonly Row[], totals: Totals, columns: number | null, open = 0): readonly string[] {
  const cells = rows.map((row) => [row.index, row.status, whereText(row), wallText(row.wall_ms)]);
  const room = Math.min(NOTE_COLUMNS, (columns ?? NOTE_COLUMNS + 2) - 2);
  const notes = rows.map(({ note, under = [] }) => [
    ...(oneLine(note) === "" ? [] : [`  ${cutColumns(oneLine(note), room)}`]),
    ...under.map((line) => `  ${oneLine(line)}`),
  ]);
  return [...tableLines(["index", "status", "node/seat", "wall"], cells, columns, notes), totalsLine(totals, open)];
}

const COUNTS = [
  ["succeeded", "succeeded"],
  ["failed_verification", "failed verification"],
  ["deferred", "deferred"],
  ["failed", "failed"],
] as const;

function totalsLine({ summary, run_id, wall_ms }: Totals, open: number): string {
  const told = COUNTS.filter(([key]) => (summary[key] ?? 0) > 0).map(([key, name]) => `${summary[key]} ${name}`);
  if (open > 0) told.push(`${open} without a result`);
  return `${told.join(", ") || "no leg"}${wall_ms === null ? "" : ` in ${wallText(wall_ms)}`}; writ runs show ${run_id}`;
}

function whereText({ node, seat, scripted }: Row): string {
  return node === "" ? "-" : `${node}/${seat}${scripted ? " (scripted)" : ""}`;
}

function wallText(ms: number | null): string {
  if (ms === null) return "-";
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : `${Math.round(ms / 1000)}s`;
}
