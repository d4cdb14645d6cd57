/** Standard input: a body to its end, or a hook's payload to the close of its object. */
import { WritError } from "../core/error.ts";
import { decodeBody, readAll } from "./file.ts";

/**
 * Standard input to its end.
 *
 * Errors: `body_too_large`, `bad_json` when it is no UTF-8.
 */
export async function readStdinText(maxBytes: number): Promise<string> {
  return decodeBody(readAll(0, maxBytes, "standard input"), "standard input");
}

/**
 * Standard input to its end, where something comes within a time; null where nothing does. An agent's pipe may stay open
 * and empty.
 *
 * Errors: `body_too_large`, `bad_json` when it is no UTF-8
 */
export async function readStdinWithin(limits: {
  readonly maxBytes: number;
  readonly firstMillis: number;
  readonly wholeMillis: number;
}): Promise<string | null> {
  const reader = Bun.stdin.stream().getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = (ms: number) =>
    new Promise<"late">((resolve) => {
      clearTimeout(timer);
      timer = setTimeout(() => resolve("late"), ms);
    });
  let deadline = late(limits.firstMillis);
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), deadline]);
      if (next === "late" || next.done) break;
      // From the first piece on the whole has its own time.
      if (size === 0) deadline = late(limits.wholeMillis);
      size += next.value.length;
      if (size > limits.maxBytes) {
        throw new WritError("body_too_large", `The text from standard input has more than ${limits.maxBytes} bytes`);
      }
      pieces.push(next.value);
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "EISDIR" || error.code === "EBADF")) return null;
    throw error;
  } finally {
    clearTimeout(timer);
    // Not awaited: on a pipe that stays open the cancellation may never settle.
    void reader.cancel().catch(() => {});
  }
  return size === 0 ? null : decodeBody(Buffer.concat(pieces), "standard input");
}

export type HookPayload =
  | { readonly kind: "text"; readonly text: string }
  /** Nothing but white space came before the end, or before the time was up. */
  | { readonly kind: "none" }
  | { readonly kind: "too_large" }
  /** Something began and did not close in time. */
  | { readonly kind: "timeout" };

/**
 * A hook's payload: everything up to the close of the top-level object or list, or to the end.
 *
 * The pipe may stay open behind the object: reading stops there, whatever follows, and the process can end by itself.
 */
export async function readHookPayload(limits: {
  readonly maxBytes: number;
  readonly maxMillis: number;
}): Promise<HookPayload> {
  const reader = Bun.stdin.stream().getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), limits.maxMillis);
  });
  const pieces: Uint8Array[] = [];
  const scanner = new CloseScanner();
  let size = 0;
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), late]);
      if (next === "late") return { kind: scanner.hasBegun ? "timeout" : "none" };
      if (next.done) break;
      size += next.value.length;
      if (size > limits.maxBytes) return { kind: "too_large" };
      const end = scanner.scan(next.value);
      pieces.push(end === null ? next.value : next.value.subarray(0, end));
      if (end !== null) break;
    }
  } catch (error) {
    // A folder, or a descriptor that was closed: nothing can come from there.
    if (error instanceof Error && "code" in error && (error.code === "EISDIR" || error.code === "EBADF"))
      return { kind: "none" };
    throw error;
  } finally {
    clearTimeout(timer);
    // Not awaited: on a pipe that stays open the cancellation may never settle.
    void reader.cancel().catch(() => {});
  }
  const text = new TextDecoder().decode(Buffer.concat(pieces));
  return text.trim() === "" ? { kind: "none" } : { kind: "text", text };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Finds the close of the top-level object or list in bytes that come piece by piece. */
class CloseScanner {
  hasBegun = false;
  private depth = 0;
  private inString = false;
  private isEscaped = false;

  /** Where in this piece the top level has closed; null when it has not. */
  scan(piece: Uint8Array): number | null {
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] ?? 0;
      if (this.inString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH) this.isEscaped = true;
        else if (byte === QUOTE) this.inString = false;
        continue;
      }
      if (byte > 0x20) this.hasBegun = true;
      if (byte === QUOTE) this.inString = true;
      else if (OPENING.has(byte)) this.depth++;
      else if (CLOSING.has(byte) && --this.depth <= 0) return at + 1;
    }
    return null;
  }
}
