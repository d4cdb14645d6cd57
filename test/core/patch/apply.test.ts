import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type OldFile, type PatchPlan, planPatch, planRest } from "../../../src/core/patch/apply.ts";
import { parsePatch } from "../../../src/core/patch/parse.ts";
import { patchOf, type Tree, treePair } from "../../support/patch-trees.ts";

const encoder = new TextEncoder();

/** Plans a patch on a tree of texts. */
function plan(diff: string, tree: Tree): PatchPlan {
  const parsed = parsePatch(encoder.encode(diff));
  if (!parsed.ok) throw new Error(parsed.refusal.reason);
  return planPatch(parsed.patch, (path): OldFile => {
    const text = tree[path];
    return text === undefined ? { kind: "absent" } : { kind: "file", bytes: encoder.encode(text) };
  });
}

function refusals(
  planned: PatchPlan,
): readonly (readonly [file: string | null, hunk: number | null, reason: string])[] {
  return planned.ok ? [] : planned.refusals.map(({ file, hunk, reason }) => [file, hunk, reason]);
}

test("planPatch() makes the new tree of the old one, whatever the trees", () => {
  fc.assert(
    fc.property(treePair({ deletes: true }), ([before, after]) => {
      const { diff, diff_files } = patchOf(before, after);
      if (diff === "") return;
      const planned = plan(diff, before);
      expect(refusals(planned)).toEqual([]);
      if (!planned.ok) return;
      expect(planned.files.map(({ path }) => path)).toEqual([...diff_files]);
      const text = (bytes: Uint8Array | null) =>
        bytes === null ? undefined : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      for (const file of planned.files) {
        expect([text(file.before), text(file.after)]).toEqual([before[file.path], after[file.path]]);
      }
    }),
    { numRuns: 500 },
  );
});

const NINE = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const FIVE = patchOf({ a: NINE }, { a: NINE.replace("5", "five") }).diff;
const FIRST = patchOf({ a: NINE }, { a: NINE.replace("1", "one") }).diff;
const LAST = patchOf({ a: NINE }, { a: NINE.replace("9", "nine") }).diff;
const BOTH = patchOf({ a: NINE }, { a: NINE.replace("1", "one").replace("9", "nine") }).diff;
const MADE = patchOf({}, { a: "x\n" }).diff;
const GONE = patchOf({ a: "x\n" }, {}).diff;
const EMPTIED = patchOf({ a: "x" }, { a: "" }).diff;

test.each<{ what: string; diff: string; tree: Tree; says: readonly (readonly [string, number | null, string])[] }>([
  {
    what: "another line in the context",
    diff: FIVE,
    tree: { a: NINE.replace("3", "three") },
    says: [["a", 1, 'line 3 of the file is "three", and "3" is due']],
  },
  {
    what: "another line where one is removed",
    diff: FIVE,
    tree: { a: NINE.replace("5", "fünf") },
    says: [["a", 1, 'line 5 of the file is "fünf", and "5" is due']],
  },
  {
    what: "lines that stand elsewhere: there is no offset",
    diff: FIVE,
    tree: { a: `0\n${NINE}` },
    says: [["a", 1, 'line 2 of the file is "1", and "2" is due']],
  },
  {
    what: "other blanks at the end of a line",
    diff: FIVE,
    tree: { a: NINE.replace("4\n", "4 \n") },
    says: [["a", 1, 'line 4 of the file is "4 ", and "4" is due']],
  },
  {
    what: "CR LF in the file",
    diff: FIVE,
    tree: { a: NINE.replaceAll("\n", "\r\n") },
    says: [["a", 1, 'line 2 of the file is "2\\r", and "2" is due']],
  },
  {
    what: "every hunk that does not fit",
    diff: BOTH,
    tree: { a: NINE.replace("1", "eins").replace("9", "neun") },
    says: [
      ["a", 1, 'line 1 of the file is "eins", and "1" is due'],
      ["a", 2, 'line 9 of the file is "neun", and "9" is due'],
    ],
  },
  {
    what: "a file that ends early",
    diff: LAST,
    tree: { a: "1\n2\n3\n4\n5\n6\n7\n" },
    says: [["a", 1, "the file ends after line 7, and line 8 of it is due"]],
  },
  {
    what: "a file that goes on behind a hunk of its end",
    diff: LAST,
    tree: { a: `${NINE}10\n` },
    says: [["a", 1, "the file goes on behind line 9, where the hunk shows its end"]],
  },
  {
    what: "a last line without the end that is due",
    diff: LAST,
    tree: { a: NINE.slice(0, -1) },
    says: [["a", 1, "line 9 of the file has no line end, and one is due"]],
  },
  {
    what: "a last line with an end that is not due",
    diff: EMPTIED,
    tree: { a: "x\n" },
    says: [["a", 1, "line 1 of the file has a line end, and none is due"]],
  },
  {
    what: "a new file that is there",
    diff: MADE,
    tree: { a: "" },
    says: [["a", null, "the file is there, and the patch makes it anew"]],
  },
  { what: "a changed file that is not there", diff: FIRST, tree: {}, says: [["a", null, "there is no such file"]] },
  { what: "a deleted file that is not there", diff: GONE, tree: {}, says: [["a", null, "there is no such file"]] },
  {
    what: "a deleted file that has more lines",
    diff: GONE,
    tree: { a: "x\ny\n" },
    says: [["a", 1, "the file goes on behind line 1, where the hunk shows its end"]],
  },
  {
    what: "a file that is deleted as if it were empty",
    diff: "diff --git a/a b/a\ndeleted file mode 100644\n",
    tree: { a: "x\n" },
    says: [["a", null, "the file is not empty, and the patch shows no line of it"]],
  },
  {
    what: "a patch that leaves the file as it was",
    diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+x\n",
    tree: { a: "x\n" },
    says: [["a", null, "the patch leaves the file as it was"]],
  },
  {
    what: "the faults of all files",
    diff: patchOf({ a: "x\n", b: "x\n", c: "x\n" }, { a: "y\n", b: "y\n", c: "y\n" }).diff,
    tree: { b: "x\n", c: "z\n" },
    says: [
      ["a", null, "there is no such file"],
      ["c", 1, 'line 1 of the file is "z", and "x" is due'],
    ],
  },
])("planPatch() refuses $what", ({ diff, tree, says }) => {
  expect(refusals(plan(diff, tree))).toEqual(says.map((each) => [...each]));
});

test("planPatch() names the line of the file that its reason names", () => {
  const lines = (diff: string, tree: Tree) => {
    const planned = plan(diff, tree);
    return planned.ok ? [] : planned.refusals.map(({ line, line_of }) => [line, line_of]);
  };
  expect(lines(BOTH, { a: NINE.replace("1", "eins").replace("9", "neun") })).toEqual([
    [1, "file"],
    [9, "file"],
  ]);
  expect(lines(LAST, { a: "1\n2\n3\n4\n5\n6\n7\n" })).toEqual([[8, "file"]]);
  expect(lines(LAST, { a: `${NINE}10\n` })).toEqual([[9, "file"]]);
  expect(lines(FIRST, {})).toEqual([[null, null]]);
});

const EDGE = "x".repeat(200);

test.each([
  { what: "blanks alone", found: "      if (a)", due: "  if (a)", says: ['"      if (a)"', '"  if (a)"'] },
  { what: "blanks at the end", found: "a   ", due: "a", says: ['"a   "', '"a"'] },
  { what: "a tab for blanks", found: "\ta", due: "  a", says: ['"\\ta"', '"  a"'] },
  { what: "a tab for how it is spelled", found: "\ta", due: "\\ta", says: ['"\\ta"', '"\\\\ta"'] },
  { what: "what is invisible", found: "a\u200bb", due: "ab", says: ['"a\\u200bb"', '"ab"'] },
  { what: "a blank of another kind", found: "a\u00a0b", due: "a b", says: ['"a\\u00a0b"', '"a b"'] },
  {
    what: "its end alone, far behind its beginning",
    found: `${EDGE}1`,
    due: `${EDGE}2`,
    says: [`"…${"x".repeat(60)}1"`, `"…${"x".repeat(60)}2"`],
  },
])("planPatch() shows how a line differs in $what", ({ found, due, says: [is, wanted] }) => {
  const { diff } = patchOf({ a: `${due}\n` }, { a: "other\n" });
  expect(refusals(plan(diff, { a: `${found}\n` }))).toEqual([
    ["a", 1, `line 1 of the file is ${is}, and ${wanted} is due`],
  ]);
});

test("planPatch() refuses bytes that read alike", () => {
  const parsed = parsePatch(encoder.encode("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-\ufffd\n+x\n"));
  const planned = parsed.ok
    ? planPatch(parsed.patch, () => ({ kind: "file", bytes: Uint8Array.of(0xff, 0x0a) }))
    : { ok: true as const, files: [] };
  expect(refusals(planned)).toEqual([["a", 1, "line 1 of the file is other bytes than those that are due"]]);
});

test("planPatch() keeps bytes that are no UTF-8 where the patch does not show them", () => {
  const lines = "1\n2\n3\n4\n5\n".split("").map((char) => char.charCodeAt(0));
  const old = Uint8Array.from([0xff, 0x0a, ...lines]);
  const patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -3,4 +3,4 @@\n 2\n 3\n 4\n-5\n+6\n";
  const parsed = parsePatch(encoder.encode(patch));
  const planned = parsed.ok ? planPatch(parsed.patch, () => ({ kind: "file", bytes: old })) : null;
  const after = Uint8Array.from([...old.slice(0, -2), 0x36, 0x0a]);
  expect(planned).toEqual({ ok: true, files: [{ path: "a", before: old, after }] });
});

test("planPatch() says what bars a file", () => {
  const parsed = parsePatch(encoder.encode(MADE));
  const planned = parsed.ok ? planPatch(parsed.patch, () => ({ kind: "barred", why: '"a" is a link' })) : null;
  expect(planned === null ? [] : refusals(planned)).toEqual([["a", null, '"a" is a link']]);
});

describe("planRest()", () => {
  const BEFORE = { a: "1\n2\n3\n", b: "x\n", c: "gone\n" };
  const AFTER = { a: "1\ntwo\n3\n", b: "y\n", d: "new\n" };

  function rest(diff: string, tree: Readonly<Record<string, string>>) {
    const parsed = parsePatch(encoder.encode(diff));
    if (!parsed.ok) throw new Error(parsed.refusal.reason);
    const plan = planRest(parsed.patch, (path): OldFile => {
      const text = tree[path];
      return text === undefined ? { kind: "absent" } : { kind: "file", bytes: encoder.encode(text) };
    });
    return plan.ok
      ? { files: plan.files.map(({ path }) => path), already: [...plan.already] }
      : plan.refusals.map(({ file, reason }) => `${file}: ${reason}`);
  }

  const { diff } = patchOf(BEFORE, AFTER);
  const WHOLE = ["a", "b", "c", "d"];

  test("plans a patch on the tree that it was made of as planPatch() does", () => {
    expect(rest(diff, BEFORE)).toEqual({ files: WHOLE, already: [] });
  });

  test.each<[string[]]>([[["a"]], [["b", "d"]], [["c"]], [["d"]], [["a", "b", "c"]]])(
    "leaves what is already as the patch makes it: %p",
    (already) => {
      const tree: Record<string, string> = { ...BEFORE };
      const after: Readonly<Record<string, string>> = AFTER;
      for (const path of already) {
        const text = after[path];
        if (text === undefined) delete tree[path];
        else tree[path] = text;
      }
      expect(rest(diff, tree)).toEqual({ files: WHOLE.filter((path) => !already.includes(path)), already });
    },
  );

  test("refuses a patch of which nothing is left to do", () => {
    expect(rest(diff, AFTER)).toEqual([
      'a: line 2 of the file is "two", and "2" is due',
      'b: line 1 of the file is "y", and "x" is due',
      "c: there is no such file",
      "d: the file is there, and the patch makes it anew",
    ]);
  });

  test("refuses all of it where one file is neither as it was nor as it shall be", () => {
    expect(rest(diff, { ...BEFORE, a: AFTER.a, b: "z\n" })).toEqual([
      'a: line 2 of the file is "two", and "2" is due',
      'b: line 1 of the file is "z", and "x" is due',
    ]);
    expect(rest(diff, { ...BEFORE, d: "new\nand more\n" })).toEqual([
      "d: the file is there, and the patch makes it anew",
    ]);
  });

  test("refuses a file that would fit again, where others are changed already", () => {
    const many = "0\n".repeat(20);
    // As `diff` writes it where a line is put among lines that are like it.
    const again = "diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -5,6 +5,7 @@\n 0\n 0\n 0\n+0\n 0\n 0\n 0\n";
    // It comes last: so none is changed without another that tells it.
    expect(rest(again + diff, { ...BEFORE, z: many })).toEqual({ files: [...WHOLE, "z"], already: [] });
    expect(rest(diff + again, { ...BEFORE, a: AFTER.a, z: many })).toEqual([
      expect.stringContaining("z: the patch fits, and may have been carried out here already"),
    ]);
  });
});
