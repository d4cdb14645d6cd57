/** What proving needs of the world. The command line hands in the real one, a test a scripted one. */
import type { ContractStore } from "../core/contract/repository.ts";
import type { CommandEnd } from "../core/prove/command-end.ts";
import type { FreshCopy } from "../core/prove/fresh-copy.ts";
import type { StreamedOutput } from "../core/record/capture.ts";
import type { ValueRedactor } from "../core/record/redact.ts";

export type World = {
  readonly store: ContractStore | null;
  sha256(text: string): string;
  /** Redacts by value what was cited, as the record was redacted. */
  readonly values: ValueRedactor | null;
  /** Errors: `copy_failed`. */
  copyFolder(folder: string, signal: AbortSignal): Promise<FreshCopy>;
  /** Runs a command apart from us, without the turn's identity. Errors: none. */
  run(
    argv: readonly string[],
    how: { readonly cwd: string; readonly timeout_ms: number; readonly signal: AbortSignal; keep(text: string): void },
  ): Promise<CommandEnd>;
  /** Begins to keep one output, redacted and cut as a record is. */
  keepOutput(): { push(text: string): void; finish(): StreamedOutput & { readonly output_sha256: string } };
  /** Whether a word names a program on PATH. */
  isProgram(word: string): boolean;
  /** Says what goes on. */
  progress(text: string): void;
  /** Says what went wrong and changes nothing. */
  warn(text: string): void;
};
