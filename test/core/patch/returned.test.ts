import { expect, test } from "bun:test";
import { readReturnedDiff } from "../../../src/core/patch/returned.ts";
import { patchOf, type Tree } from "../../support/patch-trees.ts";

const SENT = {
  write_root: "src",
  documents: [
    { name: "src/a", text: "x\n" },
    { name: "README", text: "r\n" },
  ],
};
const BEFORE: Tree = { "src/a": "x\n", README: "r\n" };
const diffTo = (after: Tree, before = BEFORE) => patchOf(before, { ...before, ...after }).diff;
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`src/f${at}`, "x"]));
const CHANGED = diffTo({ "src/a": "y\n" });

test.each([
  { what: "nothing", diff: "", files: [] },
  { what: "a changed and a new file", diff: diffTo({ "src/a": "y\n", "src/b/c": "" }), files: ["src/a", "src/b/c"] },
  { what: "as many files as may be", diff: diffTo(many(8)), files: Object.keys(many(8)) },
])("readReturnedDiff() takes $what, and names its files", ({ diff, files }) => {
  expect(readReturnedDiff(diff, SENT)).toEqual({ ok: true, diff_files: files });
});

test.each([
  { what: "prose", diff: "done\n", says: 'line 1 of the patch: "done" is nothing that this format has here' },
  { what: "half of a character", diff: CHANGED.replace("y", "\ud800"), says: "it holds half of a character" },
  {
    what: "a path outside of the write root",
    diff: diffTo({ README: "s\n" }),
    says: 'outside of the write root "src"',
  },
  {
    what: "a path that leaves the folder",
    diff: CHANGED.replaceAll("src/a", "src/../../a"),
    says: 'has a segment ".."',
  },
  { what: "a link", diff: diffTo({ "src/l": "/etc\n" }).replace("100644", "120000"), says: "only 100644 is taken" },
  { what: "nine files", diff: diffTo(many(9)), says: "write cap exceeded: files 9 of 8" },
  {
    what: "a byte too many",
    diff: diffTo({ "src/b": "x".repeat(65_537) }),
    says: "write cap exceeded: added bytes 65537 of 65536",
  },
  {
    what: "a diff that is too large, before it is read",
    diff: "x".repeat(196_609),
    says: "write cap exceeded: diff bytes 196609 of 196608",
  },
  {
    what: "a file that goes",
    diff: patchOf(BEFORE, { README: "r\n" }).diff,
    says: '"src/a" is deleted, which the write door does not grant',
  },
  {
    what: "lines that no document has",
    diff: diffTo({ "src/a": "y\n" }, { ...BEFORE, "src/a": "z\n" }),
    says: 'it does not fit the documents: src/a, hunk 1: line 1 of the file is "x", and "z" is due',
  },
  {
    what: "a file that was never sent",
    diff: diffTo({ "src/b": "y\n" }, { ...BEFORE, "src/b": "z\n" }),
    says: "it does not fit the documents: src/b: there is no such file",
  },
  {
    what: "a new file that was sent",
    diff: patchOf({}, { "src/a": "y\n" }).diff,
    says: "it does not fit the documents: src/a: the file is there",
  },
])("readReturnedDiff() refuses $what", ({ diff, says }) => {
  const read = readReturnedDiff(diff, SENT);
  expect(read.ok ? null : read.reason).toContain(says);
});

test("readReturnedDiff() refuses any diff where no door was open", () => {
  expect(readReturnedDiff(CHANGED, { ...SENT, write_root: "" })).toEqual({
    ok: false,
    reason: "the contract opens no write door",
  });
});
