/** A stream of bytes as lines, each bounded: what a protocol of one message a line is read with. */

export type Line =
  /** Without its end, LF or CR LF. */
  | { readonly kind: "line"; readonly bytes: Uint8Array }
  /** It had more bytes than are kept, and is gone. */
  | { readonly kind: "too_long"; readonly size_bytes: number };

const LF = 0x0a;
const CR = 0x0d;

/**
 * The lines of a stream, to its end; a last one without an end counts. A line that is too long is passed over piece by
 * piece, so that no line takes more memory than the bound.
 *
 * @param maxBytes of one line, its end not counted
 * @param stop     ends the lines, also while the next one is waited for
 * Errors: those of the stream
 */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  stop?: AbortSignal,
): AsyncGenerator<Line> {
  const reader = stream.getReader();
  // Not awaited: on a pipe that stays open the cancellation may never settle.
  const leave = () => void reader.cancel().catch(() => {});
  stop?.addEventListener("abort", leave, { once: true });
  // The pieces of the line that is open: joined once, so that a long line costs no more than its length.
  let pieces: Uint8Array[] = [];
  let size = 0;
  const take = (piece: Uint8Array) => {
    size += piece.length;
    // One byte more, which may be the CR of its end.
    if (size <= maxBytes + 1) pieces.push(piece);
    else pieces = [];
  };
  const close = (): Line => {
    const whole = size <= maxBytes + 1 ? Buffer.concat(pieces) : null;
    const bytes = whole?.at(-1) === CR ? whole.subarray(0, -1) : whole;
    const line: Line =
      bytes === null || bytes.length > maxBytes ? { kind: "too_long", size_bytes: size } : { kind: "line", bytes };
    pieces = [];
    size = 0;
    return line;
  };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || stop?.aborted) break;
      let from = 0;
      for (let end = value.indexOf(LF); end >= 0; end = value.indexOf(LF, from)) {
        take(value.subarray(from, end));
        from = end + 1;
        yield close();
      }
      if (from < value.length) take(value.subarray(from));
    }
    if (size > 0 && !stop?.aborted) yield close();
  } finally {
    stop?.removeEventListener("abort", leave);
    leave();
  }
}
