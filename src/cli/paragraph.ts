/** A line of talk in a report: indented, and laid out where the terminal is narrow. */
import type { Output } from "./command.ts";
import { wrap } from "./page.ts";
import { oneLine } from "./table.ts";

/** Prints one text. Where standard output is no terminal it stays on its line, so that a program can read it by lines. */
export function printParagraph(out: Output, text: string, indent: string): void {
  const line = oneLine(text);
  const columns = out.columns();
  if (columns === null) out.line(indent + line);
  else for (const part of wrap(line, columns, indent, `${indent}  `)) out.line(part);
}

/** `3 checks`, `1 check`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
