import { expect, test } from "bun:test";
import { type Answer, evaluateChecks } from "../../../src/core/acceptance/evaluate.ts";
import { judgeOutcomes } from "../../../src/core/acceptance/verdict.ts";

const ANCHOR = "regex:@answer:(?P<docanchor>walrus)";
const honest = '{"summary":"Nothing is said about it"}';
const contract = {
  context: [{ name: "walrus.md", text: "the walrus" }],
  output_schema: { properties: { summary: { type: "string" } } },
};

function judge(lines: readonly string[], answer: Partial<Answer>, of: typeof contract | null = contract) {
  const { context, output_schema } = of ?? { context: [], output_schema: null };
  const whole: Answer = { output: "", structured: null, diff_files: [], documents: context, ...answer };
  return judgeOutcomes(evaluateChecks(lines, whole), { context, output_schema }, whole.structured);
}

test("no check is met by anything, and closes nothing", () => {
  expect(judge([], { output: "x" })).toEqual({
    failures: [],
    excused: [],
    authority: "none",
    retry: false,
    node: null,
  });
});

test("checks that all pass close the contract at the weakest of them", () => {
  expect(judge(["contains:@grounded:walrus", ANCHOR], { output: "walrus" })).toEqual({
    failures: [],
    excused: [],
    authority: "answer",
    retry: false,
    node: "pass",
  });
});

test("every unmet check is a failure, in the order of the checks, and another place may be asked", () => {
  const { failures, authority, retry, node } = judge(["contains:a", "contains:x", "contains:@field=summary:b"], {
    output: "x",
  });
  expect(failures.map((reason) => reason.split(": ")[0])).toEqual(["contains:a", "contains:@field=summary:b"]);
  expect({ authority, retry, node }).toEqual({ authority: "none", retry: true, node: null });
});

test("an excused fingerprint is no failure, and closes nothing", () => {
  expect(judge(["contains:@answer:zebra", ANCHOR], { output: "zebra", structured: honest })).toEqual({
    failures: [],
    excused: [ANCHOR],
    authority: "none",
    retry: false,
    node: "neutral",
  });
});

test("beside an excused fingerprint another unmet check is retried", () => {
  const verdict = judge(["contains:x", ANCHOR], { output: "zebra", structured: honest });
  expect(verdict).toMatchObject({ excused: [ANCHOR], retry: true });
  expect(verdict.failures).toHaveLength(1);
});

test("an unknown fingerprint beside an honest absence is listed and not retried", () => {
  expect(judge([ANCHOR, "contains:x"], { structured: honest })).toMatchObject({ retry: false, node: "neutral" });
  expect(judge([ANCHOR], { structured: honest }).failures).toHaveLength(1);
});

test("a check that no answer can close forbids the retry of all", () => {
  expect(judge(["contains:x", "contains:@field=other:x"], { output: "a" }).retry).toBe(false);
  expect(judge(["contains:x", "contains:@grounded:x"], { output: "a" }, null).retry).toBe(false);
  expect(judge(["contains:x"], { output: "a" }).retry).toBe(true);
});

test("one strike outweighs every pass", () => {
  const other = "regex:@answer:(?P<docanchor>zebra)";
  expect(judge([ANCHOR, other], { output: "walrus" })).toMatchObject({ node: "strike", retry: true });
  expect(judge([ANCHOR, other], { output: "walrus zebra" })).toMatchObject({ node: "pass", retry: false });
});

test("a line that does not parse is a failure", () => {
  expect(judge(["shouts:x"], { output: "x" })).toMatchObject({ retry: true, authority: "none" });
});
