/**
 * Writing to standard output and standard error, and asking what they are.
 *
 * Writes are synchronous and complete: whoever returns from `writeAll` may end the process. `process.stdout`
 * and `node:tty` stay untouched on ordinary paths: loading them costs more than a whole hook call.
 */
import { fstatSync, readFileSync, statSync, writeSync } from "node:fs";
import { WritError } from "../core/error.ts";
import { utf8Chunks } from "../core/utf8.ts";

const LONGEST_WAIT_MS = 16;

/** Streams whose reader went away; what is written to them from then on is dropped. */
const abandoned = new Set<number>();
/** Whether standard output was there when we started; null until it is written to. */
let isThere: boolean | null = null;

/** O_CLOEXEC, as Linux shows it. */
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Writes the whole text, waiting as long as the reader needs.
 *
 * A reader that has gone (`| head`) is no error: the rest is dropped. Standard error that cannot be written is
 * none either, since there is nobody left to tell.
 *
 * Errors: `output_failed` when standard output takes no more (disk full, device error, closed)
 */
export function writeAll(fd: 1 | 2, text: string): void {
  writePieces(fd, [text]);
}

/** The same for a text in pieces. */
export function writePieces(fd: 1 | 2, pieces: Iterable<string>): void {
  for (const bytes of utf8Chunks(pieces)) {
    if (abandoned.has(fd)) return;
    writeBytes(fd, bytes);
  }
}

function writeBytes(fd: 1 | 2, bytes: Uint8Array): void {
  if (fd === 1) {
    isThere ??= !wasClosed(fd);
    if (!isThere) {
      abandoned.add(fd);
      throw cannotWrite("it is closed", undefined);
    }
  }
  let written = 0;
  let waitMs = 1;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
      waitMs = 1;
    } catch (error) {
      const code = codeOf(error);
      if (code === "EINTR") continue;
      if (code === "EAGAIN") {
        // A non-blocking pipe that is full: the event loop has nothing else to do, so sleeping is as good as polling.
        Bun.sleepSync(waitMs);
        waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
        continue;
      }
      abandoned.add(fd);
      if (code === "EPIPE" || fd === 2) return;
      throw cannotWrite(code ?? String(error), error);
    }
  }
}

function cannotWrite(why: string, cause: unknown): WritError {
  return new WritError("output_failed", `Cannot write standard output: ${why}`, {
    hint: "The command itself went through: look before you repeat it",
    cause,
  });
}

/**
 * Whether a stream was closed when we started (`>&-`). The runtime puts a null device in its place, so that no file that
 * is opened later becomes it; unlike one that was inherited, that one is closed on exec. False where it cannot be told.
 */
function wasClosed(fd: 1): boolean {
  if (process.platform !== "linux") return false;
  try {
    if (fstatSync(fd).rdev !== nullDevice()) return false;
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    return false; // without /proc
  }
}

/** Whether standard output was closed when we started. */
export function isOutputClosed(): boolean {
  return wasClosed(1);
}

/** False once a reader went away or the stream took no more: part of what was written is lost. */
export function hasTakenAll(fd: 1 | 2): boolean {
  return !abandoned.has(fd);
}

/** True when the stream is a terminal. Anything that is not there, a file, a pipe or `/dev/null` is none. */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  let device: { isCharacterDevice(): boolean; readonly rdev: number };
  try {
    device = fstatSync(fd);
  } catch {
    // A closed stream is no terminal.
    return false;
  }
  if (!device.isCharacterDevice() || device.rdev === nullDevice()) return false;
  return process.getBuiltinModule("node:tty").isatty(fd);
}

/** The columns of the terminal that the stream is; null when it is none, or does not tell. */
export function columnsOf(fd: 1 | 2): number | null {
  return sizeOf(fd, "columns");
}

/** The same for its lines. */
export function rowsOf(fd: 1 | 2): number | null {
  return sizeOf(fd, "rows");
}

function sizeOf(fd: 1 | 2, side: "columns" | "rows"): number | null {
  if (!isTerminal(fd)) return null;
  const size = (fd === 1 ? process.stdout : process.stderr)[side];
  return typeof size === "number" && size > 0 ? size : null;
}

function nullDevice(): number | null {
  try {
    return statSync("/dev/null").rdev;
  } catch {
    // Windows has no such file; there the question goes on to isatty.
    return null;
  }
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
