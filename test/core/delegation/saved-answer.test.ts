import { describe, expect, test } from "bun:test";
import { pathsOfDiff } from "../../../src/core/delegation/diff-files.ts";
import { readSavedAnswers } from "../../../src/core/delegation/saved-answer.ts";

const BARE = { index: null, output: "", structured: null, diff_files: [], status: null, reason: null };

describe("readSavedAnswers()", () => {
  test.each([
    { text: '{"output":"x"}', answers: [{ ...BARE, output: "x" }] },
    { text: '{"output":null,"structured":{"a" : 0.50}}', answers: [{ ...BARE, structured: '{"a" : 0.50}' }] },
    {
      text: '{"structured":{"10":1,"2":9007199254740993}}',
      answers: [{ ...BARE, structured: '{"10":1,"2":9007199254740993}' }],
    },
    { text: '{"diff_files":["a"]}', answers: [{ ...BARE, diff_files: ["a"] }] },
    { text: '{"diff":"","diff_files":["a"]}', answers: [BARE] }, // the diff wins
    {
      text: '{"index":2,"status":"deferred","reason":"r"}',
      answers: [{ ...BARE, index: 2, status: "deferred", reason: "r" }],
    },
    {
      text: '{"results":[{"index":1,"output":"b"},{"index":0}]}',
      answers: [
        { ...BARE, index: 1, output: "b" },
        { ...BARE, index: 0 },
      ],
    },
    { text: '{"results":[]}', answers: [] },
  ])("reads $text", ({ text, answers }) => {
    expect(readSavedAnswers(text)).toEqual({ ok: true, answers });
  });

  test.each([
    { text: "{", path: "" },
    { text: "[]", path: "" },
    { text: "{}", path: "" },
    { text: '{"goal":"x"}', path: "" },
    { text: '{"output":1}', path: "/output" },
    { text: '{"diff_files":"a"}', path: "/diff_files" },
    { text: '{"diff_files":[1]}', path: "/diff_files/0" },
    { text: '{"index":-1}', path: "/index" },
    { text: '{"index":"0"}', path: "/index" },
    { text: '{"results":{}}', path: "/results" },
    { text: '{"results":[1]}', path: "/results/0" },
    { text: '{"results":[{"output":"x"}]}', path: "/results/0" },
    { text: '{"results":[{"index":0},{"index":0}]}', path: "/results" },
    { text: '{"output":"a","output":"b"}', path: "" },
  ])("refuses $text", ({ text, path }) => {
    expect(readSavedAnswers(text)).toMatchObject({ ok: false, path });
  });

  test("keeps half a surrogate pair in the text of structured", () => {
    const read = readSavedAnswers('{"structured":{"a":"\\ud800"}}');
    expect(read).toMatchObject({ answers: [{ structured: '{"a":"\\ud800"}' }] });
  });
});

describe("pathsOfDiff()", () => {
  test.each([
    {
      what: "a change",
      diff: "diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-a\n+b\n",
      paths: ["x.ts"],
    },
    { what: "a new empty file", diff: "diff --git a/a b.txt b/a b.txt\nnew file mode 100644\n", paths: ["a b.txt"] },
    {
      what: "a new file without git's line",
      diff: "--- /dev/null\n+++ b/n.md\t\n@@ -0,0 +1 @@\n+x\n",
      paths: ["n.md"],
    },
    { what: "a deleted file", diff: "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", paths: ["gone"] },
    {
      what: "headers inside a hunk",
      diff: "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n--- a/evil\n+++ b/evil\n++ b/evil\n y\n",
      paths: ["x"],
    },
    {
      what: "two files",
      diff: "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\ndiff --git a/a b/a\nnew file mode 100644\n",
      paths: ["b", "a"],
    },
    {
      what: "a hunk that is cut short",
      diff: "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\ndiff --git a/y b/y\n",
      paths: ["x", "y"],
    },
    { what: "no diff", diff: "I changed x.ts", paths: [] },
    { what: "nothing", diff: "", paths: [] },
  ])("of $what", ({ diff, paths }) => {
    expect(pathsOfDiff(diff)).toEqual(paths);
  });
});
