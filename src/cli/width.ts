/** How wide a page or a table may be. */
import { columnsOf } from "../host/stream.ts";

/** What a page is laid out for where nobody says how wide it may be. */
const USUAL = 80;
/** Longer lines are hard to read, however wide the terminal is. */
const WIDEST_PAGE = 100;
const NARROWEST_PAGE = 40;
/** A terminal that is narrower is treated as one of this width. */
const NARROWEST_TERMINAL = 20;

/**
 * The columns of a terminal: `COLUMNS`, else what the terminal itself says.
 *
 * @returns null when the stream is no terminal; it is not asked for its size then
 */
export function terminalWidth(fd: 1 | 2, columns: string | undefined): number | null {
  const own = columnsOf(fd);
  return own === null ? null : Math.max(NARROWEST_TERMINAL, named(columns) ?? own);
}

/** The width of a page of help: the terminal's; elsewhere `COLUMNS`, within what is readable, else 80. */
export function pageWidth(fd: 1 | 2, columns: string | undefined): number {
  const terminal = terminalWidth(fd, columns);
  return Math.min(WIDEST_PAGE, terminal ?? Math.max(NARROWEST_PAGE, named(columns) ?? USUAL));
}

function named(columns: string | undefined): number | null {
  const width = /^[0-9]{1,4}$/.test(columns ?? "") ? Number(columns) : 0;
  return width === 0 ? null : width;
}
