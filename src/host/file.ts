/** Reading files that somebody named: bounded, as UTF-8, with errors that say which file and why. */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { WritError } from "../core/error.ts";

const CHUNK_BYTES = 64 * 1024;

/** The largest output of a harness that is read from its file, in bytes. */
const PERSISTED_LIMIT = 1024 * 1024 * 1024;

/** The largest part of a transcript that is read, in bytes, and its longest line, in code units. */
const TRANSCRIPT_LIMIT = 256 * 1024 * 1024;
const LINE_LIMIT = 16 * 1024 * 1024;

/**
 * Everything a file descriptor gives, up to a limit. Waits for a slow writer, also on a non-blocking pipe.
 *
 * Errors: `body_too_large`.
 */
export function readAll(file: number, maxBytes: number, what: string): Uint8Array {
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const piece = Buffer.allocUnsafe(CHUNK_BYTES);
    const length = readSome(file, piece);
    if (length === 0) return Buffer.concat(pieces);
    size += length;
    if (size > maxBytes) {
      throw new WritError("body_too_large", `The body from ${what} has more than ${maxBytes / 1024 / 1024} MiB`, {
        hint: "Keep long outputs in files and name them",
      });
    }
    pieces.push(piece.subarray(0, length));
  }
}

/** Errors: `bad_json`, with the place of the first byte that is no UTF-8. */
export function decodeBody(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new WritError("bad_json", `The body from ${what} is no UTF-8 text: byte ${firstBadByte(bytes)}`, {
      hint: "Write it as UTF-8",
      cause: error,
    });
  }
}

/**
 * Streams the text of a regular file into the sink, piece by piece.
 *
 * @returns false when it is no readable regular file, or larger than 1 GiB; then the sink may have got a part
 */
export function streamTextFile(path: string, sink: (text: string) => void): boolean {
  return (
    withRegularFile(path, PERSISTED_LIMIT, (file) => {
      for (const text of textOf(file)) sink(text);
      return true;
    }) === true
  );
}

/** The lines of a regular file without their ends, at most 256 MiB of it; null when it cannot be read. Too long lines are left out. */
export function readTextLines(path: string): readonly string[] | null {
  return withRegularFile(path, TRANSCRIPT_LIMIT, (file) => {
    const lines: string[] = [];
    // The pieces of the line that is open: joined once, so that a long line costs no more than its length.
    let open: string[] = [];
    let length = 0;
    const grow = (part: string) => {
      length += part.length;
      if (length <= LINE_LIMIT) open.push(part);
      else open = [];
    };
    for (const text of textOf(file)) {
      const [first = "", ...further] = text.split("\n");
      grow(first);
      for (const part of further) {
        if (length <= LINE_LIMIT) lines.push(open.join(""));
        open = [];
        length = 0;
        grow(part);
      }
    }
    if (length > 0 && length <= LINE_LIMIT) lines.push(open.join(""));
    return lines;
  });
}

function withRegularFile<T>(path: string, limit: number, read: (file: number) => T): T | null {
  let file: number;
  try {
    // The opening of a pipe would wait for its writer.
    if (!statSync(path).isFile()) return null;
    file = openSync(path, "r");
  } catch {
    return null; // not there, or not ours to read
  }
  try {
    const stat = fstatSync(file);
    return stat.isFile() && stat.size <= limit ? read(file) : null;
  } catch {
    return null; // gone or broken while it was read
  } finally {
    closeSync(file);
  }
}

function* textOf(file: number): Generator<string> {
  const decoder = new TextDecoder();
  const piece = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let length = readSync(file, piece); length > 0; length = readSync(file, piece)) {
    yield decoder.decode(piece.subarray(0, length), { stream: true });
  }
  yield decoder.decode();
}

function readSome(file: number, piece: Buffer): number {
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 16)) {
    try {
      return readSync(file, piece);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EOF") return 0;
      if (code === "EINTR") continue;
      if (code === "EISDIR") throw new WritError("file_unreadable", "Cannot read a folder as a body", { cause: error });
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(waitMs);
    }
  }
}

function firstBadByte(bytes: Uint8Array): number {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let good = 0;
  let bad = bytes.length;
  // The longest good beginning, by halving: a beginning may be cut inside a character, which streaming allows.
  while (good + 1 < bad) {
    const middle = (good + bad) >> 1;
    try {
      decoder.decode(bytes.subarray(0, middle), { stream: true });
      good = middle;
    } catch {
      bad = middle;
    }
    try {
      decoder.decode();
    } catch {
      // only resets the decoder
    }
  }
  return bad;
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
