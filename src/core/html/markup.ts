/**
 * HTML as values. A text that is put into a template is escaped; only what a template made is let through as it is.
 *
 * `Markup` is a class on purpose: a document from outside may be an object of any shape, and none of them is one.
 */
import { replaceControls } from "../terminal.ts";

export class Markup {
  private constructor(readonly html: string) {}

  /** A template's own text with its values between; `markup` is how one calls it. */
  static of(strings: TemplateStringsArray, values: readonly Piece[]): Markup {
    let html = strings[0] ?? "";
    for (const [index, value] of values.entries()) html += htmlOf(value) + (strings[index + 1] ?? "");
    return new Markup(html);
  }

  toString(): string {
    return this.html;
  }
}

/** What may stand in a template. Null, undefined and false are nothing; a list stands one after the other. */
export type Piece = Markup | string | number | null | undefined | false | readonly Piece[];

/** The tag of a template: markup`<p>${text}</p>`. Attributes with a value in them stand in double quotes. */
export function markup(strings: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  return Markup.of(strings, values);
}

/** The pieces with another between each two. */
export function joined(pieces: readonly Piece[], between: Piece): readonly Piece[] {
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece]));
}

function htmlOf(piece: Piece): string {
  if (piece instanceof Markup) return piece.html;
  if (Array.isArray(piece)) return piece.map(htmlOf).join("");
  return piece === null || piece === undefined || piece === false ? "" : escapeHtml(String(piece));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/**
 * The text as it may stand between tags and in a quoted attribute. What a browser would obey, drop or not show (controls,
 * marks that turn the reading direction, invisible characters) becomes its name in brackets: "[U+202E]".
 */
export function escapeHtml(text: string): string {
  return replaceControls(text, (found) => `[${controlName(found)}]`).replace(
    /[&<>"'`]/g,
    (found) => ENTITIES[found] ?? "",
  );
}

const CONTROL_NAMES = (
  "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI " +
  "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
).split(" ");

/** How a character without a shape of its own is called: a control by its name, any other by its number. */
export function controlName(found: string): string {
  const point = found.codePointAt(0) ?? 0;
  const name = point === 0x7f ? "DEL" : CONTROL_NAMES[point];
  if (name !== undefined) return name;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}
