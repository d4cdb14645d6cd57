/** Counting and cutting text by bytes, as a seat without a tokenizer does: a token is a fixed number of bytes. */
import { utf8Length } from "../utf8.ts";

/** Tokens that so many bytes come to. */
export function tokensOf(bytes: number, bytesPerToken: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/**
 * Where the longest beginning of a text ends that has at most so many bytes, whole characters only.
 *
 * @param from an index into the text, at the beginning of a character
 * @returns    an index into the text; `from` where not even one character fits
 */
export function endOfBytes(text: string, from: number, bytes: number): number {
  let left = bytes;
  let at = from;
  while (at < text.length) {
    const unit = text.codePointAt(at) ?? 0;
    const width = unit < 0x80 ? 1 : unit < 0x800 ? 2 : unit < 0x10000 ? 3 : 4;
    if (width > left) return at;
    left -= width;
    at += unit > 0xffff ? 2 : 1;
  }
  return at;
}

/** Where the character at an index ends. */
export function endOfCharacter(text: string, at: number): number {
  return Math.min(text.length, at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1));
}

/** The longest end of a text that has at most so many bytes, whole characters only. */
export function lastBytes(text: string, bytes: number): string {
  const drop = utf8Length(text) - bytes;
  if (drop <= 0) return text;
  let at = 0;
  for (let dropped = 0; at < text.length && dropped < drop; ) {
    const end = endOfCharacter(text, at);
    dropped += utf8Length(text.slice(at, end));
    at = end;
  }
  return text.slice(at);
}
