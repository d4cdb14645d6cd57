/**
 * How many jobs this process holds open at each node, over all calls that run in it at once: one process never fills a
 * node beyond what the node itself says it takes.
 *
 * Source: delegation run, section 4.6
 */
export class HeldJobs {
  readonly #counts = new Map<string, number>();

  /**
   * Takes a position at a node, by its base URL.
   *
   * @param most the `max_queue` that the node publishes; 0 or negative: no limit is known
   * @returns    false where all of them are held
   */
  enter(url: string, most: number): boolean {
    const held = this.at(url);
    if (most > 0 && held >= most) return false;
    this.#counts.set(url, held + 1);
    return true;
  }

  /** Gives a position back. */
  leave(url: string): void {
    const held = this.at(url);
    if (held > 1) this.#counts.set(url, held - 1);
    else this.#counts.delete(url);
  }

  at(url: string): number {
    return this.#counts.get(url) ?? 0;
  }
}
