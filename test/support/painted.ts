/** What stands on a terminal after a text was written to it: the few sequences that a repainted display uses. */
export function painted(text: string): { readonly lines: readonly string[]; readonly hasCursor: boolean } {
  const lines: string[] = [""];
  let row = 0;
  let hasCursor = true;
  let column = 0;
  for (const [found, sequence, plain] of text.matchAll(/(\x1b\[\??\d*[A-Za-z]|\r|\n)|([^\x1b\r\n]+)/g)) {
    if (plain !== undefined) {
      const line = lines[row] ?? "";
      lines[row] = line.slice(0, column).padEnd(column) + plain + line.slice(column + plain.length);
      column += plain.length;
      continue;
    }
    if (sequence === "\r") column = 0;
    else if (sequence === "\n") {
      row += 1;
      column = 0;
      lines[row] ??= "";
    } else if (sequence === "\x1b[J") lines.splice(row + 1, lines.length, ...(column === 0 ? [] : []));
    else if (sequence === "\x1b[?25l") hasCursor = false;
    else if (sequence === "\x1b[?25h") hasCursor = true;
    else if (/^\x1b\[\d+A$/.test(sequence ?? "")) row = Math.max(0, row - Number(found.slice(2, -1)));
    else throw new Error(`nobody knows ${JSON.stringify(found)}`);
    if (sequence === "\x1b[J") lines[row] = (lines[row] ?? "").slice(0, column);
  }
  return { lines: lines.at(-1) === "" ? lines.slice(0, -1) : lines, hasCursor };
}
