/** Bytes and text: strict decoding of UTF-8, and the size of a text in it. */

export type DecodedUtf8 =
  | { readonly ok: true; readonly text: string }
  /** `offset` of the first byte that belongs to no character, from 0; the length where the last character is cut. */
  | { readonly ok: false; readonly offset: number };

/**
 * Decodes bytes that must be well-formed UTF-8. A byte order mark stays in the text. Time is linear.
 *
 * Errors: none, whatever the bytes
 * Source: Unicode 17 section 3.9, table 3-7 (well-formed byte sequences)
 */
export function decodeUtf8(bytes: Uint8Array): DecodedUtf8 {
  try {
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { ok: false, offset: illFormedAt(bytes) };
  }
}

/** The size of a text in bytes; half a surrogate pair counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // A pair is two units and four bytes.
    if (unit >= 0xd800 && unit <= 0xdbff && isLow(text.charCodeAt(index + 1))) index += 1;
  }
  return bytes;
}

/** A text in parts of so many characters, or one more where a part would end inside of a pair. */
export function* partsOf(text: string, characters: number): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = from + characters;
    const whole = isLow(text.charCodeAt(end)) ? end + 1 : end;
    yield text.slice(from, whole);
    from = whole;
  }
}

/** Characters of a text that are encoded at once. */
const CHUNK = 64 * 1024;

/**
 * The bytes of texts, one behind the other: small ones together, a large one in parts, so that nothing is ever held as a
 * text and as bytes as a whole.
 *
 * @returns chunks, each of which holds until the next is asked for: there is one buffer for all of them
 */
export function* utf8Chunks(pieces: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let buffer = new Uint8Array(0);
  const encode = (text: string): Uint8Array => {
    // Three bytes a unit are the most that there may be.
    if (buffer.length < 3 * text.length) buffer = new Uint8Array(3 * text.length);
    return buffer.subarray(0, encoder.encodeInto(text, buffer).written);
  };
  let open: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    open.push(piece);
    length += piece.length;
    if (length < CHUNK) continue;
    for (const part of partsOf(open.join(""), CHUNK)) yield encode(part);
    open = [];
    length = 0;
  }
  if (length > 0) yield encode(open.join(""));
}

/**
 * Orders two texts by their bytes in UTF-8, which is by code point: ascending, and not as UTF-16 has it.
 *
 * @returns below 0, 0 or above 0, as `Array.sort` takes it
 */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const one = left.charCodeAt(at);
    const other = right.charCodeAt(at);
    // Where the first halves of two pairs are equal, their second halves decide, and those are in order.
    if (one !== other) return isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1;
  }
  return left.length - right.length;
}

/** The text in at most so many bytes, cut between characters; what was cut has "…" at its end. */
export function clipUtf8(text: string, bytes: number): string {
  if (utf8Length(text.slice(0, bytes + 1)) <= bytes) return text;
  const encoded = new TextEncoder().encode(text.slice(0, bytes + 1));
  let end = bytes - utf8Length("…");
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${new TextDecoder().decode(encoded.subarray(0, end))}…`;
}

function illFormedAt(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const width = widthAt(bytes, at);
    if (width === 0) return at;
    at += width;
  }
  return at;
}

/** The bytes of the character at a place; 0 where none is well-formed. */
function widthAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const second = bytes[at + 1] ?? 0;
  // The shortest form only, no surrogates, nothing above U+10FFFF.
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  const width = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (let next = at + 2; next < at + width; next += 1) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  return width;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
