import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isVerdict, readsPass, verdictTokens } from "../../../src/core/record/verdict.ts";

describe("verdictTokens()", () => {
  test.each([
    {
      rule: "drops variation selectors and zero-width characters",
      text: "✔\ufe0f pa\u200bss\u2060ed",
      tokens: ["pass", "passed"],
    },
    { rule: "drops soft hyphens and byte order marks", text: "\ufeffpas\u00adsed", tokens: ["passed"] },
    { rule: "reads every pass mark", text: "✓✔✅☑🗸√", tokens: Array(6).fill("pass") },
    { rule: "reads every fail mark", text: "✗✘❌❎✕✖☒×", tokens: Array(8).fill("fail") },
    { rule: "folds compatibility forms", text: "ＰＡＳＳ", tokens: ["pass"] },
    { rule: "composes a combining mark", text: "passe\u0301", tokens: ["pass\u00e9"] },
    { rule: "folds case", text: "PaSs", tokens: ["pass"] },
    { rule: "keeps the text of a link", text: "[PASS](/ci/run) now", tokens: ["pass", "now"] },
    { rule: "keeps the text of an image", text: "![passed](badge.svg)", tokens: ["passed"] },
    { rule: "keeps the text of an image in a link", text: "[![passed](badge.svg)](https://ci)", tokens: ["passed"] },
    { rule: "leaves parentheses that are no target", text: "[pass] (ci)", tokens: ["pass", "ci"] },
    { rule: "leaves a target that is not closed", text: "[pass](ci", tokens: ["pass", "ci"] },
    { rule: "leaves a bracket that was not opened", text: "pass](ci)", tokens: ["pass", "ci"] },
    { rule: "puts a blank for a tag", text: "<p class='x'>a</p>b<br/>c", tokens: ["a", "b", "c"] },
    { rule: "leaves what is no tag", text: "1 < 2 > 0", tokens: ["1", "2", "0"] },
    {
      rule: "splits at all that is neither letter nor digit",
      text: "**12,880** passed_0/failed!",
      tokens: ["12", "880", "passed", "0", "failed"],
    },
    { rule: "may find nothing", text: " -- ", tokens: [] },
  ])("$rule", ({ text, tokens }) => {
    expect(verdictTokens(text)).toEqual(tokens);
  });

  test.each(["[", "<a", "[a](", "]", "![", "a\u0301\u0323", "\u0301\uff9e", "[a](b", "<", "\u200b"])(
    "returns on 64 KiB and more of %j",
    (piece) => {
      expect(Array.isArray(verdictTokens(piece.repeat(100_000)))).toBe(true);
    },
  );
});

describe("isVerdict()", () => {
  test.each([
    "PASS",
    "PASS.",
    "pass/ok",
    "**PASS** ✅",
    "<b>pass</b>",
    "12880 passed, 0 failed",
    "all tests pass",
    "[PASS](/ci)",
    "✓",
    "12 passed in 3.21s",
    "no errors",
    "LGTM",
    "✗ 3 tests",
    "1st step ok",
    "4x green",
  ])("%j states an outcome", (text) => {
    expect(isVerdict(text)).toBe(true);
  });

  test.each(["42", "100%", "3.21s", "12ms 4k"])("%j is made of numbers alone", (text) => {
    expect(isVerdict(text)).toBe(true);
  });

  test.each(["", "***", "---", "./"])("%j holds no word at all", (text) => {
    expect(isVerdict(text)).toBe(true);
  });

  test.each([
    "npm test",
    "exit 0",
    "n/a",
    "test -f a",
    "true",
    "make check",
    "check",
    "test",
    "12 tests",
    "passwd",
    "12 monkeys",
    "pass show x",
    "РASS",
    "3min",
    "٣ ٤",
  ])("%j is no verdict", (text) => {
    expect(isVerdict(text)).toBe(false);
  });

  test("knows each word of its three lists", () => {
    const verdicts =
      "pass passed passes passing ok okay success successes successful successfully succeeded succeeds green verified confirmed lgtm fail failed fails failing failure failures error errors errored red broken";
    const neutral =
      "a all and are at checks check count done complete completed every everything for in is it no none of on out result results run runs ran skip skipped skips pending todo xfailed xpassed flaky deselected warning warnings suite suites spec specs step steps test tests time total was were with zero assertion assertions case cases seconds second sec secs minutes minute min mins ms";
    for (const word of verdicts.split(" ")) expect([word, isVerdict(word)]).toEqual([word, true]);
    for (const word of neutral.split(" ")) {
      expect([word, isVerdict(word), isVerdict(`${word} pass`)]).toEqual([word, false, true]);
    }
  });

  test("does not change with case, emphasis or marks around", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("pass", "tests", "12", "npm", "no", "failed")), (words) => {
        const text = words.join(" ");
        expect(isVerdict(`**${text.toUpperCase()}**`)).toBe(isVerdict(text));
        expect(isVerdict(`<b>[${text}](x/y)</b>`)).toBe(isVerdict(text));
      }),
    );
  });

  test("returns on any text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof isVerdict(text) === "boolean"));
  });
});

describe("readsPass()", () => {
  test.each(["pass", " PASS ", "**pass**", '"pass"', "✅", "PASS ✅", "ｐａｓｓ"])("%j reads as pass", (result) => {
    expect(readsPass(result)).toBe(true);
  });

  test.each(
    ["passed", "ok", "pass with warnings", "pass/fail", "not pass", "❌", "", "  ", "1", true, 1, null, ["pass"]].map(
      (result) => ({ result }),
    ),
  )("$result does not", ({ result }) => {
    expect(readsPass(result)).toBe(false);
  });

  test("an absent result does not, nor does an object", () => {
    expect([readsPass(undefined), readsPass({ pass: true })]).toEqual([false, false]);
  });
});
