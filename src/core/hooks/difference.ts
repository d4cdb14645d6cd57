/** What changes in a text, line by line, for a person: the form of a unified diff. It is shown and never applied. */

const CONTEXT = 3;
/** Cells of the comparison: beyond, what lies between the common beginning and end is shown as replaced. */
const CELLS = 1_000_000;

type Line = { readonly mark: " " | "-" | "+"; readonly text: string };

/**
 * @param before null where there was no file
 * @returns lines without their ends; none where nothing changes
 */
export function differenceLines(before: string | null, after: string, path: string): readonly string[] {
  if (before === after) return [];
  const lines = compare(linesOf(before ?? ""), linesOf(after));
  const shown = [`--- ${before === null ? "/dev/null" : path}`, `+++ ${path}`];
  let old = 1;
  let now = 1;
  for (const [at, line] of lines.entries()) {
    const isNear = (index: number) => lines.slice(Math.max(index - CONTEXT, 0), index + CONTEXT + 1).some(isChange);
    if (isNear(at)) {
      if (at === 0 || !isNear(at - 1)) {
        let end = at;
        while (end < lines.length && isNear(end)) end += 1;
        shown.push(headOf(lines.slice(at, end), old, now));
      }
      shown.push(line.mark + line.text);
    }
    if (line.mark !== "+") old += 1;
    if (line.mark !== "-") now += 1;
  }
  return shown;
}

function headOf(hunk: readonly Line[], old: number, now: number): string {
  const side = (start: number, other: "-" | "+") => {
    const count = hunk.filter((line) => line.mark !== other).length;
    return `${count === 0 ? start - 1 : start},${count}`;
  };
  return `@@ -${side(old, "+")} +${side(now, "-")} @@`;
}

function isChange(line: Line): boolean {
  return line.mark !== " ";
}

/** Lines with a trailing carriage return shown as they are; a missing last line end is said. */
function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last} (no end of line)`];
}

function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const room = Math.min(before.length, after.length) - start;
  while (end < room && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]) => lines.map((text): Line => ({ mark: " ", text }));
  return [
    ...same(before.slice(0, start)),
    ...between(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(end === 0 ? [] : before.slice(-end)),
  ];
}

/** By the longest common subsequence. */
function between(before: readonly string[], after: readonly string[]): readonly Line[] {
  const width = after.length + 1;
  if ((before.length + 1) * width > CELLS) {
    return [...before.map((text): Line => ({ mark: "-", text })), ...after.map((text): Line => ({ mark: "+", text }))];
  }
  const length = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => length[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      length[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: Line[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const [old, now] = [before[row], after[column]];
    if (old !== undefined && old === now) {
      lines.push({ mark: " ", text: old });
      row += 1;
      column += 1;
    } else if (old !== undefined && (now === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ mark: "-", text: old });
      row += 1;
    } else {
      lines.push({ mark: "+", text: now ?? "" });
      column += 1;
    }
  }
  return lines;
}
