/** A lock between processes that the operating system takes back when its holder dies. */
import { dlopen } from "bun:ffi";
import { closeSync, constants, openSync } from "node:fs";

const LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`],
  darwin: ["libSystem.B.dylib"],
};

const LOCK_EX = 2;
const LOCK_NB = 4;
const LONGEST_PAUSE_MS = 50;

/** False where the C library cannot be had: `lockFile` locks nothing then. */
export function canLock(): boolean {
  return findFlock() !== null;
}

/**
 * Locks a file or a folder that is there. Where the C library cannot be had (Windows) nothing is locked.
 *
 * @returns what lets it go; null when somebody else holds it for as long as `waitMs`
 */
export function lockFile(path: string, waitMs: number): (() => void) | null {
  const flock = findFlock();
  if (flock === null) return () => {};
  // A pipe in its place is not waited for.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const began = performance.now();
  for (let pauseMs = 1; flock(file, LOCK_EX | LOCK_NB) !== 0; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (performance.now() - began >= waitMs) {
      closeSync(file);
      return null;
    }
    Bun.sleepSync(pauseMs);
  }
  return () => closeSync(file);
}

type Flock = (file: number, operation: number) => number;

/** Bound once: each binding is code that stays. Undefined before the first. */
let bound: Flock | null | undefined;

function findFlock(): Flock | null {
  bound ??= bindFlock();
  return bound;
}

function bindFlock(): Flock | null {
  for (const name of LIBRARIES[process.platform] ?? []) {
    try {
      return dlopen(name, { flock: { args: ["i32", "i32"], returns: "i32" } }).symbols.flock;
    } catch {
      // not this name: a musl system has no libc.so.6
    }
  }
  return null;
}
