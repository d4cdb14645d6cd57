/** A long text in pages: each as many bytes as may be sent at once, and no character in two. */

export type TextPage = {
  readonly text: string;
  /** Where it begins, in bytes of UTF-8. */
  readonly offset: number;
  /** Where the next one begins; null: this is the last. */
  readonly next_offset: number | null;
  /** The whole text, in bytes. */
  readonly bytes: number;
};

const NO_BEGINNING = 0x80;

/**
 * @param offset in bytes; inside of a character it is moved behind it
 * @param most   bytes of one page, four or more
 * Errors: none; behind the end the page is empty
 */
export function pageText(text: string, offset: number, most: number): TextPage {
  const bytes = new TextEncoder().encode(text);
  const isInside = (at: number) => at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === NO_BEGINNING;
  let start = Math.min(offset, bytes.length);
  while (isInside(start)) start += 1;
  let end = Math.min(start + most, bytes.length);
  while (end > start && isInside(end)) end -= 1;
  const page = new TextDecoder().decode(bytes.subarray(start, end));
  return { text: page, offset: start, next_offset: end < bytes.length ? end : null, bytes: bytes.length };
}
