/**
 * Whether any of many texts stands in some document, in time linear in all of them together. Looking for them one by one
 * would read the documents once for each.
 */

/** As many are looked for one by one: quicker than the table for the few that most answers have. */
const ONE_BY_ONE = 16;

/**
 * True when one of the needles occurs verbatim in one of the documents.
 *
 * @param needles none empty; asked for one after the other, and no further than to the first that is found early
 * Source: Aho and Corasick, "Efficient string matching", CACM 18 (1975)
 */
export function occursInAny(needles: Iterable<string>, documents: readonly string[]): boolean {
  const seen = new Set<string>();
  const rest: string[] = [];
  for (const needle of needles) {
    if (seen.has(needle)) continue;
    seen.add(needle);
    if (seen.size > ONE_BY_ONE) rest.push(needle);
    else if (documents.some((document) => document.includes(needle))) return true;
  }
  if (rest.length === 0) return false;
  const table = new Table(rest);
  return documents.some((document) => table.occursIn(document));
}

/** A node is a prefix of a needle; node 0 is the empty one. */
class Table {
  /** From node and code unit, as one number, to the node that is longer by that unit. */
  private readonly next = new Map<number, number>();
  private readonly isNeedle: boolean[] = [false];
  /** The longest proper suffix of a node that is a node. */
  private readonly suffix: number[] = [0];

  constructor(needles: readonly string[]) {
    const parents: number[] = [0];
    const units: number[] = [0];
    for (const needle of needles) {
      let node = 0;
      for (let index = 0; index < needle.length; index++) {
        const unit = needle.charCodeAt(index);
        let longer = this.next.get(keyOf(node, unit));
        if (longer === undefined) {
          longer = parents.length;
          parents.push(node);
          units.push(unit);
          this.isNeedle.push(false);
          this.suffix.push(0);
          this.next.set(keyOf(node, unit), longer);
        }
        node = longer;
      }
      this.isNeedle[node] = true;
    }
    this.linkSuffixes(parents, units);
  }

  /** By length, so that the shorter nodes that a suffix is looked for among are linked before. */
  private linkSuffixes(parents: readonly number[], units: readonly number[]): void {
    const depths: number[] = [0];
    for (let node = 1; node < parents.length; node++) depths.push((depths[parents[node] ?? 0] ?? 0) + 1);
    for (const node of byDepth(depths)) {
      const parent = parents[node] ?? 0;
      if (node === 0 || parent === 0) continue;
      const suffix = this.step(this.suffix[parent] ?? 0, units[node] ?? 0);
      this.suffix[node] = suffix;
      if (this.isNeedle[suffix] === true) this.isNeedle[node] = true;
    }
  }

  occursIn(text: string): boolean {
    let node = 0;
    for (let index = 0; index < text.length; index++) {
      node = this.step(node, text.charCodeAt(index));
      if (this.isNeedle[node] === true) return true;
    }
    return false;
  }

  private step(from: number, unit: number): number {
    for (let node = from; ; node = this.suffix[node] ?? 0) {
      const longer = this.next.get(keyOf(node, unit));
      if (longer !== undefined) return longer;
      if (node === 0) return 0;
    }
  }
}

function keyOf(node: number, unit: number): number {
  return node * 0x10000 + unit;
}

/** The indices of the depths, the smallest depth first. */
function byDepth(depths: readonly number[]): readonly number[] {
  const rows: number[][] = [];
  for (const [node, depth] of depths.entries()) {
    const row = rows[depth];
    if (row === undefined) rows[depth] = [node];
    else row.push(node);
  }
  return rows.flat();
}
