import { expect, test } from "bun:test";
import fc from "fast-check";
import { pathsOfDiff } from "../../../src/core/delegation/diff-files.ts";

const HUNK = "@@ -1 +1 @@\n-x\n+y\n";
const CONTEXT = "@@ -1,2 +1,2 @@\n x\n y\n";
const edit = (path: string) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${HUNK}`;

test.each([
  { what: "a changed file", diff: edit("src/a.ts"), paths: ["src/a.ts"] },
  { what: "a plain diff without a line of git", diff: `--- a/x\n+++ b/x\n${HUNK}`, paths: ["x"] },
  { what: "two plain sections", diff: `--- a/x\n+++ b/x\n${HUNK}--- a/y\n+++ b/y\n${HUNK}`, paths: ["x", "y"] },
  { what: "a file that is new", diff: `--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n`, paths: ["n"] },
  { what: "a file that is deleted", diff: `--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-d\n`, paths: ["d"] },
  {
    what: "a rename beside an edit",
    diff: `${edit("src/a.ts")}diff --git a/secret b/moved\nsimilarity index 100%\nrename from secret\nrename to moved\n`,
    paths: ["src/a.ts", "secret", "moved"],
  },
  {
    what: "a copy",
    diff: "diff --git a/one b/two\nsimilarity index 100%\ncopy from one\ncopy to two\n",
    paths: ["two"],
  },
  {
    what: "a new empty file of a quoted name",
    diff: `diff --git "a/ev\\303\\251l" "b/ev\\303\\251l"\nnew file mode 100644\nindex 0000000..e69de29\n`,
    paths: ["evél"],
  },
  { what: "a quoted header", diff: `--- "a/\\303\\251"\n+++ "b/\\303\\251"\n${HUNK}`, paths: ["é"] },
  {
    what: "a quoted rename",
    diff: 'diff --git "a/\\303\\251" b/e\nrename from "\\303\\251"\nrename to e\n',
    paths: ["é", "e"],
  },
  {
    what: "no prefixes",
    diff: `diff --git src/a.ts src/a.ts\n--- src/a.ts\n+++ src/a.ts\n${HUNK}`,
    paths: ["src/a.ts"],
  },
  { what: "mnemonic prefixes", diff: `diff --git i/x w/x\n--- i/x\n+++ w/x\n${HUNK}`, paths: ["x"] },
  { what: "a folder called a without prefixes", diff: `--- a/x\n+++ a/x\n${HUNK}`, paths: ["a/x"] },
  { what: "a binary file", diff: "diff --git a/p b/p\nindex 1..2\nBinary files a/p and b/p differ\n", paths: ["p"] },
  { what: "a binary file without a line of git", diff: "Binary files a/p and b/p differ\n", paths: ["p"] },
  { what: "another mode", diff: "diff --git a/s b/s\nold mode 100644\nnew mode 100755\n", paths: ["s"] },
  { what: "blanks in a path", diff: `diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n${HUNK}`, paths: ["a b"] },
  { what: "CR LF", diff: edit("x").replaceAll("\n", "\r\n"), paths: ["x"] },
  { what: "a header alone", diff: "--- a/x\n+++ b/x\n", paths: [] },
  { what: "git's line alone", diff: "diff --git a/x b/x\n", paths: [] },
  { what: "a hunk of context alone", diff: `--- a/x\n+++ b/x\n${CONTEXT}`, paths: [] },
  { what: "prose with a header in it", diff: "I changed\n+++ b/src/port.ts\nas asked\n", paths: [] },
  {
    what: "headers inside a hunk",
    diff: "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-z\n++++ b/y\n+z\n",
    paths: ["x"],
  },
  {
    what: "a hunk that is cut short",
    diff: "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\ndiff --git a/y b/y\nnew file mode 100644\n",
    paths: ["x", "y"],
  },
  { what: "nothing", diff: "", paths: [] },
])("pathsOfDiff() of $what", ({ diff, paths }) => {
  expect(pathsOfDiff(diff)).toEqual(paths);
});

test("pathsOfDiff() returns on any text", () => {
  const lines = fc.constantFrom(
    "diff --git a/x b/x",
    "--- a/x",
    "+++ b/x",
    "@@ -1 +1 @@",
    "-x",
    "+y",
    " z",
    "rename to q",
    '"',
    "",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(lines, fc.string())), (parts) => {
      expect(Array.isArray(pathsOfDiff(parts.join("\n")))).toBe(true);
    }),
  );
});
