/** A tree made for one proof alone: what was copied, and where it is. */
export type FreshCopy = {
  /** Of a git work tree, its present state; of a folder, all of it. */
  readonly kind: "git" | "folder";
  /** What was copied: the root of the work tree, or the folder. */
  readonly source: string;
  /** Null outside of git, and before the first commit. */
  readonly commit: string | null;
  /** Whether the work tree differs from its commit; null outside of git. */
  readonly dirty: boolean | null;
  readonly files: number;
  readonly bytes: number;
  /** One line for each thing that was left out: sockets, pipes, devices. */
  readonly skipped: readonly string[];
  /** What git ignores and the copy therefore lacks, at most five by name. */
  readonly ignored: readonly string[];
  /** The copy of the source. */
  readonly root: string;
  /** The copy of the folder that was asked for: the root, or a folder in it. */
  readonly folder: string;
  /** Removes the copy. Answers why it could not, or null. */
  remove(): string | null;
};
