/**
 * Changes to the lines of a document, gathered and then made together: all places are those of the document as it was.
 * Of two changes at one place the first wins.
 */

type Replacement = { readonly at: number; readonly length: number; readonly text: string };

export class LineEdits {
  private readonly replaced = new Map<number, Map<number, Replacement>>();
  private readonly dropped = new Set<number>();
  private readonly inserted = new Map<number, string[]>();

  /** @param line from 1; @param at from 0, in code units */
  replace(line: number, at: number, length: number, text: string): void {
    const own = this.replaced.get(line) ?? new Map<number, Replacement>();
    if (!own.has(at)) own.set(at, { at, length, text });
    this.replaced.set(line, own);
  }

  drop(line: number): void {
    this.dropped.add(line);
  }

  /** Puts lines behind a line, behind those that were put there before. */
  insertBehind(line: number, ...lines: readonly string[]): void {
    this.inserted.set(line, [...(this.inserted.get(line) ?? []), ...lines]);
  }

  /** The lines that were put behind a line so far. */
  behind(line: number): readonly string[] {
    return this.inserted.get(line) ?? [];
  }

  apply(lines: readonly string[]): string {
    const out: string[] = [];
    for (const [index, text] of lines.entries()) {
      const line = index + 1;
      if (!this.dropped.has(line)) out.push(this.edited(line, text));
      out.push(...this.behind(line));
    }
    return out.join("\n");
  }

  private edited(line: number, text: string): string {
    const changes = [...(this.replaced.get(line)?.values() ?? [])].sort((one, other) => one.at - other.at);
    let done = "";
    let from = 0;
    for (const { at, length, text: put } of changes) {
      if (at < from) continue;
      done += text.slice(from, at) + put;
      from = at + length;
    }
    return done + text.slice(from);
  }
}
