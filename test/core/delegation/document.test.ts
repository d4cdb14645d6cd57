import { expect, test } from "bun:test";
import { documentNameFault, findCollisions } from "../../../src/core/delegation/document.ts";

test.each([
  "a.md",
  "src/port.ts",
  ".env",
  " leading.md",
  "a b/c d.md",
  "é/日本.md",
  "com0",
  "com10.txt",
  "console.md",
  "nullify.go",
  "nul .txt",
  ".nul",
  "..a/b",
  "a..b",
  "'q'.md",
  "~",
  "x".repeat(255),
  `${"x/".repeat(511)}xy`, // 1,024 bytes
  `${`${"x".repeat(255)}/`.repeat(3)}${"y".repeat(255)}`,
])("documentNameFault() takes %s", (name) => {
  expect(documentNameFault(name)).toBeNull();
});

test.each<{ name: string; says: string }>([
  { name: "", says: "is empty" },
  { name: "a\\b", says: 'contains the character "\\"' },
  { name: "C:evil", says: 'contains the character ":"' },
  { name: 'a"b', says: `contains the character '"'` },
  { name: "a<b", says: 'the character "<"' },
  { name: "a>b", says: 'the character ">"' },
  { name: "a|b", says: 'the character "|"' },
  { name: "a?", says: 'the character "?"' },
  { name: "*", says: 'the character "*"' },
  { name: "a\0b", says: "contains NUL" },
  { name: "a\nb", says: "the control character U+000A" },
  { name: "a\u007f", says: "the control character U+007F" },
  { name: "/", says: 'starts with "/"' },
  { name: "/a", says: 'starts with "/"' },
  { name: "a/", says: 'ends with "/"' },
  { name: "a//b", says: "an empty segment" },
  { name: ".", says: 'a segment "."' },
  { name: "a/../b", says: 'a segment ".."' },
  { name: "notes.md.", says: 'ends in a dot: it would become "notes.md"' },
  { name: "a /b. .", says: 'it would become "a/b"' },
  { name: "a/b.md ", says: 'ends in a space: it would become "a/b.md"' },
  { name: "...", says: 'ends in a dot: it would become ""' },
  { name: "NUL", says: 'the device "NUL"' },
  { name: "a/nul.md.txt", says: 'the device "nul"' },
  { name: "Con/a.md", says: 'the device "Con"' },
  { name: "com1", says: 'the device "com1"' },
  { name: "LPT9.x", says: 'the device "LPT9"' },
  { name: "aux.", says: "ends in a dot" },
  { name: "x".repeat(256), says: "a segment of 256 bytes; at most 255" },
  { name: "é".repeat(128), says: "a segment of 256 bytes" },
  { name: `${"a/".repeat(512)}b`, says: "has 1025 bytes; at most 1024" },
])("documentNameFault() says that $name $says", ({ name, says }) => {
  expect(documentNameFault(name)?.message).toContain(says);
});

test.each([
  { names: ["a.md", "a.md"], index: 1, other: 0, says: "they have one name" },
  { names: ["a.md", "b.md", "A.MD"], index: 2, other: 0, says: "they differ in nothing but case" },
  { names: ["\u00e9.md", "e\u0301.md"], index: 1, other: 0, says: "in two Unicode forms" },
  { names: ["\u00c9.md", "e\u0301.md"], index: 1, other: 0, says: "they differ in nothing but case" },
  { names: ["a", "a/b.md"], index: 1, other: 0, says: "a folder of the other" },
  { names: ["A/b/c", "a/B"], index: 1, other: 0, says: "a folder of the other" },
  { names: ["x/y/z", "x"], index: 1, other: 0, says: "a folder of the other" },
])("findCollisions() finds the one of $names", ({ names, index, other, says }) => {
  const found = findCollisions(names);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ index, other });
  expect(found[0]?.message).toContain(`"${names[other]}" and "${names[index]}"`);
  expect(found[0]?.message).toContain(says);
});

test.each([{ names: [] }, { names: ["a/b.md", "c/b.md"] }, { names: ["ab", "a/b"] }, { names: ["a.md", "a.mdx"] }])(
  "findCollisions() finds none in $names",
  ({ names }) => {
    expect(findCollisions(names)).toEqual([]);
  },
);
