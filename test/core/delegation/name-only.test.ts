import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { judgeNameOnly, piecesOf } from "../../../src/core/delegation/name-only.ts";
import { readSource, type SourceNode } from "../../../src/core/json/source.ts";

function source(text: string): SourceNode {
  const read = readSource(text);
  if (!read.ok) throw new Error(read.fault.message);
  return read.node;
}

const judge = (before: unknown, after: unknown) =>
  judgeNameOnly(source(JSON.stringify(before)), source(JSON.stringify(after)));

const SUBTASK = {
  goal: "Digest alpha.md.",
  context: [{ name: "alpha.md", text: "lenovo serves 1568 tokens." }],
  max_steps: 8,
  acceptance: ["regex:(1568)"],
};
const of = (changes: object) => [{ ...SUBTASK, ...changes }];

describe("judgeNameOnly() is exempt, with the mapping, for", () => {
  test("the same set", () => {
    expect(judge([SUBTASK], [SUBTASK])).toEqual({ exempt: true, mapping: [] });
  });

  test("a renamed page, in the order in which words stand in the set", () => {
    const after = of({ goal: "Digest beta.md.", context: [{ name: "beta.md", text: "node-a serves 1568 tokens." }] });
    expect(judge([SUBTASK], after)).toEqual({
      exempt: true,
      mapping: [
        { old: "alpha.md", new: "beta.md" },
        { old: "lenovo", new: "node-a" },
      ],
    });
  });

  test("two names that change places", () => {
    const text = (first: string, second: string) => of({ context: [{ name: "a.md", text: `${first} and ${second}` }] });
    expect(judge(text("left", "right"), text("right", "left")).exempt).toBe(true);
  });

  test("keys in another order within a subtask", () => {
    expect(judge([{ a: 1, b: 2 }], [{ b: 2, a: 1 }]).exempt).toBe(true);
  });
});

describe("judgeNameOnly() is not exempt, and says where, for", () => {
  test.each([
    { what: "an object", after: SUBTASK, path: "" },
    { what: "a subtask more", after: [SUBTASK, SUBTASK], path: "" },
    { what: "a key more", after: of({ thinking: "on" }), path: "/0/thinking" },
    { what: "a number that differs", after: of({ max_steps: 9 }), path: "/0/max_steps" },
    { what: "a check more", after: of({ acceptance: ["regex:(1568)", "nonempty:s"] }), path: "/0/acceptance" },
    { what: "a document more", after: of({ context: [...SUBTASK.context, ...SUBTASK.context] }), path: "/0/context" },
    {
      what: "a key of a document",
      after: of({ context: [{ ...SUBTASK.context[0], more: 1 }] }),
      path: "/0/context/0/more",
    },
    { what: "a goal without a renamed document", after: of({ goal: "Digest beta.md." }), path: "/0/goal" },
    {
      what: "a figure",
      after: of({ context: [{ name: "alpha.md", text: "lenovo serves 1569 tokens." }] }),
      path: "/0/context/0/text",
    },
    {
      what: "a figure for a word",
      after: of({ context: [{ name: "alpha.md", text: "17 serves 1568 tokens." }] }),
      path: "/0/context/0/text",
    },
    {
      what: "another gap",
      after: of({ context: [{ name: "alpha.md", text: "lenovo serves 1568 tokens!" }] }),
      path: "/0/context/0/text",
    },
    {
      what: "a word more",
      after: of({ context: [{ name: "alpha.md", text: "lenovo serves 1568 tokens. So" }] }),
      path: "/0/context/0/text",
    },
    {
      what: "two words that become one",
      after: of({ context: [{ name: "alpha.md", text: "serves serves 1568 tokens." }] }),
      path: "/0/context/0/text",
    },
    {
      what: "a text that is none",
      after: of({ context: [{ name: "alpha.md", text: null }] }),
      path: "/0/context/0/text",
    },
  ])("$what", ({ after, path }) => {
    expect(judge([SUBTASK], after)).toMatchObject({ exempt: false, path });
  });

  test("a word that is renamed in one place only", () => {
    const text = (last: string) => of({ context: [{ name: "a.md", text: `lenovo and ${last}` }] });
    expect(judge(text("lenovo"), text("node-a"))).toMatchObject({ exempt: false });
  });

  test("a number that is spelled in another way, and keys of a schema in another order", () => {
    expect(judgeNameOnly(source('[{"n":1.0}]'), source('[{"n":1}]'))).toMatchObject({ exempt: false, path: "/0/n" });
    expect(judge([{ s: { a: 1, b: 2 } }], [{ s: { b: 2, a: 1 } }])).toMatchObject({ exempt: false, path: "/0/s" });
  });
});

describe("piecesOf()", () => {
  test.each([
    { text: "see src/a.ts.", words: ["see", "src/a.ts"] },
    { text: "a--- b", words: ["a", "b"] },
    { text: "-a _b 1.5, 2", words: ["a", "_b", "1.5", "2"] },
    { text: "é", words: [] },
  ])("of $text", ({ text, words }) => {
    expect(piecesOf(text).flatMap((piece) => (piece.isWord ? [piece.text] : []))).toEqual([...words]);
  });

  test("together are the text, words and gaps in turn", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab1_./- é,\n") }), (text) => {
        const pieces = piecesOf(text);
        expect(pieces.map((piece) => piece.text).join("")).toBe(text);
        expect(pieces.some((piece, at) => at > 0 && piece.isWord === pieces[at - 1]?.isWord)).toBe(false);
        expect(pieces.some((piece) => piece.text === "")).toBe(false);
      }),
    );
  });
});
