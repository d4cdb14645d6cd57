/** The clock of workflows that wait: it never runs backwards, and a wait ends with its signal. */

/** A timer of the runtime cannot be set for longer than 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

export const monotonic = { ms: () => performance.now() };

/** Resolves after so many milliseconds, or when the signal comes. Never rejects, and leaves no timer behind. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(Math.max(0, ms), LONGEST_MS));
    signal.addEventListener("abort", end);
  });
}
