import { expect, test } from "bun:test";
import { readWriteRoot } from "../../../src/core/delegation/write-root.ts";

test.each([
  { written: ".", root: "." },
  { written: "./", root: "." },
  { written: "a/..", root: "." },
  { written: "a/../", root: "." },
  { written: "work", root: "work" },
  { written: "work/", root: "work" },
  { written: "./work", root: "work" },
  { written: "a/b/c", root: "a/b/c" },
  { written: "a//b", root: "a/b" },
  { written: "a/./b", root: "a/b" },
  { written: "a\\b", root: "a/b" },
  { written: "a/../b", root: "b" },
  { written: "..a", root: "..a" },
  { written: "com10", root: "com10" },
  { written: "a/.git/..", root: "a" },
])("readWriteRoot() cleans $written to $root", ({ written, root }) => {
  expect(readWriteRoot(written)).toEqual({ ok: true, root });
});

test.each([
  { written: "a\0:b", says: "contains NUL" },
  { written: "/etc", says: "must be relative" },
  { written: "\\\\host\\share", says: "must be relative" },
  { written: "C:x", says: "must be relative" },
  { written: "work:stream", says: "must be relative" },
  { written: "..", says: "escapes the read root" },
  { written: "../out", says: "escapes the read root" },
  { written: "a/../../out", says: "escapes the read root" },
  { written: "a\\..\\..", says: "escapes the read root" },
  { written: "a/.GIT", says: "Git's own" },
  { written: "a/.git.", says: "ends in a dot" },
  { written: "a/trailing ", says: "ends in a space" },
  { written: " ", says: "ends in a space" },
  { written: "nul", says: 'the device "nul"' },
  { written: "a/NUL.d", says: 'the device "NUL"' },
])("readWriteRoot() refuses $written: $says", ({ written, says }) => {
  const read = readWriteRoot(written);
  if (read.ok) throw new Error(`"${read.root}" was accepted`);
  expect(read.message).toContain(says);
});
