/** A payload of evidence: a file that somebody named, standard input, or text that was typed. */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { WritError } from "../core/error.ts";
import { extensionOf, INLINE_LIMIT, type Payload } from "../core/evidence/payload.ts";
import { readFault } from "../core/file-fault.ts";

const CHUNK_BYTES = 64 * 1024;
/** The largest file that is kept as evidence, in bytes. */
const ARTIFACT_LIMIT = 1024 * 1024 * 1024;

/** A payload that is open until it is closed. */
export type OpenPayload = Payload & { close(): void };

/**
 * A regular file; a link is followed to one, and what is kept is a copy. Its size is not trusted: it is read to its end.
 *
 * Errors: `file_unreadable` for what is missing, not ours, or no regular file; while its pieces are read also when it
 * is larger than 1 GiB.
 */
export function openArtifact(path: string): OpenPayload {
  const file = openRegular(path);
  try {
    const head = readHead(path, file);
    return {
      head,
      extension: extensionOf(path),
      close: () => closeSync(file),
      *pieces() {
        yield head;
        let size = head.length;
        for (;;) {
          const piece = Buffer.allocUnsafe(CHUNK_BYTES);
          const length = readSome(path, file, piece, 0);
          if (length === 0) return;
          size += length;
          if (size > ARTIFACT_LIMIT) throw unreadable(path, "it has more than 1 GiB");
          yield piece.subarray(0, length);
        }
      },
    };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Bytes that are in memory already, as a payload. */
export function payloadOf(bytes: Uint8Array): OpenPayload {
  return {
    head: bytes.subarray(0, INLINE_LIMIT + 1),
    extension: isText(bytes) ? ".txt" : ".bin",
    pieces: () => [bytes],
    close: () => {},
  };
}

function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false; // no UTF-8
  }
}

function openRegular(path: string): number {
  let file: number;
  try {
    // Asked before and after: opening a device may do something, and opening a pipe would wait for its writer.
    const kind = statSync(path);
    if (!kind.isFile()) throw unreadable(path, kind.isDirectory() ? "it is a folder" : "it is no regular file");
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw error instanceof WritError ? error : unreadable(path, readFault(error), error);
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw unreadable(path, "it is no regular file");
}

function readHead(path: string, file: number): Uint8Array {
  const head = Buffer.allocUnsafe(INLINE_LIMIT + 1);
  let size = 0;
  while (size < head.length) {
    const length = readSome(path, file, head, size);
    if (length === 0) break;
    size += length;
  }
  return head.subarray(0, size);
}

function readSome(path: string, file: number, into: Buffer, at: number): number {
  try {
    return readSync(file, into, at, into.length - at, null);
  } catch (error) {
    throw unreadable(path, readFault(error), error);
  }
}

function unreadable(path: string, why: string, cause?: unknown): WritError {
  return new WritError("file_unreadable", `Cannot read "${path}": ${why}`, {
    path,
    hint: "Name a readable file, or pipe its content into --text -",
    cause,
  });
}
