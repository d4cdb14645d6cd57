/**
 * How many legs are executed at once.
 *
 * A leg that waits at its place for a slot, a load or its turn holds no position, so that legs for other places go on; one
 * place gets no more than a whole window of them, so that those who wait there are not all let go at once.
 *
 * Source: delegation run, section 4.6
 */

type Inside = { readonly place: string; isWaiting: boolean };
type Outside = { readonly order: number; readonly place: string; readonly admit: (isIn: boolean) => void };

export class Window {
  private readonly inside = new Map<number, Inside>();
  private outside: Outside[] = [];

  constructor(private readonly width: number) {}

  /**
   * Waits for a position; those who wait are let in by their order.
   *
   * @returns false where the signal came first
   */
  enter(order: number, place: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const leave = () => {
        this.outside = this.outside.filter((each) => each !== waiting);
        resolve(false);
      };
      const waiting: Outside = {
        order,
        place,
        admit: (isIn) => {
          signal.removeEventListener("abort", leave);
          resolve(isIn);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.outside.push(waiting);
      this.outside.sort((left, right) => left.order - right.order);
      this.fill();
    });
  }

  /** The leg waits at its place, or has stopped waiting there. */
  setWaiting(order: number, isWaiting: boolean): void {
    const leg = this.inside.get(order);
    if (leg === undefined || leg.isWaiting === isWaiting) return;
    leg.isWaiting = isWaiting;
    if (isWaiting) this.fill();
  }

  leave(order: number): void {
    this.inside.delete(order);
    this.fill();
  }

  /** Legs that are at a place and do not wait there. */
  isExecuting(order: number): boolean {
    return this.inside.get(order)?.isWaiting === false;
  }

  private fill(): void {
    for (const each of [...this.outside]) {
      const legs = [...this.inside.values()];
      if (legs.filter(({ isWaiting }) => !isWaiting).length >= this.width) return;
      if (legs.filter(({ place }) => place === each.place).length >= this.width) continue;
      this.outside = this.outside.filter((other) => other !== each);
      this.inside.set(each.order, { place: each.place, isWaiting: false });
      each.admit(true);
    }
  }
}
