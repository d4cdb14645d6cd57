/** A table of text for a person: columns as wide as their widest cell, two blanks between them. */
import { stripControls } from "../core/terminal.ts";

/** Cells wider than this are cut with an ellipsis, in code points. */
const CELL_LIMIT = 60;

/** @returns one line a row, the header first; no line ends in a blank */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): readonly string[] {
  const cells = [header, ...rows.map((row) => row.map((cell) => cellText(cell)))];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? ""))));
  return cells.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell))))
      .join("  ")
      .trimEnd(),
  );
}

function cellText(cell: string | number | null): string {
  if (cell === null) return "-";
  const text = oneLine(String(cell));
  const points = [...text];
  return points.length > CELL_LIMIT ? `${points.slice(0, CELL_LIMIT - 1).join("")}…` : text;
}

/** The facts of a row, one a line, those that are not null; a value keeps its length and stays on its line. */
export function factLines(facts: Readonly<Record<string, unknown>>): readonly string[] {
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(String(value))}`);
}

/** Stripped, and each run of blanks and line breaks one blank. */
export function oneLine(text: string): string {
  return stripControls(text).replaceAll(/\s+/g, " ").trim();
}
