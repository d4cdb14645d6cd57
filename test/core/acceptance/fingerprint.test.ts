import { describe, expect, test } from "bun:test";
import type { Check } from "../../../src/core/acceptance/check.ts";
import { isFingerprint, isHonestAbsence, judgeFingerprint } from "../../../src/core/acceptance/fingerprint.ts";
import { parseCheck } from "../../../src/core/acceptance/parse.ts";

function checkOf(line: string): Check {
  const parsed = parseCheck(line);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.check;
}

test.each([
  { line: "regex:(?P<docanchor>a)", is: true },
  { line: "regex:@answer:x(?<docanchor>a)", is: true },
  { line: "regex:@field=f:(?i)(?P<other>a)(?P<docanchor>b)", is: true },
  { line: "regex:(?P<docanchor2>a)", is: false },
  { line: "regex:(?P<Docanchor>a)", is: false },
  { line: "regex:docanchor", is: false },
  { line: "regex:\\Q(?P<docanchor>a)", is: false },
  { line: "regex:[(]?P<docanchor>a", is: false },
  { line: "contains:(?P<docanchor>a)", is: false },
])("isFingerprint() of $line is $is", ({ line, is }) => {
  expect(isFingerprint(checkOf(line))).toBe(is);
});

describe("isHonestAbsence()", () => {
  test.each([
    '{"l":[],"s":"The page does not mention it"}',
    '{"s":"NOTHING found"}',
    '{"s":"x","t":"none"}',
    '{"s":"not stated","n":5,"o":{"l":[1]}}',
    '{"s":"does not exist"}',
  ])("holds for %s", (structured) => {
    expect(isHonestAbsence(structured)).toBe(true);
  });

  test.each([
    null,
    "",
    "{bad",
    '["nothing"]',
    '"nothing"',
    "null",
    "{}",
    '{"l":[]}',
    '{"l":["x"],"s":"nothing"}',
    '{"s":"nothing","l":["x"]}',
    '{"s":" "}',
    '{"s":"a notebook"}',
    '{"s":"knot, nonexistent, nothingness"}',
    '{"o":{"s":"nothing"}}',
    '{"l":[],"n":0}',
  ])("does not hold for %j", (structured) => {
    expect(isHonestAbsence(structured)).toBe(false);
  });
});

describe("judgeFingerprint()", () => {
  const honest = '{"s":"nothing about it"}';
  const other = '{"s":"zebras"}';
  const open = { context: [{ name: "d", text: "walrus" }], output_schema: null };
  const closed = { context: [], output_schema: null };
  const grounded = checkOf("regex:@grounded:(?P<docanchor>walrus)");

  const neutral = { node: "neutral", retry: false } as const;
  const strike = { node: "strike", listed: true, retry: true, excused: false } as const;

  test("a pass is a pass, whatever the answer says", () => {
    const pass = { node: "pass", listed: false, retry: false, excused: false } as const;
    expect(judgeFingerprint(grounded, "pass", open, honest)).toEqual(pass);
    expect(judgeFingerprint(grounded, "pass", open, null)).toEqual(pass);
  });

  test("only a failed one is excused, by an honest absence", () => {
    expect(judgeFingerprint(grounded, "fail", open, honest)).toEqual({ ...neutral, listed: false, excused: true });
    expect(judgeFingerprint(grounded, "fail", open, other)).toEqual(strike);
    expect(judgeFingerprint(grounded, "unknown", open, honest)).toEqual({ ...neutral, listed: true, excused: false });
  });

  test("what no answer could close is no strike and no retry", () => {
    expect(judgeFingerprint(grounded, "unknown", closed, other)).toEqual({ ...neutral, listed: true, excused: false });
    expect(judgeFingerprint(grounded, "unknown", open, other)).toEqual(strike);
    expect(judgeFingerprint(grounded, "unknown", open, null)).toEqual(strike);
  });
});
