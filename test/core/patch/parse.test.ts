import { expect, test } from "bun:test";
import fc from "fast-check";
import { pathsOfDiff } from "../../../src/core/delegation/diff-files.ts";
import { changedLines } from "../../../src/core/patch/apply.ts";
import { WRITE_LIMITS } from "../../../src/core/patch/limits.ts";
import { parsePatch, refusalText } from "../../../src/core/patch/parse.ts";
import { patchOf, treePair } from "../../support/patch-trees.ts";

const parse = (text: string, writeRoot?: string) => parsePatch(new TextEncoder().encode(text), writeRoot);
const HUNK = "@@ -1 +1 @@\n-x\n+y\n";
const section = (path: string, hunks = HUNK) =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${hunks}`;
const hunks = (text: string) => section("a", text);
const created = (lines: string) => `diff --git a/a b/a\nnew file mode 100644\n${lines}`;

test("parsePatch() reads what renderPatch() writes, with its size", () => {
  fc.assert(
    fc.property(treePair({ deletes: true }), ([before, after]) => {
      const { diff, diff_files, added_bytes, diff_bytes } = patchOf(before, after);
      // What grades any diff reads the same files in this one.
      expect(pathsOfDiff(diff)).toEqual(diff_files);
      if (diff === "") return;
      const parsed = parse(diff);
      expect(parsed.ok ? parsed.patch.files.map(({ path }) => path) : parsed.refusal).toEqual([...diff_files]);
      const size = { files: diff_files.length, added_bytes, diff_bytes, opaque_files: 0 };
      expect(parsed).toMatchObject({ patch: { size } });
    }),
    { numRuns: 300 },
  );
});

test("changedLines() gives the lines of a file without their signs and ends", () => {
  const parsed = parse(patchOf({ a: "x\ny\r\nz" }, { a: "x\nw\r\nz\n" }).diff);
  const [file] = parsed.ok ? parsed.patch.files : [];
  expect(file === undefined ? null : changedLines(file)).toEqual({ added: ["w\r", "z"], removed: ["y\r", "z"] });
});

const CONTEXT = " 1\n 2\n 3\n";

test.each<{
  what: string;
  patch: string;
  says: string;
  file?: string | null;
  hunk?: number | null;
  line?: number | null;
}>([
  { what: "an empty patch", patch: "", says: "the patch is empty", line: null },
  { what: "prose", patch: "I changed a\n", says: '"I changed a" is nothing that this format has here', line: 1 },
  { what: "prose before a section", patch: `Here:\n${section("a")}`, says: '"Here:"', line: 1 },
  { what: "prose behind a section", patch: `${section("a")}Done\n`, says: '"Done"', file: "a", hunk: 1, line: 7 },
  {
    what: "an empty line between sections",
    patch: `${section("a")}\n${section("b")}`,
    says: '""',
    file: "a",
    hunk: 1,
    line: 7,
  },
  { what: "a patch that was cut", patch: section("a").slice(0, -1), says: "does not end with a line end", line: null },
  { what: "a diff without the line of git", patch: `--- a/a\n+++ b/a\n${HUNK}`, says: '"--- a/a"', line: 1 },
  {
    what: "CR LF around the lines",
    patch: section("a").replaceAll("\n", "\r\n"),
    says: "ends with CR LF",
    line: 1,
  },
  { what: "a section without a change", patch: "diff --git a/a b/a\n", says: "changes nothing", file: "a", line: 2 },
  { what: "headers without a hunk", patch: section("a", ""), says: "changes nothing", file: "a", line: 4 },
  { what: "a quoted name", patch: `diff --git "a/\\303\\251" "b/\\303\\251"\n`, says: "a name is quoted", line: 1 },
  {
    what: "names that differ",
    patch: `diff --git a/a b/b\n${HUNK}`,
    says: "the names of the two sides differ: a/a b/b",
    line: 1,
  },
  {
    what: "names without their prefixes",
    patch: "diff --git src/a src/a\n",
    says: "names of the two sides differ",
    line: 1,
  },
  {
    what: "another name behind ---",
    patch: section("a").replace("--- a/a", "--- a/b"),
    says: '"--- a/b" where "--- a/a" is due',
    file: "a",
    line: 2,
  },
  {
    what: "another name behind +++",
    patch: section("a").replace("+++ b/a", "+++ b/b"),
    says: '"+++ b/b" where "+++ b/a" is due',
    file: "a",
    line: 3,
  },
  {
    what: "no tab behind a blank",
    patch: section("a b"),
    says: '"--- a/a b" where "--- a/a b\\t" is due',
    file: "a b",
    line: 2,
  },
  {
    what: "a tab without a blank",
    patch: section("a").replace("--- a/a", "--- a/a\t"),
    says: 'where "--- a/a" is due',
    file: "a",
    line: 2,
  },
  {
    what: "a change that names /dev/null",
    patch: section("a").replace("--- a/a", "--- /dev/null"),
    says: '"--- /dev/null" where',
    file: "a",
    line: 2,
  },
  {
    what: "a new file that was there",
    patch: created(`--- a/a\n+++ b/a\n${HUNK}`),
    says: 'where "--- /dev/null" is due',
    file: "a",
    line: 3,
  },
  {
    what: "an index line",
    patch: section("a").replace("--- ", "index 1..2 100644\n--- "),
    says: 'an "index" line is nothing',
    file: "a",
    line: 2,
  },
  {
    what: "another mode",
    patch: created("").replace("100644", "100755"),
    says: 'the mode is "100755", and only 100644',
    file: "a",
    line: 2,
  },
  {
    what: "a link",
    patch: created(`--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b\n`).replace("100644", "120000"),
    says: 'the mode is "120000"',
    file: "a",
    line: 2,
  },
  {
    what: "a change of mode",
    patch: "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n",
    says: "a change of mode is nothing",
    file: "a",
    line: 2,
  },
  {
    what: "a rename",
    patch: "diff --git a/a b/b\nrename from a\nrename to b\n",
    says: "names of the two sides differ",
    line: 1,
  },
  {
    what: "a rename of a name to itself",
    patch: "diff --git a/a b/a\nrename from a\nrename to a\n",
    says: "a rename is nothing",
    file: "a",
    line: 2,
  },
  {
    what: "a copy",
    patch: "diff --git a/a b/a\ncopy from a\ncopy to b\n",
    says: "a copy is nothing",
    file: "a",
    line: 2,
  },
  {
    what: "a binary patch",
    patch: "diff --git a/a b/a\nGIT binary patch\nliteral 1\nIc${MZ\n",
    says: "a binary patch is nothing",
    file: "a",
    line: 2,
  },
  {
    what: "binary files",
    patch: "diff --git a/a b/a\nBinary files a/a and b/a differ\n",
    says: "a binary patch is nothing",
    file: "a",
    line: 2,
  },
  { what: "a name that leaves the folder", patch: section("../a"), says: 'has a segment ".."', file: "../a", line: 1 },
  { what: "an absolute name", patch: section("/a"), says: "is absolute", file: "/a", line: 1 },
  { what: "a name in Git's folder", patch: section(".git/hooks/x"), says: "Git's own", file: ".git/hooks/x", line: 1 },
  { what: "the name of a device", patch: section("nul"), says: 'the device "nul"', file: "nul", line: 1 },
  {
    what: "a name that could be written otherwise",
    patch: section("./a"),
    says: 'is another way to write "a"',
    file: "./a",
    line: 1,
  },
  {
    what: "a backslash in a name",
    patch: section("a\\b"),
    says: 'is another way to write "a/b"',
    file: "a\\b",
    line: 1,
  },
  { what: "a name twice", patch: section("a") + section("a"), says: "they have one name", file: "a", line: 7 },
  {
    what: "two names that differ in case",
    patch: section("a") + section("A"),
    says: "nothing but case",
    file: "A",
    line: 7,
  },
  {
    what: "a file and a folder of one name",
    patch: section("a") + section("a/b"),
    says: "the one is a folder of the other",
    file: "a/b",
    line: 7,
  },
  {
    what: "a head that counts 1",
    patch: hunks("@@ -1,1 +1,1 @@\n-x\n+y\n"),
    says: "is no head of a hunk",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "a head with words behind it",
    patch: hunks("@@ -1 +1 @@ f()\n-x\n+y\n"),
    says: "is no head of a hunk",
    file: "a",
    hunk: 1,
    line: 4,
  },
  { what: "a bare head", patch: hunks("@@\n-x\n+y\n"), says: "is no head of a hunk", file: "a", hunk: 1, line: 4 },
  {
    what: "a number with a nought before it",
    patch: hunks("@@ -01 +1 @@\n-x\n+y\n"),
    says: "is no head",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "a line 0",
    patch: hunks("@@ -0 +1 @@\n-x\n+y\n"),
    says: "lines are counted from 1",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "fewer lines than counted",
    patch: hunks("@@ -1,2 +1,2 @@\n-x\n+y\n"),
    says: "1 old and 1 new lines are missing",
    file: "a",
    hunk: 1,
    line: 7,
  },
  {
    what: "fewer lines than counted before a section",
    patch: hunks("@@ -1,2 +1,2 @@\n-x\n+y\n") + section("b"),
    says: "are missing",
    file: "a",
    hunk: 1,
    line: 7,
  },
  {
    what: "more lines than counted",
    patch: hunks("@@ -1 +1 @@\n-x\n+y\n+z\n"),
    says: "more lines than its head counts",
    file: "a",
    hunk: 1,
    line: 7,
  },
  {
    what: "more old lines than counted",
    patch: hunks("@@ -1 +1,2 @@\n-x\n-y\n+z\n+w\n"),
    says: "more old lines than",
    file: "a",
    hunk: 1,
    line: 6,
  },
  {
    what: "more new lines than counted",
    patch: hunks("@@ -1,2 +1 @@\n+x\n+y\n-z\n-w\n"),
    says: "more new lines than",
    file: "a",
    hunk: 1,
    line: 6,
  },
  {
    what: "an empty line in a hunk",
    patch: hunks("@@ -1,2 +1,2 @@\n\n-x\n+y\n"),
    says: "are missing",
    file: "a",
    hunk: 1,
    line: 5,
  },
  {
    what: "a hunk without a change",
    patch: hunks("@@ -1 +1 @@\n x\n"),
    says: "it changes nothing",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "hunks that overlap",
    patch: hunks(`@@ -1,4 +1,4 @@\n-x\n+y\n${CONTEXT}@@ -4,4 +4,4 @@\n 4\n-x\n+y\n 6\n 7\n`),
    says: "overlaps the hunk before it",
    file: "a",
    hunk: 2,
    line: 10,
  },
  {
    what: "hunks in another order",
    patch: hunks(`@@ -9,7 +9,7 @@\n${CONTEXT}-x\n+y\n${CONTEXT}@@ -1,4 +1,4 @@\n-x\n+y\n${CONTEXT}`),
    says: "stands before that",
    file: "a",
    hunk: 2,
    line: 13,
  },
  {
    what: "a hunk behind the end of the file",
    patch: hunks("@@ -1,2 +1,2 @@\n-x\n+y\n 1\n@@ -9,4 +9,4 @@\n 1\n 2\n 3\n-x\n+y\n"),
    says: "shows the end of the file",
    file: "a",
    hunk: 2,
    line: 8,
  },
  {
    what: "new lines at another place",
    patch: hunks("@@ -1 +2 @@\n-x\n+y\n"),
    says: "the start of its new lines",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "new lines at another place than the hunks before it shift them to",
    patch: hunks(`@@ -1,4 +1,5 @@\n-x\n+y\n+z\n${CONTEXT}@@ -9,7 +9,7 @@\n${CONTEXT}-x\n+y\n${CONTEXT}`),
    says: "the start of its new lines",
    file: "a",
    hunk: 2,
    line: 11,
  },
  {
    what: "no old lines in the middle of a file",
    patch: hunks("@@ -3,0 +4 @@\n+y\n"),
    says: "-0,0",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "no new lines in the middle of a file",
    patch: hunks("@@ -3 +2,0 @@\n-y\n"),
    says: "+0,0",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "too few lines before a change",
    patch: hunks(`@@ -5,6 +5,6 @@\n 1\n 2\n-x\n+y\n${CONTEXT}`),
    says: "shows 2 lines before its first change",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "too many lines before a change",
    patch: hunks(`@@ -1,8 +1,8 @@\n 0\n${CONTEXT}-x\n+y\n${CONTEXT}`),
    says: "more than 3 lines around",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "too many lines behind a change",
    patch: hunks(`@@ -1,5 +1,5 @@\n-x\n+y\n${CONTEXT} 4\n`),
    says: "more than 3 lines around",
    file: "a",
    hunk: 1,
    line: 4,
  },
  {
    what: "old lines of a new file",
    patch: created(`--- /dev/null\n+++ b/a\n${HUNK}`),
    says: "a new file has no old lines",
    file: "a",
    hunk: 1,
    line: 5,
  },
  {
    what: "new lines of a deleted file",
    patch: `diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n${HUNK}`,
    says: "a deleted file has no new lines",
    file: "a",
    hunk: 1,
    line: 5,
  },
  {
    what: "a second hunk of a new file",
    patch: created("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n@@ -0,0 +2 @@\n+y\n"),
    says: "shows the end of the file",
    file: "a",
    hunk: 2,
    line: 7,
  },
  {
    what: "an old line behind the end of the file",
    patch: hunks("@@ -1,2 +1 @@\n x\n\\ No newline at end of file\n-y\n"),
    says: "behind the end of the file",
    file: "a",
    hunk: 1,
    line: 7,
  },
  {
    what: "a new line behind the end of the file",
    patch: hunks("@@ -1 +1,2 @@\n-x\n+y\n\\ No newline at end of file\n+z\n"),
    says: "behind the end of the file",
    file: "a",
    hunk: 1,
    line: 8,
  },
  {
    what: "a kept line behind the end of the new file",
    patch: hunks("@@ -1,2 +1,2 @@\n-x\n+y\n\\ No newline at end of file\n z\n"),
    says: "behind the end of the file",
    file: "a",
    hunk: 1,
    line: 8,
  },
  {
    what: "the mark for a missing end twice",
    patch: hunks("@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n\\ No newline at end of file\n"),
    says: "is nothing that this format has here",
    file: "a",
    hunk: 1,
    line: 8,
  },
  {
    what: "the mark in other words",
    patch: hunks("@@ -1 +1 @@\n-x\n+y\n\\ No newline\n"),
    says: '"\\ No newline" is nothing',
    file: "a",
    hunk: 1,
    line: 7,
  },
  {
    what: "the mark behind no line",
    patch: hunks("@@ -1 +1 @@\n\\ No newline at end of file\n-x\n+y\n"),
    says: "are missing",
    file: "a",
    hunk: 1,
    line: 5,
  },
  {
    what: "a last line that is empty and has no end",
    patch: hunks("@@ -1 +1 @@\n-x\n+\n\\ No newline at end of file\n"),
    says: "is no line",
    file: "a",
    hunk: 1,
    line: 8,
  },
])("parsePatch() refuses $what", ({ patch, says, file = null, hunk = null, line }) => {
  const parsed = parse(patch);
  expect(parsed.ok ? null : parsed.refusal).toMatchObject({ file, hunk, line: line ?? null });
  expect(parsed.ok ? null : parsed.refusal.reason).toContain(says);
});

test("parsePatch() refuses a header that is no UTF-8", () => {
  const bytes = new TextEncoder().encode(section("a?"));
  bytes[bytes.indexOf(0x3f)] = 0xe9;
  expect(parsePatch(bytes)).toMatchObject({ ok: false, refusal: { reason: "the line is no UTF-8", line: 1 } });
});

test("parsePatch() reads exactly 8 MiB and not a byte more", () => {
  const { patch_bytes } = WRITE_LIMITS;
  const frame = hunks("@@ -1 +1 @@\n-x\n+\n").length;
  const sized = (bytes: number) => parse(hunks(`@@ -1 +1 @@\n-x\n+${"y".repeat(bytes - frame)}\n`));
  expect(sized(patch_bytes)).toMatchObject({ ok: true, patch: { size: { diff_bytes: patch_bytes } } });
  expect(sized(patch_bytes + 1)).toMatchObject({
    ok: false,
    refusal: { file: null, line: null, reason: "the patch has 8388609 bytes; at most 8388608 are read" },
  });
});

test("parsePatch() holds names against a write root", () => {
  expect(parse(section("work/a"), "work")).toMatchObject({ ok: true });
  expect(parse(section("a"), "work")).toMatchObject({
    ok: false,
    refusal: { file: "a", reason: 'the path "a" is outside of the write root "work"' },
  });
});

test("parsePatch() takes hunks that touch", () => {
  const patch = hunks(`@@ -1,4 +1,4 @@\n-x\n+y\n${CONTEXT}@@ -5,4 +5,4 @@\n${CONTEXT}-x\n+y\n`);
  expect(parse(patch)).toMatchObject({ ok: true });
});

test("parsePatch() answers whatever the bytes", () => {
  const piece = fc.constantFrom(
    "diff --git a/a b/a\n",
    "--- a/a\n",
    "+++ b/a\n",
    "@@ -1 +1 @@\n",
    "-x\n",
    "+y\n",
    " z\n",
    "\\ No newline at end of file\n",
    "new file mode 100644\n",
    "\n",
    "x",
    "\0",
    "é",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const parsed = parse(pieces.join(""));
      if (!parsed.ok) expect(parsed.refusal.reason).not.toBe("");
    }),
    { numRuns: 500 },
  );
});

test.each([
  [{ file: "src/a", hunk: 2, line: 17, line_of: "patch", reason: "why" }, "src/a, hunk 2, line 17 of the patch: why"],
  [{ file: "src/a", hunk: 2, line: 17, line_of: "file", reason: "line 17 …" }, "src/a, hunk 2: line 17 …"],
  [{ file: null, hunk: null, line: null, line_of: null, reason: "why" }, "why"],
  [{ file: "a\nb", hunk: null, line: 1, line_of: "patch", reason: "why" }, "a\\nb, line 1 of the patch: why"],
] as const)("refusalText() of %p is %p", (refusal, text) => {
  expect(refusalText(refusal)).toBe(text);
});
