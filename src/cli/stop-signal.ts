/** Being asked to stop, for a command that serves until it is. */

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
