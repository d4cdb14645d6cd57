/** What is recorded as evidence, and whether it is kept in its row or in a file of its own. */

export const EVIDENCE_TYPES = ["text", "file", "command_output", "url", "screenshot"] as const;
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

export const POLARITIES = ["positive", "negative"] as const;
export type Polarity = (typeof POLARITIES)[number];

/** The largest payload that is kept in its row, in bytes. */
export const INLINE_LIMIT = 4096;

/** A payload on its way in; its bytes are read once. */
export type Payload = {
  /** Its first bytes, at most `INLINE_LIMIT` and one; all of it where there are fewer. */
  readonly head: Uint8Array;
  /** All of it from its beginning, piece by piece. */
  pieces(): Iterable<Uint8Array>;
  /** With its point, ".log": what a file of its own is called by. */
  readonly extension: string;
};

/** The text of a payload that is kept in its row; null when it is too large for that, or no UTF-8. */
export function inlineText(head: Uint8Array): string | null {
  if (head.length > INLINE_LIMIT) return null;
  try {
    // A byte order mark is a part of the payload.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(head);
  } catch {
    return null; // no UTF-8
  }
}

/**
 * The extension of a file name, with its point; `.bin` when it has none that is plain.
 *
 * A leading point begins no extension. Longer than 16 characters, or other than letters, digits, `_`, `-` and `+`, is
 * not an extension but a part of the name.
 */
export function extensionOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  const point = name.lastIndexOf(".");
  const extension = name.slice(point);
  return point > 0 && /^\.[A-Za-z0-9_+-]{1,16}$/.test(extension) ? extension : ".bin";
}
