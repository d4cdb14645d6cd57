/** What plan check and plan repair need of the world. The command line hands in the real one. */
import type { Expansion } from "../core/plan/check/context.ts";
import type { FlowStore } from "../core/tracker/repository.ts";

/** A file as it was read: its text, and the SHA-256 of its bytes. */
export type ReadFile = { readonly text: string; readonly sha256: string };

export type GitAnswer = { readonly ok: boolean; readonly stdout: string; readonly stderr: string };

export type PlanWorld = {
  /** Absolute, against a folder; `.` and `..` resolved, links not followed. */
  resolve(folder: string, path: string): string;
  /** The folder that holds a path. */
  folderOf(path: string): string;
  /** Null where it is no regular file, too large, no UTF-8, or not ours to read. */
  readFile(path: string): ReadFile | null;
  /** Puts a text in the place of a file, whole or not at all; a link's target is what is replaced. */
  replaceFile(path: string, text: string): void;
  /** The toplevel of the checkout that holds a folder; null outside of git. */
  toplevelOf(folder: string): string | null;
  filesOf(toplevel: string): { exists(path: string): boolean; expand(pattern: string): Expansion };
  /** The flow store of the checkout at a folder. */
  storeAt(folder: string): FlowStore;
  /** Errors: `git_missing` */
  git(dir: string, args: readonly string[]): GitAnswer;
  /** The SHA-256 of a text's bytes. */
  sha256(text: string): string;
};
