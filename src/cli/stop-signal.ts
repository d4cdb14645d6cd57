/** Being asked to stop, for a command that serves until it is. */

const HELD_MS = 3_600_000;

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process as it ends any other. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
  });
}

/** Sleeps until then. */
export async function untilStopped(stopped: Promise<void>): Promise<void> {
  // With nothing open, no port and no timer, the runtime goes round and round for a signal instead of sleeping.
  const held = setInterval(() => {}, HELD_MS);
  try {
    await stopped;
  } finally {
    clearInterval(held);
  }
}
