import { describe, expect, test } from "bun:test";
import { WRITE_LIMITS } from "../../../src/core/patch/limits.ts";
import { renderPatch } from "../../../src/core/patch/render.ts";
import { utf8Length } from "../../../src/core/utf8.ts";
import { patchOf, type Tree } from "../../support/patch-trees.ts";

const bytes = (text: string) => ({ kind: "bytes", bytes: new TextEncoder().encode(text) }) as const;
const numbered = (count: number, prefix = "line") => Array.from({ length: count }, (_, at) => `${prefix} ${at + 1}\n`);

test("renderPatch() writes the example of the specification to the byte", () => {
  const before =
    "package x\n\nfunc Clamp(v, lo, hi int) int {\n\tif v < lo {\n\t\treturn lo\n\t}\n\tif v > hi {\n\t\treturn lo\n\t}\n\treturn v\n}\n";
  const after = before.replace("> hi {\n\t\treturn lo", "> hi {\n\t\treturn hi");
  expect(patchOf({ "clamp.go": before }, { "clamp.go": after }).diff).toBe(
    "diff --git a/clamp.go b/clamp.go\n--- a/clamp.go\n+++ b/clamp.go\n@@ -5,7 +5,7 @@\n \t\treturn lo\n \t}\n \tif v > hi {\n-\t\treturn lo\n+\t\treturn hi\n \t}\n \treturn v\n }\n",
  );
});

test.each<{ what: string; before: Tree; after: Tree; diff: string }>([
  { what: "nothing", before: { a: "x\n" }, after: { a: "x\n" }, diff: "" },
  {
    what: "a new file",
    before: {},
    after: { "src/a": "x\ny\n" },
    diff: "diff --git a/src/a b/src/a\nnew file mode 100644\n--- /dev/null\n+++ b/src/a\n@@ -0,0 +1,2 @@\n+x\n+y\n",
  },
  {
    what: "a new empty file",
    before: {},
    after: { a: "" },
    diff: "diff --git a/a b/a\nnew file mode 100644\n",
  },
  {
    what: "a deleted file",
    before: { a: "x\n" },
    after: {},
    diff: "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
  },
  {
    what: "a deleted empty file",
    before: { a: "" },
    after: {},
    diff: "diff --git a/a b/a\ndeleted file mode 100644\n",
  },
  {
    what: "a file that was empty",
    before: { a: "" },
    after: { a: "x\n" },
    diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+x\n",
  },
  {
    what: "an emptied file",
    before: { a: "x\ny" },
    after: { a: "" },
    diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-x\n-y\n\\ No newline at end of file\n",
  },
  {
    what: "no final newline on the old side",
    before: { a: "x\ny" },
    after: { a: "x\ny\n" },
    diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n",
  },
  {
    what: "no final newline on the new side",
    before: { a: "x\ny\n" },
    after: { a: "x\ny" },
    diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n+y\n\\ No newline at end of file\n",
  },
  {
    what: "no final newline on either side",
    before: { a: "x\ny" },
    after: { a: "z\ny" },
    diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-x\n+z\n y\n\\ No newline at end of file\n",
  },
  {
    what: "CR LF as part of the line",
    before: { a: "x\r\ny\r\n" },
    after: { a: "x\r\nz\r\n" },
    diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\r\n-y\r\n+z\r\n",
  },
  {
    what: "a change of line ends alone",
    before: { a: "x\n" },
    after: { a: "x\r\n" },
    diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+x\r\n",
  },
  {
    what: "a name with a blank, which a tab ends",
    before: { "a b": "x\n" },
    after: { "a b": "y\n" },
    diff: "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-x\n+y\n",
  },
  {
    what: "a name beyond ASCII, unquoted",
    before: { "ä/日": "x\n" },
    after: { "ä/日": "y\n" },
    diff: "diff --git a/ä/日 b/ä/日\n--- a/ä/日\n+++ b/ä/日\n@@ -1 +1 @@\n-x\n+y\n",
  },
  {
    what: "what only other programs take for the end of a line",
    before: { a: "x\fy\u2028z\rw\n" },
    after: { a: "x\fy\u2028z\rv\n" },
    diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\fy\u2028z\rw\n+x\fy\u2028z\rv\n",
  },
])("renderPatch() renders $what", ({ before, after, diff }) => {
  const patch = patchOf(before, after);
  expect(patch.diff).toBe(diff);
  expect(patch.diff_bytes).toBe(utf8Length(diff));
  expect(patch.opaque_files).toBe(0);
});

test("renderPatch() puts sections in the order of their paths' bytes, which is not that of UTF-16", () => {
  const after = { "\ue000": "x", "😀": "x", b: "x", B: "x", "a/z": "x", "a.z": "x" };
  expect(patchOf({}, after).diff_files).toEqual(["B", "a.z", "a/z", "b", "\ue000", "😀"]);
});

test.each<{ gap: number; hunks: string[] }>([
  { gap: 6, hunks: ["@@ -1,8 +1,8 @@"] },
  { gap: 7, hunks: ["@@ -1,4 +1,4 @@", "@@ -6,4 +6,4 @@"] },
])("renderPatch() shows two changes with $gap equal lines between them in $hunks", ({ gap, hunks }) => {
  const middle = numbered(gap).join("");
  const { diff } = patchOf({ a: `x\n${middle}x\n` }, { a: `y\n${middle}y\n` });
  expect([...(diff.match(/^@@.*$/gm) ?? [])]).toEqual(hunks);
});

test("renderPatch() counts the bytes of added lines with their ends and without their signs", () => {
  const { added_bytes } = patchOf({ a: "x\ny\n", c: "old\n" }, { a: "x\nä\n", b: "1\n2", c: "" });
  expect(added_bytes).toBe(3 + 3);
});

describe("past the bound of line edits", () => {
  const { line_edits } = WRITE_LIMITS;
  test("renderPatch() keeps equal lines at exactly the bound", () => {
    const { old, now } = { old: ["same\n", ...numbered(line_edits / 2, "old")], now: numbered(line_edits / 2, "new") };
    const { diff } = patchOf({ a: old.join("") }, { a: [...now, "same\n"].join("") });
    expect(diff.split("\n").filter((line) => line === "-same" || line === "+same")).toHaveLength(0);
    expect(diff).toContain("\n same\n");
  });

  test("renderPatch() replaces one block one past the bound, head and tail still set aside", () => {
    const old = ["head\n", "same\n", ...numbered(line_edits / 2, "old"), "tail\n"];
    const now = ["head\n", ...numbered(line_edits / 2 + 1, "new"), "same\n", "tail\n"];
    const { diff } = patchOf({ a: old.join("") }, { a: now.join("") });
    expect(diff).toContain("\n-same\n");
    expect(diff).toContain("\n+same\n");
    expect(diff).toContain("\n head\n");
    expect(diff).toContain("\n tail\n");
  });

  test("renderPatch() shares the effort of the bound among the files of a patch", () => {
    // The lines are on both sides, and half of them have to move.
    const old = numbered(60).join("");
    const now = numbered(60).toReversed().join("");
    const changes = ["a", "b"].map((path) => ({ path, before: bytes(old), after: bytes(now) }));
    const kept = (edits: number) => renderPatch(changes, edits).diff.match(/^ line/gm)?.length ?? 0;
    expect([kept(117), kept(118), kept(170)]).toEqual([0, 1, 2]);
  });

  test("renderPatch() renders two files of 1 MiB without a common line", () => {
    const old = numbered(60_000, "the old line of number").join("");
    const now = numbered(60_000, "the new line of number").join("");
    expect(old.length).toBeGreaterThan(1024 * 1024);
    const { diff } = patchOf({ a: old }, { a: now });
    expect(diff.match(/^@@.*$/gm)).toEqual(["@@ -1,60000 +1,60000 @@"]);
  });
});

test.each([
  { what: "larger than what is read", side: { kind: "opaque", size_bytes: 2_000_000, digest: "x" } as const },
  { what: "no UTF-8", side: { kind: "bytes", bytes: Uint8Array.of(0x61, 0xe9, 0x0a) } as const },
])("renderPatch() makes no diff of a set with a side that is $what", ({ side }) => {
  for (const change of [
    { path: "a", before: side, after: bytes("x\n") },
    { path: "a", before: bytes("x\n"), after: side },
    { path: "a", before: null, after: side },
  ]) {
    const other = { path: "b", before: null, after: bytes("x\n") };
    expect(renderPatch([change, other])).toEqual({
      diff: "",
      diff_files: ["a", "b"],
      added_bytes: 2,
      diff_bytes: 0,
      opaque_files: 1,
    });
  }
});
