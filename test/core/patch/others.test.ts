/** Diffs and the strict applier, held against the programs that others apply diffs with. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  type Applier,
  Appliers,
  isBeyondPatch,
  patchOf,
  sorted,
  strictlyApplied,
  type Tree,
  treePair,
} from "../../support/patch-trees.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "writ-others-test-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const ALL: readonly Applier[] = ["git in a repository", "git outside", "patch"];
/** A bound for a machine that is busy; the tests take a few seconds. */
const LIMIT_MS = 60_000;

const numbered = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, at) => `${prefix} ${at + 1}\n`).join("");
const HUNK = "@@ -1 +1 @@\n-x\n+y\n";
const edit = (path: string, hunk = HUNK) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${hunk}`;

/** Something that happens to a patch on its way. */
const mutation: fc.Arbitrary<(diff: string) => string> = fc
  .tuple(
    fc.constantFrom("drop", "twice", "swap", "sign", "number", "word", "put", "section", "cut"),
    fc.nat(1000),
    fc.nat(9),
    fc.constantFrom("a", "", "@@ -1 +1 @@", " x", "-x", "+x", "\\ No newline at end of file", "diff --git a/a b/a"),
  )
  .map(([kind, at, number, text]) => (diff) => {
    const lines = diff.split("\n");
    const place = at % Math.max(1, lines.length - 1);
    const line = lines[place] ?? "";
    switch (kind) {
      case "drop":
        lines.splice(place, 1);
        break;
      case "twice":
        lines.splice(place, 0, line);
        break;
      case "swap":
        lines.splice(place, 2, lines[place + 1] ?? "", line);
        break;
      case "sign":
        lines[place] = (" -+"[number % 3] ?? "") + line.slice(1);
        break;
      case "number":
        lines[place] = line.replace(/\d+/, String(number));
        break;
      case "word":
        lines[place] = line + text;
        break;
      case "put":
        lines.splice(place, 0, text);
        break;
      case "section": {
        const sections = diff.split(/^(?=diff --git )/m);
        return [...sections, sections[at % sections.length] ?? ""].join("");
      }
      default:
        return diff.slice(0, at % Math.max(1, diff.length));
    }
    return lines.join("\n");
  });

describe.skipIf(Bun.which("git") === null || Bun.which("patch") === null)("git apply and patch (programs)", () => {
  const appliers = new Appliers(top);

  test(
    "make the new tree of the old one as the strict applier does, whatever the trees",
    () => {
      fc.assert(
        fc.property(treePair({ deletes: false }), ([before, after]) => {
          const { diff } = patchOf(before, after);
          if (diff === "") return;
          expect(strictlyApplied(before, diff)).toEqual(sorted(after));
          for (const applier of ALL) {
            if (applier === "patch" && isBeyondPatch(before, after)) continue;
            expect(appliers.apply(applier, before, diff)).toEqual(sorted(after));
          }
        }),
        { numRuns: 200 },
      );
    },
    LIMIT_MS,
  );

  test.each<{ what: string; before: Tree; after: Tree }>([
    {
      what: "1 MiB without a common line",
      before: { a: numbered(60_000, "the old line of number") },
      after: { a: numbered(60_000, "the new line of number") },
    },
    { what: "NUL in a line", before: { a: "n\0l\nx\n" }, after: { a: "n\0l\ny\0\n" } },
    { what: "a long line without an end", before: { a: "x".repeat(100_000) }, after: { a: "y".repeat(100_000) } },
    { what: "CR LF on one side", before: { a: "x\r\ny\r\n" }, after: { a: "x\ny\n" } },
    { what: "an emptied file", before: { a: "x\ny", b: "b" }, after: { a: "", b: "b" } },
  ])("take a diff with $what", ({ before, after }) => {
    const { diff } = patchOf(before, after);
    expect(strictlyApplied(before, diff)).toEqual(after);
    for (const applier of ALL) expect(appliers.apply(applier, before, diff)).toEqual(after);
  });

  test("of a new empty file with a blank in its name: git makes it, patch does not know its name", () => {
    const { diff } = patchOf({}, { "a b": "" });
    expect(appliers.apply("git outside", {}, diff)).toEqual({ "a b": "" });
    expect(appliers.apply("patch", {}, diff)).toBeNull();
  });

  test(
    "git takes every mutated patch that the strict applier takes, and makes the same of it",
    () => {
      let taken = 0;
      fc.assert(
        fc.property(treePair({ deletes: true }), fc.array(mutation, { minLength: 1, maxLength: 2 }), (trees, steps) => {
          const [before, after] = trees;
          const { diff } = patchOf(before, after);
          const mutated = steps.reduce((text, step) => step(text), diff);
          const tree = strictlyApplied(before, mutated);
          if (mutated === diff || tree === null) return;
          taken += 1;
          expect(appliers.apply("git outside", before, mutated)).toEqual(tree);
        }),
        { numRuns: 4000 },
      );
      // Else nothing was compared.
      expect(taken).toBeGreaterThan(20);
    },
    LIMIT_MS,
  );

  test(
    "what git refuses on another tree, the strict applier refuses",
    () => {
      fc.assert(
        fc.property(treePair({ deletes: true }), treePair({ deletes: false }), ([before, after], [other]) => {
          const { diff } = patchOf(before, after);
          if (diff === "" || appliers.apply("git outside", other, diff) !== null) return;
          expect(strictlyApplied(other, diff)).toBeNull();
        }),
        { numRuns: 60 },
      );
    },
    LIMIT_MS,
  );

  test.each<{ what: string; before?: Tree; diff: string }>([
    { what: "prose", diff: "I changed it\n" },
    { what: "an empty patch", diff: "" },
    { what: "a path that leaves the folder", diff: edit("../x") },
    { what: "a path in Git's folder", diff: edit(".git/x") },
    { what: "a path in Git's folder by its short name", diff: edit("git~1/x") },
    { what: "a hunk that is cut short", before: { a: "x\nz\n" }, diff: edit("a", "@@ -1,2 +1,2 @@\n-x\n+y\n") },
    { what: "a hunk without a change", before: { a: "x\n" }, diff: edit("a", "@@ -1 +1 @@\n x\n") },
    { what: "other lines", before: { a: "z\n" }, diff: edit("a") },
    { what: "CR LF in the file", before: { a: "x\r\n" }, diff: edit("a") },
    { what: "a line end where none is due", before: { a: "x\n" }, diff: patchOf({ a: "x" }, { a: "y" }).diff },
    { what: "no line end where one is due", before: { a: "x" }, diff: edit("a") },
    { what: "a file that goes on", before: { a: "x\nz\n" }, diff: edit("a") },
    { what: "a new file that is there", before: { a: "z\n" }, diff: patchOf({}, { a: "x\n" }).diff },
    { what: "a file that is not there", before: {}, diff: edit("a") },
    { what: "a deleted file that is not there", before: {}, diff: patchOf({ a: "x\n" }, {}).diff },
  ])("git and the strict applier refuse $what", ({ before = { x: "x\n" }, diff }) => {
    expect(strictlyApplied(before, diff)).toBeNull();
    expect(appliers.apply("git outside", before, diff)).toBeNull();
  });

  test.each<{ what: string; before: Tree; diff: string }>([
    { what: "lines at another place", before: { a: `0\n${numbered(9, "l")}` }, diff: middle() },
    { what: "hunks in another order", before: { a: numbered(20, "l") }, diff: outOfOrder() },
    { what: "a name twice", before: { a: "x\n" }, diff: edit("a") + edit("a", "@@ -1 +1 @@\n-y\n+z\n") },
    { what: "a link", before: { b: "x" }, diff: patchOf({}, { a: "b" }).diff.replace("100644", "120000") },
    { what: "a rename", before: { a: "x\n" }, diff: "diff --git a/a b/b\nrename from a\nrename to b\n" },
    { what: "a mode", before: { a: "x\n" }, diff: "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n" },
    { what: "prose before a section", before: { a: "x\n" }, diff: `Here it is:\n${edit("a")}` },
    { what: "a change that changes nothing", before: { a: "x\n" }, diff: edit("a", "@@ -1 +1 @@\n-x\n+x\n") },
  ])("git takes $what, and the strict applier does not", ({ before, diff }) => {
    expect(strictlyApplied(before, diff)).toBeNull();
    expect(appliers.apply("git outside", before, diff)).not.toBeNull();
  });
});

function middle(): string {
  const old = numbered(9, "l");
  return patchOf({ a: old }, { a: old.replace("l 5", "five") }).diff;
}

function outOfOrder(): string {
  const old = numbered(20, "l");
  const { diff } = patchOf({ a: old }, { a: old.replace("l 2\n", "two\n").replace("l 15\n", "fifteen\n") });
  const [head = "", first = "", second = ""] = diff.split(/^(?=@@)/m);
  return head + second + first;
}
