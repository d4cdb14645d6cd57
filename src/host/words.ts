/** The words of the command line, as they came. */
import { readFileSync } from "node:fs";

/**
 * The first word that is no UTF-8, counted from 0: what the program was given has U+FFFD in its place, and is another word.
 *
 * @param argv the words behind the executable
 * @returns    null where there is none, and where the platform does not tell (only Linux does)
 * Errors: none
 */
export function firstBrokenWord(argv: readonly string[]): number | null {
  if (process.platform !== "linux" || !argv.some((word) => word.includes("\ufffd"))) return null;
  const words = readCommandLine().slice(-argv.length);
  const at = words.findIndex((word) => !Buffer.from(word.toString()).equals(word));
  return at < 0 ? null : at;
}

function readCommandLine(): readonly Buffer[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync("/proc/self/cmdline");
  } catch {
    return []; // a machine that hides it
  }
  const words: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from);
    words.push(bytes.subarray(from, end < 0 ? bytes.length : end));
    from = end < 0 ? bytes.length : end + 1;
  }
  return words;
}
