/**
 * Which of a leg's attempts is published, and what is said of the other one.
 *
 * Source: delegation run, section 3.4
 */
import type { Settled } from "./settle-result.ts";

export type Tried = {
  readonly node: string;
  readonly seat: string;
  readonly settled: Settled;
};

/**
 * The better of two attempts that both ran: a success beats everything, otherwise the first stands.
 *
 * @returns the one to publish, and a note about the other
 */
export function bestAttempt<T extends Tried>(first: T, second: T): { readonly best: T; readonly note: string } {
  const isSecond = second.settled.status === "succeeded" && first.settled.status !== "succeeded";
  const [best, other] = isSecond ? [second, first] : [first, second];
  return {
    best,
    note: `${isSecond ? "first attempt" : "second attempt"} on ${other.node}/${other.seat}: ${toldOf(other)}`,
  };
}

function toldOf({ settled }: Tried): string {
  const { status, defer_class, reason } = settled;
  const what = status === "deferred" && defer_class !== "" ? `${status} (${defer_class})` : status;
  return reason === "" ? what : `${what}: ${reason}`;
}
