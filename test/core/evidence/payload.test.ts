import { expect, test } from "bun:test";
import { extensionOf, INLINE_LIMIT, inlineText } from "../../../src/core/evidence/payload.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ["nothing", bytes(""), ""],
  ["a text", bytes("3 pass\n"), "3 pass\n"],
  ["a text with a byte order mark", bytes("\ufeffx"), "\ufeffx"],
  ["a text of exactly the limit", bytes("x".repeat(INLINE_LIMIT)), "x".repeat(INLINE_LIMIT)],
  ["one byte more", bytes("x".repeat(INLINE_LIMIT + 1)), null],
  ["the limit in bytes, not in characters", bytes("é".repeat(2049)), null],
  ["a byte that is no UTF-8", new Uint8Array([0x61, 0xff]), null],
  ["a character that was cut", new Uint8Array([0xc3]), null],
  ["a surrogate in UTF-8", new Uint8Array([0xed, 0xa0, 0x80]), null],
])("inlineText() of %s", (_, head, text) => {
  expect(inlineText(head)).toBe(text);
});

test.each([
  ["test.log", ".log"],
  ["/a.b/test.tar.gz", ".gz"],
  ["a.PNG", ".PNG"],
  ["a.c++", ".c++"],
  ["Makefile", ".bin"],
  ["/a.b/Makefile", ".bin"],
  [".profile", ".bin"],
  ["x.", ".bin"],
  ["x.a b", ".bin"],
  ["x.\u001b[2J", ".bin"],
  [`x.${"a".repeat(16)}`, `.${"a".repeat(16)}`],
  [`x.${"a".repeat(17)}`, ".bin"],
  ["..", ".bin"],
  ["", ".bin"],
])("extensionOf(%j) is %j", (path, extension) => {
  expect(extensionOf(path)).toBe(extension);
});
