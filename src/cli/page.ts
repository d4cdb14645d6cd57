/** Laying out a page of text in the width it is given. */

/** Below it names that do not fit their column have their text under them, not beside it. */
const NARROW = 60;

/** How a page looks: its width in columns, and what marks titles and names. */
export type Look = { readonly width: number; title(text: string): string; name(text: string): string };

/** A look without colour. */
export function plainLook(width: number): Look {
  return { width, title: (text) => text, name: (text) => text };
}

export type Row = readonly [name: string, text: string];

/**
 * Two columns; a name that is too long for its column has its text on the next lines. On a narrow page every text
 * then stands under its name.
 */
export function rows(content: readonly Row[], look: Look, indent: number): readonly string[] {
  const widest = Math.max(0, ...content.map(([name]) => name.length));
  const column = Math.min(widest, Math.floor(look.width * 0.4) - indent - 2);
  const isStacked = widest > column && look.width < NARROW;
  const left = " ".repeat(isStacked ? indent + 4 : indent + column + 2);
  return content.flatMap(([name, text]) => {
    if (isStacked || name.length > column) {
      return [
        ...wrap(name, look.width, " ".repeat(indent), " ".repeat(indent + 4)).map(look.name),
        ...wrap(text, look.width, left),
      ];
    }
    const [first = "", ...more] = wrap(text, look.width, left);
    return [
      `${" ".repeat(indent)}${look.name(name)}${" ".repeat(column - name.length + 2)}${first.trimStart()}`.trimEnd(),
      ...more,
    ];
  });
}

/** Stands for a blank at which no line is broken; no text of a page holds it. */
const HELD_BLANK = "\u0000";

/** A text that is to be copied: `wrap` leaves it on one line, however narrow the page. */
export function unbroken(text: string): string {
  return text.replaceAll(" ", HELD_BLANK);
}

/** Words laid out in lines no wider than `width`, except a single word that is wider by itself. */
export function wrap(text: string, width: number, first: string, further = first): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/(?<=\S)\s(?=\S)/)) {
    const start = lines.length === 0 ? first : further;
    if (line === "") line = start + word;
    else if (line.length + 1 + word.length <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = further + word;
    }
  }
  if (line.trim() !== "") lines.push(line);
  return lines.map((each) => each.replaceAll(HELD_BLANK, " "));
}
