/** What may be published of a write set, and what is said of it: past any cap nothing is, and no patch is ever cut. */
import { WRITE_LIMITS } from "./limits.ts";

/** The counts of a finished write set, or of a diff that came back. */
export type PatchSize = {
  readonly files: number;
  /** Of the added lines, with their line ends and without the `+`. */
  readonly added_bytes: number;
  readonly diff_bytes: number;
  readonly opaque_files: number;
};

/**
 * Holds a finished write set against the caps.
 *
 * @returns `write cap exceeded: <which> <n> of <cap>` for the first that is passed; null when all hold
 * Source:  delegation run, section 6.4
 */
export function checkCaps({ files, added_bytes, diff_bytes, opaque_files }: PatchSize): string | null {
  const caps: readonly (readonly [which: string, count: number, cap: number])[] = [
    ["files", files, WRITE_LIMITS.files],
    ["opaque files", opaque_files, 0],
    ["added bytes", added_bytes, WRITE_LIMITS.written_bytes],
    ["diff bytes", diff_bytes, WRITE_LIMITS.diff_bytes],
  ];
  const passed = caps.find(([, count, cap]) => count > cap);
  return passed === undefined ? null : `write cap exceeded: ${passed[0]} ${passed[1]} of ${passed[2]}`;
}

export type WriteNote = {
  /** The cleaned write root. */
  readonly root: string;
  readonly files: number;
  readonly diff_bytes: number;
  /** What `checkCaps` said; null: the diff is published, or nothing was written. */
  readonly exceeded: string | null;
  /** The run came to its own end. */
  readonly is_finished: boolean;
  /** Writes that the budget refused. */
  readonly refused_writes: number;
};

/**
 * The `write_note` of a run on a contract with a write root.
 *
 * Source: delegation run, sections 6.3 and 6.4
 */
export function renderWriteNote(note: WriteNote): string {
  const { root, files, diff_bytes, exceeded, is_finished, refused_writes } = note;
  const opened = `write door open on ${root}: `;
  const wrote =
    files === 0
      ? "the seat wrote nothing"
      : `${files} file(s), ${diff_bytes} bytes of diff; ${exceeded === null ? "not applied" : `not published: ${exceeded}`}`;
  const unfinished = is_finished ? "" : "; the run did not finish";
  const refused = refused_writes === 0 ? "" : `; ${refused_writes} write(s) refused by the budget`;
  return opened + wrote + unfinished + refused;
}
