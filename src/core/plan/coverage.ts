/** The table of a plan that says which task owns which requirement of the spec. */
import { type Anchor, anchorsOf, type DocumentText, isBlank } from "./text.ts";

export type Owner =
  | { readonly kind: "tasks"; readonly tasks: readonly number[] }
  | { readonly kind: "verification" }
  | { readonly kind: "waived" }
  | { readonly kind: "malformed" };

export type CoverageRow = {
  readonly line: number;
  /** The cells as written, trimmed; a missing one is empty. */
  readonly anchorCell: string;
  readonly requirement: string;
  readonly owner: Owner;
  readonly isMechanical: boolean;
  /** The first anchor of its cell; `at` counts from the start of the line. Null where there is none. */
  readonly anchor: Anchor | null;
};

export type Coverage = { readonly line: number; readonly rows: readonly CoverageRow[] };

/** The first coverage section; null where there is none. Source: flow state, section 5.7. */
export function readCoverage({ lines, fenced }: DocumentText): Coverage | null {
  const heading = lines.findIndex((line, index) => fenced[index] === false && /^##\s+Spec coverage\s*$/i.test(line));
  if (heading < 0) return null;
  let at = heading + 1;
  while (at < lines.length && isBlank(lines[at] ?? "")) at += 1;
  // The header row and the separator row.
  for (let skipped = 0; skipped < 2 && (lines[at] ?? "").startsWith("|"); skipped++) at += 1;
  const rows: CoverageRow[] = [];
  for (; at < lines.length && (lines[at] ?? "").trimStart().startsWith("|"); at++) {
    rows.push(readRow(lines[at] ?? "", at + 1));
  }
  return { line: heading + 1, rows };
}

function readRow(text: string, line: number): CoverageRow {
  const [anchorCell = "", requirement = "", owner = ""] = cellsOf(text);
  const anchor = anchorCell === "-" ? undefined : anchorsOf(anchorCell)[0];
  const from = text.indexOf(anchorCell);
  return {
    line,
    anchorCell,
    requirement,
    owner: ownerOf(owner),
    isMechanical: /^mechanical:/i.test(requirement),
    anchor: anchor === undefined ? null : { ...anchor, at: from + anchor.at },
  };
}

/** The trimmed cells of a table row. */
export function cellsOf(text: string): readonly string[] {
  const trimmed = text.trim();
  const inner = trimmed.startsWith("|") ? trimmed.slice(1) : trimmed;
  const cells = (inner.endsWith("|") ? inner.slice(0, -1) : inner).split("|");
  return cells.map((cell) => cell.trim());
}

function ownerOf(cell: string): Owner {
  if (cell === "Verification") return { kind: "verification" };
  const waived = /^waived:\s*(.*)$/is.exec(cell);
  if (waived !== null) return isBlank(waived[1] ?? "") ? { kind: "malformed" } : { kind: "waived" };
  if (!/^Task \d+(?:\s*,\s*Task \d+)*$/.test(cell)) return { kind: "malformed" };
  return { kind: "tasks", tasks: cell.split(",").map((part) => Number(part.trim().slice("Task ".length))) };
}
