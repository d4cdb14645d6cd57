import { expect, test } from "bun:test";
import { type SearchRequest, searchLines } from "../../../src/core/pattern/search.ts";

const FILES = [
  { path: "src/a.ts", text: "one\ntwo\r\nthree" },
  { path: "src/b.ts", text: "\nTwo\n\n" },
  { path: "empty", text: "" },
];

const search = (pattern: string, more: Partial<SearchRequest> = {}) =>
  searchLines({ pattern, files: FILES, most: 100, by: "line", ...more });

/** `path:line: text` of each match. */
const found = (pattern: string, more: Partial<SearchRequest> = {}) => {
  const outcome = search(pattern, more);
  return outcome.ok ? outcome.matches.map(({ path, line, text }) => `${path}:${line}: ${text}`) : [outcome.message];
};

test.each<{ pattern: string; lines: string[] }>([
  { pattern: "two", lines: ["src/a.ts:2: two"] },
  { pattern: "(?i)^TWO$", lines: ["src/a.ts:2: two", "src/b.ts:2: Two"] },
  { pattern: "^t", lines: ["src/a.ts:2: two", "src/a.ts:3: three"] },
  { pattern: "^$", lines: ["src/b.ts:1: ", "src/b.ts:3: "] },
  { pattern: "e\\nt", lines: [] },
  { pattern: "\\r", lines: [] },
  { pattern: "nowhere", lines: [] },
])("searchLines() finds $pattern in $lines", ({ pattern, lines }) => {
  expect(found(pattern)).toEqual(lines);
  expect(search(pattern)).toMatchObject({ ok: true, isMore: false });
});

test("searchLines() by file gives the first match of each file", () => {
  expect(found("e|w", { by: "file" })).toEqual(["src/a.ts:1: one", "src/b.ts:2: Two"]);
});

test("searchLines() stops at as many as are wanted, and says whether there are more", () => {
  expect(search("t|T", { most: 3 })).toMatchObject({ ok: true, matches: [{}, {}, {}], isMore: false });
  expect(search("t|T", { most: 2 })).toMatchObject({ ok: true, matches: [{ line: 2 }, { line: 3 }], isMore: true });
  expect(search("t|T", { most: 1, by: "file" })).toMatchObject({
    ok: true,
    matches: [{ path: "src/a.ts" }],
    isMore: true,
  });
});

test("searchLines() cuts a line where nobody reads on", () => {
  const outcome = search("x", { files: [{ path: "a", text: "x".repeat(100_000) }] });
  expect(outcome.ok ? outcome.matches[0]?.text.length : 0).toBe(4096);
});

test.each([
  ["(", "bad pattern: missing closing ): `(`"],
  ["(?=x)", "bad pattern: invalid or unsupported Perl syntax: `(?=`"],
  ["(a)\\1", "bad pattern: invalid escape sequence: `\\1`"],
  ["x{1001}", "bad pattern: invalid repeat count: `{1001}`"],
])("searchLines() of %p is %p", (pattern, message) => {
  expect(search(pattern)).toEqual({ ok: false, message });
});

test("searchLines() takes a pattern of 4096 characters, and none that is longer", () => {
  expect(search("x".repeat(4096))).toMatchObject({ ok: true });
  expect(search("x".repeat(4097))).toEqual({ ok: false, message: "bad pattern: it has more than 4096 characters" });
});
