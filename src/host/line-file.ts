/** A file that grows by lines while a process runs: opened once, from its beginning, and bounded. */
import { closeSync, openSync, writeSync } from "node:fs";
import { WritError } from "../core/error.ts";
import { writeFault } from "../core/file-fault.ts";

export type LineFile = {
  /**
   * Writes one line, its end added.
   *
   * @returns false when the file is full: nothing was written then, and nothing is any more
   * Errors: `file_unwritable`
   */
  write(line: string): boolean;
  close(): void;
};

/**
 * Opens a file for lines. What was in it is gone.
 *
 * Errors: `file_unwritable`
 */
export function openLineFile(path: string, maxBytes: number): LineFile {
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const why = writeFault(error);
      throw new WritError("file_unwritable", `Cannot write "${path}": ${why}`, { cause: error });
    }
  };
  const file = guarded(() => openSync(path, "w"));
  let size = 0;
  let isFull = false;
  return {
    write(line) {
      const bytes = new TextEncoder().encode(`${line}\n`);
      isFull ||= size + bytes.length > maxBytes;
      if (isFull) return false;
      size += bytes.length;
      guarded(() => {
        for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      });
      return true;
    },
    close: () => closeSync(file),
  };
}
