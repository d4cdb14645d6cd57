/** A ledger: what a flow that is driven by the loop engine has in the place of a plan. */
import { cellsOf } from "../plan/coverage.ts";
import { specPathOf } from "../plan/header.ts";
import { type DocumentText, isBlank, readDocument } from "../plan/text.ts";
import { isTaskStatus, type TaskStatus } from "../tracker/task.ts";
import { isCanonicalRow } from "./row-name.ts";

/** Line 1 of a ledger, to the letter: the only mark of one. */
export const LEDGER_MARK = "# Ledger - loop engine";

export type LedgerRow = {
  readonly line: number;
  /** Null when the row is malformed. */
  readonly row: {
    readonly id: string;
    readonly status: TaskStatus;
    readonly tries: number;
    readonly requirement: string;
  } | null;
};

export type LedgerFile = {
  /** The path of its `**Spec:**` line, relative to the toplevel; null where there is none. */
  readonly spec: string | null;
  readonly allowance: number | null;
  readonly rows: readonly LedgerRow[];
  /** The last line of `## Decisions` that is a bullet, without its mark. */
  readonly lastDecision: string | null;
  /** The first line outside of fences that starts `Pending:`; null where there is none. */
  readonly pending: string | null;
  readonly lines: readonly string[];
};

const ALLOWANCE = /^\*\*Allowance:\*\* (\d{1,15})\s*$/;

/** Whether a text is a ledger's. */
export function isLedger(text: string): boolean {
  const end = text.indexOf("\n");
  const first = end < 0 ? text : text.slice(0, end);
  return (first.endsWith("\r") ? first.slice(0, -1) : first) === LEDGER_MARK;
}

/** Source: flow state, section 9.2 */
export function parseLedger(source: string): LedgerFile {
  const text = readDocument(source.replaceAll("\r\n", "\n"));
  const outside = text.lines.filter((_, index) => text.fenced[index] === false);
  const allowance = outside.map((line) => ALLOWANCE.exec(line)?.[1]).find((digits) => digits !== undefined);
  const decisions = sectionOf(text, "## Decisions");
  const last = decisions
    .findLast(({ text: line }) => line.startsWith("- "))
    ?.text.slice(2)
    .trim();
  return {
    spec: specPathOf(text),
    allowance: allowance === undefined ? null : Number(allowance),
    rows: readRows(text),
    lastDecision: last === undefined || last === "" || last === "none" ? null : last,
    pending: outside.find((line) => line.startsWith("Pending:")) ?? null,
    lines: text.lines,
  };
}

type Line = { readonly text: string; readonly line: number };

/** The lines behind the first heading of that text, up to the next one of its level. */
function sectionOf({ lines, fenced }: DocumentText, heading: string): readonly Line[] {
  const at = lines.findIndex((line, index) => fenced[index] === false && line.trimEnd() === heading);
  if (at < 0) return [];
  const found: Line[] = [];
  for (let index = at + 1; index < lines.length; index++) {
    const text = lines[index] ?? "";
    if (fenced[index] === false && text.startsWith("## ")) break;
    found.push({ text, line: index + 1 });
  }
  return found;
}

function readRows(text: DocumentText): readonly LedgerRow[] {
  const section = sectionOf(text, "## Rows");
  const table = section.slice(section.findIndex((each) => !isBlank(each.text)));
  const end = table.findIndex((each) => !each.text.trimStart().startsWith("|"));
  // The header row and the separator row come first.
  return table
    .slice(0, end < 0 ? table.length : end)
    .slice(2)
    .map(({ text: row, line }) => ({ line, row: readRow(row) }));
}

function readRow(text: string): LedgerRow["row"] {
  const cells = cellsOf(text);
  const [id = "", status = "", tries = "", requirement = ""] = cells;
  if (cells.length < 4 || !isCanonicalRow(id) || !isTaskStatus(status) || !/^\d{1,15}$/.test(tries)) return null;
  return { id, status, tries: Number(tries), requirement };
}
