/** A file of a store: nothing but a regular one, behind whatever links its owner made. */
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { WritError } from "../core/error.ts";

/**
 * Makes a file where it is missing. A pipe in its place is not waited for.
 *
 * Errors: `store_failed` where something else is there; those of the file system
 */
export function makeRegular(path: string): void {
  assertRegular(path, statSync(path, { throwIfNoEntry: false }));
  const { O_WRONLY, O_CREAT, O_APPEND, O_NONBLOCK = 0 } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0o600);
  try {
    assertRegular(path, fstatSync(file));
  } finally {
    closeSync(file);
  }
}

/** Errors: `store_failed` */
export function assertRegular(path: string, stat: { isFile(): boolean } | undefined): void {
  if (stat === undefined || stat.isFile()) return;
  throw new WritError("store_failed", `The store "${path}" cannot be used: it is no regular file`, {
    path,
    hint: "Move it away, or name another data folder with WRIT_DATA_DIR",
  });
}
