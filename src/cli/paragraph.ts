/** A line of talk in a report: indented, and laid out where the terminal is narrow. */
import { stripControls } from "../core/terminal.ts";
import type { Output } from "./command.ts";
import { wrap } from "./page.ts";

/**
 * Prints one text. Where standard output is no terminal it stays on its line, so that a program can read it by lines.
 * Blanks stay as they are: what is quoted may differ in them alone.
 */
export function printParagraph(out: Output, text: string, indent: string): void {
  const line = stripControls(text)
    .replace(/\s+/g, (blanks) => (/[^\S ]/.test(blanks) ? " " : blanks))
    .trim();
  const columns = out.columns();
  if (columns === null) out.line(indent + line);
  else for (const part of wrap(line, columns, indent, `${indent}  `)) out.line(part);
}

/** Facts on one line, two blanks apart; on as many as it takes where the terminal is narrower. */
export function printFacts(out: Output, facts: readonly string[]): void {
  const columns = out.columns();
  const line = facts.join("  ");
  if (columns === null || line.length <= columns) out.line(line);
  else printParagraph(out, facts.join(" "), "");
}
