import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Line, linesOf } from "../../src/host/lines.ts";

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) if (piece.length > 0) controller.enqueue(piece);
      controller.close();
    },
  });
}

async function read(pieces: readonly (string | Uint8Array)[], most = 100): Promise<readonly string[]> {
  const bytes = pieces.map((piece) => (typeof piece === "string" ? new TextEncoder().encode(piece) : piece));
  const lines: string[] = [];
  for await (const line of linesOf(streamOf(bytes), most)) lines.push(shown(line));
  return lines;
}

function shown(line: Line): string {
  return line.kind === "line" ? new TextDecoder().decode(line.bytes) : `too long: ${line.size_bytes}`;
}

describe("linesOf()", () => {
  test("ends a line at LF and at CR LF, and counts a last one without an end", async () => {
    expect(await read(["a\nb\r\n\nc\rd\n", "e"])).toEqual(["a", "b", "", "c\rd", "e"]);
    expect(await read([])).toEqual([]);
  });

  test("puts a line together that comes in pieces, also in the middle of a character", async () => {
    const [first, second, third] = new TextEncoder().encode("\u20ac");
    expect(await read([Uint8Array.of(first ?? 0, second ?? 0), Uint8Array.of(third ?? 0, 0x0a)])).toEqual(["\u20ac"]);
    expect(await read(["ab", "c\r", "\nd"])).toEqual(["abc", "d"]);
  });

  test("passes over a line that is too long, and goes on behind it", async () => {
    expect(await read(["12345\n123456\n", "123", "456", "789\nab\n"], 5)).toEqual([
      "12345",
      "too long: 6",
      "too long: 9",
      "ab",
    ]);
    expect(await read(["12345\r\n"], 5)).toEqual(["12345"]);
    expect(await read(["1234567"], 5)).toEqual(["too long: 7"]);
  });

  test("ends when it is stopped, also while it waits, and gives no line that was not whole", async () => {
    const stop = new AbortController();
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("a\nb")),
    });
    const lines: string[] = [];
    for await (const line of linesOf(stream, 10, stop.signal)) {
      lines.push(shown(line));
      stop.abort();
    }
    expect(lines).toEqual(["a"]);
  });

  test("gives the same lines however the text is cut", async () => {
    const line = fc.string({ unit: fc.constantFrom("a", "\r", "é"), maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(5)), async (lines, cuts) => {
        const bytes = new TextEncoder().encode(lines.map((each) => `${each}\n`).join(""));
        const pieces: Uint8Array[] = [];
        let at = 0;
        for (const length of cuts) {
          pieces.push(bytes.subarray(at, at + length));
          at += length;
        }
        pieces.push(bytes.subarray(at));
        expect(await read(pieces, 10)).toEqual(await read([bytes], 10));
      }),
    );
  });
});
