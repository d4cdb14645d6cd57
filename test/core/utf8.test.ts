import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeUtf8, partsOf, utf8Chunks, utf8Length } from "../../src/core/utf8.ts";

test.each([
  { name: "nothing", bytes: [], text: "" },
  { name: "a byte order mark", bytes: [0xef, 0xbb, 0xbf, 0x61], text: "\ufeffa" },
  { name: "four bytes", bytes: [0xf0, 0x9f, 0x98, 0x80], text: "😀" },
])("decodeUtf8() keeps $name", ({ bytes, text }) => {
  expect(decodeUtf8(Uint8Array.from(bytes))).toEqual({ ok: true, text });
});

test.each([
  { name: "Latin-1", bytes: [0x61, 0xe9, 0x0a], offset: 1 },
  { name: "UTF-16", bytes: [0xff, 0xfe, 0x61, 0x00], offset: 0 },
  { name: "an overlong form", bytes: [0x61, 0x61, 0xc0, 0x80], offset: 2 },
  { name: "an overlong form of three bytes", bytes: [0xe0, 0x80, 0x80], offset: 0 },
  { name: "half a surrogate pair", bytes: [0x61, 0xed, 0xa0, 0x80], offset: 1 },
  { name: "above U+10FFFF", bytes: [0xf4, 0x90, 0x80, 0x80], offset: 0 },
  { name: "a character that is cut", bytes: [0x61, 0xe2, 0x82], offset: 1 },
  { name: "a continuation alone", bytes: [0xc3, 0xa9, 0x80], offset: 2 },
])("decodeUtf8() names the first byte that is wrong in $name", ({ bytes, offset }) => {
  expect(decodeUtf8(Uint8Array.from(bytes))).toEqual({ ok: false, offset });
});

test("decodeUtf8() agrees with the decoder of the runtime on any bytes", () => {
  const byte = fc.constantFrom(0x41, 0x80, 0xa0, 0xbf, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xff);
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 8 }), (list) => {
      const bytes = Uint8Array.from(list);
      const decoded = decodeUtf8(bytes);
      if (decoded.ok) expect(new TextEncoder().encode(decoded.text)).toEqual(bytes);
      else {
        const good = bytes.subarray(0, decoded.offset);
        expect(() => new TextDecoder("utf-8", { fatal: true }).decode(good)).not.toThrow();
      }
    }),
  );
});

test("utf8Length() is the size of the encoded text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom("", "\ud800", "\udc00a"), (text, tail) => {
      expect(utf8Length(text + tail)).toBe(new TextEncoder().encode(text + tail).length);
    }),
  );
});

/** A piece of up to 140,000 characters, with a pair at any place of it. */
const piece = fc
  .tuple(
    fc.nat(140_000),
    fc.constantFrom("a", "é", "\u20ac"),
    fc.constantFrom("😀", "\ud83d", "\ude00", ""),
    fc.nat(140_000),
  )
  .map(
    ([length, unit, middle, at]) =>
      `${unit.repeat(Math.min(at, length))}${middle}${unit.repeat(Math.max(0, length - at))}`,
  );

test("utf8Chunks() of any pieces are the bytes of all of them", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 3 }), (pieces) => {
      // A chunk holds until the next is asked for.
      const chunks: Uint8Array[] = [];
      for (const chunk of utf8Chunks(pieces)) chunks.push(chunk.slice());
      const found = Buffer.concat(chunks);
      expect(found.equals(Buffer.from(pieces.join("").toWellFormed()))).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test("partsOf() a text are the text, and split no pair", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 5 }), (text, characters) => {
      const parts = [...partsOf(text, characters)];
      expect(parts.join("")).toBe(text);
      for (const part of parts) expect([part.isWellFormed(), part.length <= characters + 1]).toEqual([true, true]);
    }),
  );
});
