import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  busySleepMs,
  isTimeForFinal,
  prefillAllowanceMs,
  structuredAllowanceMs,
} from "../../../src/core/seat/allowance.ts";
import {
  calibrate,
  completionBudgets,
  cutMiddle,
  estimateTokens,
  inputBudget,
  observationCap,
} from "../../../src/core/seat/window.ts";

test.each([
  { ctx: 32_768, step: 4096, final: 8192 },
  { ctx: 8_192, step: 2048, final: 4096 },
  { ctx: 2_048, step: 512, final: 1024 },
  { ctx: null, step: 4096, final: 8192 },
])("a window of $ctx gives $step tokens to a step and $final to the end", ({ ctx, step, final }) => {
  const budgets = completionBudgets({ step_tokens: 4096, final_tokens: 8192 }, ctx);
  expect(budgets).toEqual({ step_tokens: step, final_tokens: final });
});

test.each([
  { ctx: 32_768, max_tokens: 4096, tools: 600, budget: 27_560 },
  { ctx: 4_096, max_tokens: 1024, tools: 500, budget: 4096 - 1024 - 256 - 500 },
  { ctx: 1_000, max_tokens: 900, tools: 500, budget: 0 },
  { ctx: null, max_tokens: 4096, tools: 600, budget: null },
])("of a window of $ctx, $budget are for the prompt", ({ ctx, max_tokens, tools, budget }) => {
  expect(inputBudget(ctx, max_tokens, tools)).toBe(budget);
});

test.each([
  { budget: 27_560, ceiling: 0, characters: 41_340 },
  { budget: 300, ceiling: 0, characters: 1024 },
  { budget: null, ceiling: 0, characters: 262_144 },
  { budget: 10_000_000, ceiling: 0, characters: 262_144 },
  // A config narrows and never widens.
  { budget: 27_560, ceiling: 100, characters: 300 },
  { budget: 300, ceiling: 100_000, characters: 1024 },
])("with $budget tokens and a ceiling of $ceiling a result keeps $characters characters", (row) => {
  expect(observationCap(row.budget, row.ceiling)).toBe(row.characters);
});

test("a token is three bytes of UTF-8, rounded up", () => {
  expect(["", "a", "abc", "abcd", "ééé"].map(estimateTokens)).toEqual([0, 1, 1, 2, 2]);
});

test("what a usage says of the estimate is believed between 0.7 and 2.0", () => {
  expect([calibrate(10, 100), calibrate(90, 100), calibrate(900, 100), calibrate(5, 0)]).toEqual([0.7, 0.9, 2, 1]);
});

describe("cutMiddle()", () => {
  test("says how much it cut, and where", () => {
    expect(cutMiddle("abcdefghij", 4)).toBe("ab\n[… 6 characters cut …]\nij");
    expect(cutMiddle("abcd", 4)).toBe("abcd");
  });

  test("never splits a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat(50), (text, characters) => {
        expect(cutMiddle(text, characters).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("allowances", () => {
  test.each([
    { tokens: 100, rate: null, ms: 60_000 },
    { tokens: 4000, rate: null, ms: 330_000 },
    { tokens: 4000, rate: 1000, ms: 60_000 },
  ])("a prompt of $tokens tokens at $rate a second may be silent for $ms ms", ({ tokens, rate, ms }) => {
    expect(prefillAllowanceMs(tokens, rate)).toBe(ms);
  });

  test.each([
    { tokens: 512, rate: 100, ms: 120_000 },
    { tokens: 8192, rate: 50, ms: 275_760 },
  ])("a structured step of $tokens tokens at $rate a second may be silent for $ms ms", ({ tokens, rate, ms }) => {
    expect(Math.round(structuredAllowanceMs(tokens, rate))).toBe(ms);
  });

  test.each([
    { remaining_ms: 18_312, rate: 50, isTime: false },
    { remaining_ms: 18_311, rate: 50, isTime: true },
    { remaining_ms: 1, rate: null, isTime: false },
  ])("with $remaining_ms ms left at $rate a second: time for the end is $isTime", ({ remaining_ms, rate, isTime }) => {
    const run = { remaining_ms, decode_tok_s: rate, final_tokens: 8192, longest_tokens: 100 };
    expect(isTimeForFinal(run)).toBe(isTime);
  });

  test("busy answers are slept on by the ladder, or by what the server says", () => {
    expect([0, 1, 2, 3, 4, 5, 9].map((answers) => busySleepMs(answers, null) / 1000)).toEqual([1, 2, 4, 8, 15, 15, 15]);
    expect([busySleepMs(0, 7), busySleepMs(3, 0)]).toEqual([7000, 8000]);
  });
});
