/** Who works in a slot and who waits for one, in the order of arrival. */
export class SlotLine<T> {
  private running = 0;
  private readonly waiting = new Set<T>();

  /**
   * @param slots     slots there are
   * @param strangers those that others hold at a time
   */
  constructor(
    private readonly slots: number,
    private readonly strangers: (at: number) => number,
  ) {}

  get waitingCount(): number {
    return this.waiting.size;
  }

  /** Slots that nobody holds; what strangers took while all of them worked is not below 0. */
  freeAt(at: number): number {
    return Math.max(0, this.slots - this.running - this.strangers(at));
  }

  /** Slots that are taken, strangers counted in. */
  takenAt(at: number): number {
    return this.slots - this.freeAt(at);
  }

  /** Whether somebody who comes now would work at once. */
  isOpenAt(at: number): boolean {
    return this.waiting.size === 0 && this.freeAt(at) > 0;
  }

  enter(one: T): void {
    this.waiting.add(one);
  }

  /** Leaves the line, and answers whether it stood in it. */
  leave(one: T): boolean {
    return this.waiting.delete(one);
  }

  /** Those who work from now on: the first of the line, as many as there are free slots. */
  admit(at: number): readonly T[] {
    const admitted: T[] = [];
    for (const one of this.waiting) {
      if (this.freeAt(at) === 0) break;
      this.waiting.delete(one);
      this.running += 1;
      admitted.push(one);
    }
    return admitted;
  }

  /** Somebody who was admitted gives the slot back. */
  release(): void {
    this.running -= 1;
  }
}
