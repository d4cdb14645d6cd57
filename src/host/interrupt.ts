/** Being asked to stop: a signal that ends the work, so that what was begun can be cleaned up. */
import { constants } from "node:os";

const ASKING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export type Interruptible = {
  /** Aborted by the first of the signals. */
  readonly signal: AbortSignal;
  /** The signal that came, with the status of a process that it ended; null while none did. */
  received(): { readonly name: string; readonly status: number } | null;
  /** Listens no more. */
  [Symbol.dispose](): void;
};

/**
 * Listens for the signals that ask a process to end.
 *
 * @param again null: further ones change nothing. Else the next one ends the process at once, as if nobody had listened,
 *              behind what `last` still has to do
 */
export function interruptible(again: { readonly last: () => void } | null = null): Interruptible {
  const controller = new AbortController();
  let received: (typeof ASKING)[number] | null = null;
  const handlers: readonly (() => void)[] = ASKING.map((name) => {
    const handler = () => {
      if (received !== null && again !== null) {
        again.last();
        for (const stop of handlers) stop();
        process.kill(process.pid, name);
        return;
      }
      received ??= name;
      controller.abort(new Error(`stopped by ${name}`));
    };
    process.on(name, handler);
    return () => process.off(name, handler);
  });
  return {
    signal: controller.signal,
    received: () => (received === null ? null : { name: received, status: 128 + constants.signals[received] }),
    [Symbol.dispose]() {
      for (const stop of handlers) stop();
    },
  };
}
