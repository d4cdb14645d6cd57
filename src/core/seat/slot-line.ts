/**
 * The line in which all jobs of this user on this machine wait for a slot of one seat, in whatever process they run.
 *
 * Source: delegation run, section 8.3 point 1
 */

/** What was taken; giving it back again and again does no harm. */
export type Slot = { release(): void };

export type SlotTaken =
  | { readonly kind: "taken"; readonly waited_ms: number; readonly slot: Slot }
  /** No slot within the bound. */
  | { readonly kind: "over"; readonly waited_ms: number }
  | { readonly kind: "aborted"; readonly waited_ms: number };

export type SlotWait = {
  readonly signal: AbortSignal;
  /** The longest wait; 0 or less tries once. */
  readonly bound_ms: number;
  /** Told when there is no slot, and then at every look, some four times a second; `ahead`: jobs that go first. */
  readonly onWait: (waiting: { readonly waited_ms: number; readonly ahead: number }) => void;
};

export type SlotLine = {
  /**
   * Takes one of a seat's slots, or waits for it: who came first goes first.
   *
   * @param seat_key from `seatKey`
   * @param slots    that the seat has; less than 1 counts as 1
   * Errors: `WritError` `state_failed` when the slot files cannot be made
   */
  take(seat_key: string, slots: number, wait: SlotWait): Promise<SlotTaken>;
};
