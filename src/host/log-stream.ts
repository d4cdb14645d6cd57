/**
 * Standard error of a process that serves: whoever reads it slowly, or no more, does not hold the process up. What waits
 * is bounded, and the newest of it is kept.
 */
import { write } from "node:fs";
import { openOutbox } from "./outbox.ts";

export type LogStream = {
  /** Adds a line. Errors: none */
  write(line: string): void;
  /** Waits until all is written, at most so long. */
  flush(waitMs: number): Promise<void>;
};

const MOST_WAITING = 1000;
const AGAIN_MS = 50;

/** @param fd of an open stream; one that takes no more is left alone from then on */
export function openLogStream(fd: number): LogStream {
  const outbox = openOutbox(
    (text) => writeWhole(fd, new TextEncoder().encode(text)),
    MOST_WAITING,
    () => {},
  );
  return {
    write: (line) => outbox.postDroppable(line),
    async flush(waitMs) {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, waitMs);
      await Promise.race([outbox.drained(), late.promise]);
      clearTimeout(timer);
    },
  };
}

/** Rejects when the stream takes no more. */
async function writeWhole(fd: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const written = await new Promise<number>((resolve, reject) => {
      write(fd, bytes, at, (error, count) => {
        if (error === null || error === undefined) resolve(count);
        else if (error.code === "EAGAIN" || error.code === "EINTR") resolve(0);
        else reject(error);
      });
    });
    at += written;
    if (written === 0) await Bun.sleep(AGAIN_MS);
  }
}
