/**
 * What is kept of an output: its first 500 code points, its last 500 behind them, and how much there was.
 *
 * `keepOutput` cuts a text that is known whole and already redacted. `OutputKeeper` takes a stream of any
 * length in constant memory, and redacts it window by window before it cuts, so that no secret is cut in
 * half and escapes its pattern.
 */
import { endOfKeyBlock, openKeyBlock } from "./redact.ts";

/** Code points kept of each end. */
export const KEPT_CODE_POINTS = 500;

/** UTF-8 bytes that are redacted at once, at most. */
export const WINDOW_BYTES = 64 * 1024;

export type KeptOutput = {
  readonly output: string;
  /** Null when nothing stands behind `output`. */
  readonly tail: string | null;
  /** Something between the two was dropped. */
  readonly truncated: boolean;
};

export type StreamedOutput = KeptOutput & {
  /** UTF-8 bytes of the whole redacted output. */
  readonly output_bytes: number;
};

/**
 * Cuts a redacted output that is known whole. Half of a surrogate pair becomes U+FFFD, as it would in UTF-8.
 *
 * Errors: none
 */
export function keepOutput(text: string): KeptOutput {
  const ends = new Ends();
  ends.take(text.toWellFormed());
  return ends.kept();
}

/**
 * Redacts and cuts an output as it comes. However it is chopped into pushes, what is kept is the same; an
 * output that fits one window is kept as `keepOutput` of the redacted text.
 *
 * A window ends with the last line end in its 64 KiB; where there is none, in front of the last words of them, since a
 * secret is a word or a few; and where those are longer than any secret, after them. A private key that a window
 * leaves open is marked up to its end line, in whichever window that comes.
 */
export class OutputKeeper {
  readonly #redactWindow: (text: string) => string;
  readonly #onRedacted: (text: string) => void;
  readonly #ends = new Ends();
  #pending = "";
  #pendingBytes = 0;
  /** The first half of a surrogate pair whose other half is still to come. */
  #half = "";
  #outputBytes = 0;
  /** The end of what was read of an open private key; null outside of one. */
  #openKey: string | null = null;

  /** @param onRedacted gets the whole redacted output, in order, in pieces of about a window */
  constructor(redactWindow: (text: string) => string, onRedacted: (text: string) => void = () => {}) {
    this.#redactWindow = redactWindow;
    this.#onRedacted = onRedacted;
  }

  push(piece: string): void {
    const text = this.#half + piece;
    const whole = endsInHalf(text) ? text.length - 1 : text.length;
    this.#half = text.slice(whole);
    this.#append(text.slice(0, whole).toWellFormed());
  }

  /** Ends the stream; nothing may be pushed after it. */
  finish(): StreamedOutput {
    this.#append(this.#half.toWellFormed());
    this.#close(this.#pending);
    return { ...this.#ends.kept(), output_bytes: this.#outputBytes };
  }

  #append(text: string): void {
    this.#pending += text;
    this.#pendingBytes += utf8Bytes(text);
    if (this.#pendingBytes <= WINDOW_BYTES) return;
    let rest = this.#pending;
    while (this.#pendingBytes > WINDOW_BYTES) {
      const fits = prefixOfBytes(rest, WINDOW_BYTES);
      const lineEnd = rest.lastIndexOf("\n", fits - 1);
      const window = rest.slice(0, lineEnd < 0 ? startOfLastWords(rest, fits) : lineEnd + 1);
      rest = rest.slice(window.length);
      this.#pendingBytes -= utf8Bytes(window);
      this.#close(window);
    }
    this.#pending = rest;
  }

  #close(window: string): void {
    let text = window;
    if (this.#openKey !== null) {
      // Where a window was cut within a line, the end line may lie across the cut.
      const seen = this.#openKey + window;
      const end = endOfKeyBlock(seen);
      if (end < 0) {
        this.#openKey = seen.slice(-LONGEST_END_LINE);
        return;
      }
      this.#openKey = null;
      text = seen.slice(end);
    }
    if (text === "") return;
    const redacted = this.#redactWindow(text);
    this.#outputBytes += utf8Bytes(redacted);
    this.#ends.take(redacted);
    this.#onRedacted(redacted);
    const body = openKeyBlock(text);
    if (body >= 0) this.#openKey = text.slice(Math.max(body, text.length - LONGEST_END_LINE));
  }
}

/** Longer than any secret that has a shape, in code units; and words that belong to one, with what stands between them. */
export const LONGEST_SECRET = 8 * 1024;
const SECRET_WORDS = 4;

/**
 * Where the last words of a beginning of a text start: the one that may be cut, and what may stand in front of a secret as
 * a part of its pattern (`"token": "…"`, `Bearer …`). The end of the beginning where that is longer than a secret.
 */
function startOfLastWords(text: string, end: number): number {
  const least = Math.max(1, end - LONGEST_SECRET);
  let at = end;
  for (let words = 0; words < SECRET_WORDS; words += 1) {
    while (at > least && isBetweenWords(text.charCodeAt(at - 1))) at -= 1;
    while (at > least && !isBetweenWords(text.charCodeAt(at - 1))) at -= 1;
  }
  return at > least ? at : end;
}

/** A blank, or what separates the values of JSON, of a query, of a list. */
function isBetweenWords(unit: number): boolean {
  return unit <= 0x20 || "\"'`,;&<>()[]{}".includes(String.fromCharCode(unit));
}

/** Longer than "-----END … PRIVATE KEY-----" with any label in use. */
const LONGEST_END_LINE = 80;

/** The two ends of a text that comes in pieces. */
class Ends {
  #head = "";
  #missing = KEPT_CODE_POINTS;
  #tail = "";
  #truncated = false;

  take(text: string): void {
    let from = 0;
    while (this.#missing > 0 && from < text.length) {
      from += widthAt(text, from);
      this.#missing -= 1;
    }
    this.#head += text.slice(0, from);
    if (from === text.length) return;
    const behind = this.#tail + text.slice(from);
    const start = startOfLast(behind, KEPT_CODE_POINTS);
    this.#tail = behind.slice(start);
    if (start > 0) this.#truncated = true;
  }

  kept(): KeptOutput {
    return { output: this.#head, tail: this.#tail === "" ? null : this.#tail, truncated: this.#truncated };
  }
}

/** Code units of the code point at an index. */
function widthAt(text: string, index: number): 1 | 2 {
  const pair = isHigh(text.charCodeAt(index)) && isLow(text.charCodeAt(index + 1));
  return pair ? 2 : 1;
}

/** Where the last `count` code points begin; 0 when there are no more. */
function startOfLast(text: string, count: number): number {
  let index = text.length;
  for (let left = count; left > 0 && index > 0; left -= 1) {
    index -= index > 1 && widthAt(text, index - 2) === 2 ? 2 : 1;
  }
  return index;
}

/** Code units of the longest prefix of at most so many UTF-8 bytes that cuts no code point. */
function prefixOfBytes(text: string, limit: number): number {
  let index = 0;
  for (let bytes = 0; index < text.length; ) {
    const unit = text.charCodeAt(index);
    const width = isHigh(unit) ? 2 : 1;
    bytes += width === 2 ? 4 : bytesOf(unit);
    if (bytes > limit) break;
    index += width;
  }
  return index;
}

/** Of a well-formed text, in which half of a pair counts 2 of the pair's 4 bytes. */
function utf8Bytes(text: string): number {
  if (!NOT_ASCII.test(text)) return text.length;
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) bytes += bytesOf(text.charCodeAt(index));
  return bytes;
}

const NOT_ASCII = /[^\0-\x7f]/;

function bytesOf(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 || isHigh(unit) || isLow(unit) ? 2 : 3;
}

function endsInHalf(text: string): boolean {
  return isHigh(text.charCodeAt(text.length - 1));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
