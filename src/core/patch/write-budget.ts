/** What one run may write: counted by the bytes that its seat authored, before every write. */
import { quote } from "../acceptance/quoting.ts";
import { utf8Length } from "../utf8.ts";
import { WRITE_LIMITS } from "./limits.ts";

export type WriteBudget = {
  /** Normalised paths that were admitted. */
  readonly paths: ReadonlySet<string>;
  /** Charged so far: a rewrite is charged again, and a write that failed is not refunded. */
  readonly written_bytes: number;
  /** Writes that were refused here, for the note. */
  readonly refused_writes: number;
};

export const UNUSED_BUDGET: WriteBudget = { paths: new Set(), written_bytes: 0, refused_writes: 0 };

export type Admission =
  | { readonly ok: true; readonly budget: WriteBudget }
  /** `message` is the whole answer to the call. */
  | { readonly ok: false; readonly budget: WriteBudget; readonly message: string };

/**
 * Admits one write, or says what is left.
 *
 * @param path     normalised
 * @param authored the content of a `write_file`, the `new_string` of an `edit_file`
 * @returns        the budget that the next write is held against
 * Errors:         none
 * Source:         delegation run, section 6.3
 */
export function admitWrite(budget: WriteBudget, path: string, authored: string): Admission {
  const { files, written_bytes } = WRITE_LIMITS;
  const size = utf8Length(authored);
  const left = written_bytes - budget.written_bytes;
  const paths = new Set(budget.paths).add(path);
  const refused = (why: string): Admission => ({
    ok: false,
    budget: { ...budget, refused_writes: budget.refused_writes + 1 },
    message: `NOT performed (write budget): ${why}`,
  });
  if (paths.size > files) {
    return refused(
      `${quote(path)} would be file ${paths.size} of ${files}; ${left} bytes are left for those written before`,
    );
  }
  if (size > left) {
    return refused(
      `${size} bytes for ${quote(path)}, and ${left} of ${written_bytes} bytes and ${files - budget.paths.size} of ${files} files are left; make a smaller change`,
    );
  }
  return { ok: true, budget: { ...budget, paths, written_bytes: budget.written_bytes + size } };
}

/**
 * Whether a text can be the content of a file that a seat writes: text without NUL, which a diff can carry.
 *
 * @returns what is wrong with it; null when nothing is
 */
export function authoredTextFault(text: string): string | null {
  if (text.includes("\0")) return "the text contains NUL";
  return text.isWellFormed() ? null : "the text holds half of a character, which is no UTF-8";
}
