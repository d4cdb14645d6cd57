/**
 * The folder of one job as its tools see it: the port between `seat/` and `host/`.
 *
 * Paths are relative to the job's root, with `/`; every one is checked and walked segment by segment, and a link is
 * never followed. What is refused or cannot be done is an answer, not an error: the seat is told and goes on.
 */
import type { Document } from "../delegation/document.ts";

/** Why a call gave nothing. "refused": nothing was done, by a rule. "failed": it was tried and failed (disk, permission). */
export type Refusal = { readonly ok: false; readonly kind: "refused" | "failed"; readonly message: string };

export type Entry = { readonly name: string; readonly kind: "file" | "folder" };

/**
 * One file of a snapshot; `opaque` stands for what is larger than 1 MiB or unreadable, and holds its size and a digest that
 * changes with the file.
 */
export type SnapshotFile =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "opaque"; readonly size_bytes: number; readonly digest: string };

/** Every regular file below the write root, by its path from the job's root, in the order of its path's bytes. */
export type Snapshot = ReadonlyMap<string, SnapshotFile>;

export type Workspace = {
  /** Makes the folder (0700) and one file (0600) for each document at exactly its name. Errors: `WritError` `job_folder_failed` */
  fill(documents: readonly Document[]): void;
  /** Makes the write root where it is missing. Refused where it is anything but a real folder. */
  makeRoot(writeRoot: string): { readonly ok: true } | Refusal;
  /** Entries sorted by name; links and special files are left out. */
  list(path: string): { readonly ok: true; readonly entries: readonly Entry[] } | Refusal;
  /** Bytes of a regular file, at most 16 MiB. */
  read(path: string): { readonly ok: true; readonly bytes: Uint8Array } | Refusal;
  /** Every regular file at or below a path, sorted by path; at most 10,000. */
  walk(path: string): { readonly ok: true; readonly paths: readonly string[] } | Refusal;
  /**
   * Creates or replaces a file whole, under `writeRoot` by the rules of write paths (delegation run 6.2). One that failed
   * left the old file as it was. `path` is the normalised one.
   */
  write(path: string, bytes: Uint8Array, writeRoot: string): { readonly ok: true; readonly path: string } | Refusal;
  /** Empty where the write root is not there. Errors: `WritError` `job_folder_failed` */
  snapshot(writeRoot: string): Snapshot;
  /** Removes the folder of the job and all that is in it. Never throws: what stays is swept at a later start. */
  remove(): void;
};
