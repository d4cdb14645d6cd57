/** A line that a person types at a terminal. */
import { readSync } from "node:fs";
import { isTerminal, writeAll } from "./stream.ts";

const LONGEST = 4_096;
const NEWLINE = 0x0a;

/**
 * Asks on standard error, and waits for a line of standard input.
 *
 * @returns null where one of the two is no terminal, or the input ends
 */
export function askLine(prompt: string): string | null {
  if (!isTerminal(0) || !isTerminal(2)) return null;
  writeAll(2, prompt);
  const bytes: number[] = [];
  const one = new Uint8Array(1);
  for (;;) {
    const length = readByte(one);
    if (length === 0) return bytes.length === 0 ? null : textOf(bytes);
    const byte = one[0] ?? NEWLINE;
    if (byte === NEWLINE) return textOf(bytes);
    if (bytes.length < LONGEST) bytes.push(byte);
  }
}

function readByte(into: Uint8Array): number {
  for (;;) {
    try {
      return readSync(0, into);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : "";
      if (code === "EOF") return 0;
      if (code === "EAGAIN") Bun.sleepSync(10);
      else if (code !== "EINTR") throw error;
    }
  }
}

function textOf(bytes: readonly number[]): string {
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
