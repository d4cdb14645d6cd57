/** Names and their values, one a line. */
import { type Markup, markup, type Piece } from "../html/markup.ts";

/** One of them, inside a `dl`; nothing where there is no value. */
export function pair(name: Piece, value: Piece): Markup | null {
  if (value === null || value === undefined || value === false) return null;
  return markup`<div><dt>${name}</dt><dd>${value}</dd></div>
`;
}
