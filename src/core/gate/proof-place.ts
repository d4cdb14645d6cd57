/** Where proofs are made: the port between `gate/`, which decides, and `host/`, which copies and runs. */
import type { CommandEnd } from "../prove/command-end.ts";

/** The files of a leg's fixture, by their paths from its folder. */
export type FixtureTree = ReadonlyMap<string, FixtureFile>;
export type FixtureFile = { readonly bytes: Uint8Array; readonly is_executable: boolean };

/** What stands between a proof and the machine. */
export type Protections = {
  readonly sandbox: boolean;
  /** Whether a proof can reach a network. */
  readonly network: boolean;
  readonly group_kill: boolean;
};

/** A fresh copy, and the scratch home beside it. */
export type ProofFolder = {
  readonly folder: string;
  /** The home of what runs; `bunfig.toml` in it is empty. */
  readonly scratch: string;
  /** An empty folder for what a runner reports; outside of the copy, and writable from inside the walls. */
  readonly reports: string;
  /** Makes a file that is not there. Errors: `copy_failed` */
  write(path: string, bytes: Uint8Array, isExecutable?: boolean): void;
  /** Puts other bytes into the place of a file; null removes it. Errors: `copy_failed` */
  replace(path: string, bytes: Uint8Array | null): void;
  /** Null where there is no regular file. */
  read(path: string): Uint8Array | null;
  /** A file of `reports` as text, at most 16 MiB; null where there is none. */
  readReport(name: string): string | null;
  /** The SHA-256 of every file of the copy, by path; a text that is no digest for what is no plain file. */
  list(): ReadonlyMap<string, string>;
  /** Another text once a file was written, replaced or given another mode, be its bytes as they were; null without one. */
  stamp(path: string): string | null;
  remove(): void;
};

export type ProofRun = {
  readonly argv: readonly string[];
  /** From the copy. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeout_ms: number;
  readonly signal: AbortSignal;
  /** Files of the copy that nobody may write while it runs, where there are walls. */
  readonly locked: readonly string[];
};

export type ProofEnd = CommandEnd & {
  /** Both streams in the order written; both ends are kept. */
  readonly output: string;
  readonly output_chars: number;
};

export type ProofPlace = {
  readonly protections: Protections;
  readonly folder: string;
  makeCopy(tree: FixtureTree): ProofFolder;
  /** Errors: none; a program that is not there has not started */
  run(folder: ProofFolder, run: ProofRun): Promise<ProofEnd>;
  close(): void;
};
