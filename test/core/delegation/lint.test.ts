import { describe, expect, test } from "bun:test";
import { findAnchor } from "../../../src/core/delegation/anchor.ts";
import { type LintedContract, lintContract, lintLine } from "../../../src/core/delegation/lint.ts";

const CONTRACT: LintedContract = {
  goal: "how many pallets does Rotterdam hold?",
  context: [{ name: "d.md", text: "Rotterdam holds 412 pallets in bay QX-9" }],
  acceptance: [],
  output_schema: { properties: { summary: { type: "string" } } },
};
const lint = (acceptance: readonly string[], changes: Partial<LintedContract> = {}) =>
  lintContract({ ...CONTRACT, ...changes, acceptance });

describe("lintContract()", () => {
  test("offers what the documents have and the goal has not", () => {
    expect(lint(["contains:pallets"])).toEqual([
      {
        code: "PARROT-PASSABLE",
        path: "/acceptance",
        message: "an answer that repeats the goal passes every content check, so no second seat is ever asked",
        hint: "Anchor a check on a term or figure that the documents have and the goal has not, for example contains:QX-9",
      },
    ]);
    expect(lint(["contains:zebra"])).toEqual([
      {
        code: "UNGROUNDED",
        path: "/acceptance/0",
        check: "contains:zebra",
        message: "it matches nothing in the documents, so that a right answer may fail it",
        hint: "Anchor on text that the documents carry, for example contains:QX-9",
      },
    ]);
  });

  test("offers nothing where there is nothing to offer", () => {
    const [warning] = lint(["contains:pallets"], { context: [{ name: "d.md", text: "how many pallets" }] });
    expect(warning?.hint).toBe("Anchor a check on a term or figure that the documents have and the goal has not");
    expect(lint(["contains:zebra"], { context: [] })[0]?.hint).toStartWith("Give the contract documents");
  });

  test("says how the documents spell it", () => {
    expect(lint(["contains:@answer:qx-9"])[0]?.hint).toBe('The documents spell it "QX-9"');
  });

  test("says what an unreachable check wants for", () => {
    expect(lint(["contains:@field=missing:412"])[0]?.message).toContain(
      '"missing", and output_schema does not declare it',
    );
    expect(lint(["contains:@field=x:412"], { output_schema: null })[0]?.message).toContain("there is no output_schema");
    expect(lint(["contains:@grounded:412"], { context: [] })[0]?.message).toContain("no document with text");
  });

  test("skips lines that do not parse, and keeps the places of the others", () => {
    expect(lint(["contans:x", "contains:zebra"]).map(({ code, path }) => [code, path])).toEqual([
      ["UNGROUNDED", "/acceptance/1"],
    ]);
    expect(lint(["contans:x"]).map(({ code }) => code)).toEqual(["SHAPE-ONLY"]);
  });

  test.each([
    { line: "contains:zebra", codes: [] },
    { line: "regex:@grounded:zebra", codes: [] },
    { line: "contains:@field=missing:x", codes: ["AUTHORITY-UNREACHABLE"] },
    { line: "contains:pallets", codes: ["PARROT-PASSABLE"] },
    { line: "nonempty:summary", codes: ["SHAPE-ONLY"] },
  ])("of $line, with documents that were not read, says $codes", ({ line, codes }) => {
    const contract = { ...CONTRACT, context: [], acceptance: [line] };
    expect(lintContract(contract, { documents: "some" }).map(({ code }) => code)).toEqual(codes as never);
  });

  test("never throws for a pattern with an empty match in a document that is empty", () => {
    expect(lint(["regex:@grounded:z*"]).map(({ code }) => code)).toEqual(["UNGROUNDED"]);
  });
});

test("lintLine() has the code in capitals and quotes the check", () => {
  const [warning] = lint(["contains:zebra"]);
  if (warning === undefined) throw new Error("no warning");
  expect(lintLine(warning)).toBe(
    'UNGROUNDED: "contains:zebra": it matches nothing in the documents, so that a right answer may fail it. Anchor on text that the documents carry, for example contains:QX-9',
  );
});

describe("findAnchor()", () => {
  test.each([
    { goal: "g", text: "plain words only here", anchor: "plain" }, // a plain word where there is no term
    { goal: "g", text: "word 412 word", anchor: "412" }, // a term before a word
    { goal: "g", text: "412 412 77_a", anchor: "77_a" }, // the rarest
    { goal: "g", text: "412 10,338 agent_model", anchor: "agent_model" }, // the longest
    { goal: "g", text: "b-1x a-1x", anchor: "a-1x" }, // by code unit
    { goal: "about agent_models", text: "agent_model 412", anchor: "412" }, // not what the goal contains
    { goal: "g", text: "sk-abcdefghijklmnopqrstuv 412", anchor: "412" }, // nothing shaped like a secret
    { goal: "g", text: `${"x1".repeat(30)} 412`, anchor: "412" }, // nothing as long as a digest
    { goal: "g", text: "latency tok/s 412", anchor: "412" }, // no speed term
    { goal: "g", text: "a 1 b2", anchor: null },
    { goal: "g", text: "", anchor: null },
  ])("of $text is $anchor", ({ goal, text, anchor }) => {
    expect(findAnchor(goal, [text])).toBe(anchor);
  });
});
