/** A table of text for a person: columns as wide as their widest cell, two blanks between them. */
import { stripControls } from "../core/terminal.ts";

/** Cells wider than this are cut with an ellipsis, in code points. */
const CELL_LIMIT = 60;

/**
 * @param columns what there is room for; null: as wide as it gets. A table that is wider becomes one block a row
 * @param under   lines to print under each row, by its index
 * @returns       one line a row, the header first; or `name  value` lines, a blank line behind each row. No line ends
 *                in a blank
 */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  columns: number | null = null,
  under: readonly (readonly string[])[] = [],
): readonly string[] {
  const body = rows.map((row) => row.map((cell) => cellText(cell)));
  const cells = [header, ...body];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? ""))));
  const width = widths.reduce((sum, one) => sum + one, 2 * Math.max(0, widths.length - 1));
  if (columns !== null && width > columns) {
    const name = Math.max(0, ...header.map((one) => one.length));
    const block = (row: readonly string[]) =>
      row.map((cell, at) => `${(header[at] ?? "").padEnd(name)}  ${cell}`.trimEnd());
    return body.flatMap((row, index) => [...block(row), ...(under[index] ?? []), ""]);
  }
  return cells.flatMap((row, index) => [
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell))))
      .join("  ")
      .trimEnd(),
    ...(under[index - 1] ?? []),
  ]);
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
