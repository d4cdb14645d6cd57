import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { closedAt } from "../../../src/core/acceptance/authority.ts";
import { type Answer, evaluateCheck, evaluateChecks, type Outcome } from "../../../src/core/acceptance/evaluate.ts";
import { parseCheck } from "../../../src/core/acceptance/parse.ts";
import { anyAnswer, anyLine, goodLine } from "./lines.ts";

type Given = Partial<Omit<Answer, "documents">> & { readonly documents?: readonly string[] };

function answerOf({ documents = [], ...given }: Given): Answer {
  const texts = documents.map((text, index) => ({ name: `d${index}.md`, text }));
  return { output: "", structured: null, diff_files: [], ...given, documents: texts };
}

function judge(line: string, given: Given): Outcome {
  const [outcome] = evaluateChecks([line], answerOf(given));
  if (outcome === undefined) throw new Error("no outcome");
  return outcome;
}

const outcomeOf = (line: string, given: Given) => judge(line, given).outcome;

function reasonOf(line: string, given: Given): string {
  const outcome = judge(line, given);
  return outcome.outcome === "pass" ? "" : outcome.reason;
}

describe("unqualified text checks", () => {
  test("read the structured text only where the output is exactly empty", () => {
    const structured = '{"key":"v"}';
    expect(outcomeOf("contains:key", { structured })).toBe("pass");
    expect(outcomeOf("contains:key", { output: " ", structured })).toBe("fail");
    expect(outcomeOf("contains:{", { output: "x", structured })).toBe("fail");
  });

  test("read that text as it arrived", () => {
    const structured = '{ "n" : 0.50, "10":1, "e":"caf\\u00e9" }';
    expect(outcomeOf('contains:"n" : 0.50, "10"', { structured })).toBe("pass");
    expect(outcomeOf("contains:caf\\u00e9", { structured })).toBe("pass");
    expect(outcomeOf("contains:café", { structured })).toBe("fail");
  });

  test("are never unknown: over nothing an absence passes, anything else fails", () => {
    expect(outcomeOf("not_contains:x", {})).toBe("pass");
    expect(outcomeOf("not_contains:x", { structured: "" })).toBe("pass");
    expect(outcomeOf("contains:x", {})).toBe("fail");
    expect(outcomeOf("regex:x", {})).toBe("fail");
    expect(outcomeOf("regex:^$", {})).toBe("pass");
  });
});

describe("field checks", () => {
  test.each([
    { value: undefined, nonempty: "fail", min: "fail" },
    { value: "null", nonempty: "fail", min: "fail" },
    { value: '""', nonempty: "fail", min: "fail" },
    { value: '"  "', nonempty: "pass", min: "fail" },
    { value: '"x"', nonempty: "pass", min: "fail" },
    { value: "0", nonempty: "pass", min: "fail" },
    { value: "false", nonempty: "pass", min: "fail" },
    { value: "[]", nonempty: "fail", min: "fail" },
    { value: "[null]", nonempty: "pass", min: "pass" },
    { value: '[""]', nonempty: "pass", min: "pass" },
    { value: "{}", nonempty: "fail", min: "fail" },
    { value: '{"a":null}', nonempty: "pass", min: "fail" },
  ] as const)("on $value: nonempty is a $nonempty, min_items a $min", ({ value, nonempty, min }) => {
    const structured = value === undefined ? "{}" : `{"f":${value}}`;
    expect(outcomeOf("nonempty:f", { structured })).toBe(nonempty);
    expect(outcomeOf("min_items:f:1", { structured })).toBe(min);
  });

  test.each([null, "", "{bad", "[]", '"f"', "1", "null", '{"f":[1],"f":[2]}'])("fail closed on %j", (structured) => {
    expect(outcomeOf("nonempty:f", { output: "f", structured })).toBe("fail");
    expect(outcomeOf("min_items:f:1", { output: "f", structured })).toBe("fail");
  });

  test("names are whole members, matched exactly", () => {
    const structured = '{"a|b":1,"a.b":1,"a":{"c":1},"__proto__":[1]}';
    expect(outcomeOf("nonempty:a|b", { structured: '{"a|b":1}' })).toBe("fail");
    expect(outcomeOf("nonempty:a.b", { structured })).toBe("pass");
    expect(outcomeOf("nonempty:a.c", { structured })).toBe("fail");
    expect(outcomeOf("nonempty:A", { structured })).toBe("fail");
    expect(outcomeOf("min_items:__proto__:1", { structured })).toBe("pass");
    expect(outcomeOf("nonempty:__proto__", { structured: "{}" })).toBe("fail");
    expect(outcomeOf("nonempty:constructor", { structured: "{}" })).toBe("fail");
  });

  test("one value of several is enough", () => {
    expect(outcomeOf("nonempty:a|b|c", { structured: '{"a":"","b":0}' })).toBe("pass");
    expect(outcomeOf("nonempty:a|b", { structured: '{"a":"","b":[]}' })).toBe("fail");
  });
});

describe("diff checks", () => {
  test.each([
    { line: "diff_touches:internal/pipe", diff_files: ["internal/pipeline/a"], outcome: "pass" },
    { line: "diff_touches:internal\\pipe", diff_files: ["internal/pipeline/a"], outcome: "pass" },
    { line: "diff_touches:./a", diff_files: ["a"], outcome: "fail" },
    { line: "diff_touches:a", diff_files: ["b/a"], outcome: "fail" },
    { line: "diff_max_files:2", diff_files: ["a", "b"], outcome: "pass" },
    { line: "diff_max_files:1", diff_files: ["a", "b"], outcome: "fail" },
    { line: "diff_max_files:0", diff_files: ["a"], outcome: "fail" },
    { line: "diff_max_files:0", diff_files: [], outcome: "fail" },
    { line: "diff_max_files:8", diff_files: [], outcome: "fail" },
    { line: "diff_touches:a", diff_files: [], outcome: "fail" },
  ])("$line on $diff_files is a $outcome, whatever is said", ({ line, diff_files, outcome }) => {
    expect<string>(outcomeOf(line, { output: "I changed a and b", diff_files })).toBe(outcome);
  });
});

describe("the authorities", () => {
  const structured = JSON.stringify({ summary: "walrus", nest: { key: ["clam", 7, null, " "] } });

  test("@answer reads the output alone", () => {
    expect(outcomeOf("contains:@answer:clam", { output: "clam", structured })).toBe("pass");
    expect(outcomeOf("contains:@answer:clam", { output: "x", structured })).toBe("fail");
    expect(outcomeOf("contains:@answer:clam", { structured, documents: ["clam"] })).toBe("unknown");
  });

  test("@field reads the values of one top-level member", () => {
    expect(outcomeOf("contains:@field=nest:clam", { structured })).toBe("pass");
    expect(outcomeOf("contains:@field=nest:key", { structured })).toBe("fail");
    expect(outcomeOf("contains:@field=nest:null", { structured })).toBe("fail");
    expect(outcomeOf("contains:@field=nest.key:clam", { structured })).toBe("unknown");
    expect(outcomeOf("contains:@field=summary:clam", { output: "clam", structured })).toBe("fail");
  });

  test("numbers are compared as spelled", () => {
    const spelled = '{"ratio":0.50,"big":9007199254740993,"e":1E+2,"z":-0}';
    expect(outcomeOf("contains:@field=ratio:0.50", { structured: spelled })).toBe("pass");
    expect(outcomeOf("contains:@field=ratio:0.5", { structured: spelled })).toBe("pass");
    expect(outcomeOf("contains:@field=ratio:0.500", { structured: spelled })).toBe("fail");
    expect(outcomeOf("regex:@field=big:^9007199254740993$", { structured: spelled })).toBe("pass");
    expect(outcomeOf("regex:@field=e:^1E\\+2$", { structured: spelled })).toBe("pass");
    expect(outcomeOf("regex:@field=z:^-0$", { structured: spelled })).toBe("pass");
    expect(outcomeOf("contains:@field=h:1e400", { structured: '{"h":1e400}' })).toBe("pass");
  });

  test("half a surrogate pair reads as U+FFFD in values and stays in the text", () => {
    const half = '{"a":"x\\ud800y"}';
    expect(outcomeOf("contains:@field=a:x\ufffdy", { structured: half })).toBe("pass");
    expect(outcomeOf("contains:x\\ud800y", { structured: half })).toBe("pass");
  });

  test("each value stands alone", () => {
    const list = '{"l":["ab","cd"]}';
    expect(outcomeOf("contains:@field=l:abcd", { structured: list })).toBe("fail");
    expect(outcomeOf("regex:@field=l:b\\s*c", { structured: list })).toBe("fail");
    expect(outcomeOf("regex:@field=l:^cd$", { structured: list })).toBe("pass");
  });

  test("@grounded needs the text in the answer and in one document", () => {
    const documents = ["half one", " half two", " "];
    expect(outcomeOf("contains:@grounded:half one", { output: "half one", documents })).toBe("pass");
    expect(outcomeOf("contains:@grounded:half one", { structured: '["half one"]', documents })).toBe("pass");
    expect(outcomeOf("contains:@grounded:half one", { output: "half", documents })).toBe("fail");
    expect(outcomeOf("contains:@grounded:zebra", { output: "zebra", documents })).toBe("fail");
    expect(outcomeOf("contains:@grounded:half one half", { output: "half one half two", documents })).toBe("fail");
    expect(outcomeOf("contains:@grounded:half", { output: "half", documents: [" "] })).toBe("unknown");
    expect(outcomeOf("contains:@grounded:half", { output: " ", structured: "{bad", documents })).toBe("unknown");
  });

  test("a grounded pattern needs one match that is not empty and stands in a document as it was matched", () => {
    const documents = ["the walrus, 1568 kg"];
    expect(outcomeOf("regex:@grounded:(?i)walrus", { output: "WALRUS", documents })).toBe("fail");
    expect(outcomeOf("regex:@grounded:(?i)walrus", { output: "WALRUS walrus", documents })).toBe("pass");
    expect(outcomeOf("regex:@grounded:x*", { output: "aaa", documents })).toBe("fail");
    expect(outcomeOf("regex:@grounded:[0-9]{4}", { output: "9999 1568", documents })).toBe("pass");
    // Leftmost first: the first alternative is what was matched.
    expect(outcomeOf("regex:@grounded:walrus, 9|walrus", { output: "walrus, 9", documents })).toBe("fail");
    const zebras = Array.from({ length: 50 }, (_, index) => `zebra${index}`);
    expect(outcomeOf("regex:@grounded:\\w+", { output: zebras.join(" "), documents })).toBe("fail");
    expect(outcomeOf("regex:@grounded:\\w+", { output: [...zebras, "walrus"].join(" "), documents })).toBe("pass");
  });

  test("blank is no evidence, by the white space of Unicode", () => {
    for (const output of ["", " \n", "\u0085", "\u3000"]) {
      expect(outcomeOf("not_contains:@answer:x", { output })).toBe("unknown");
    }
    expect(outcomeOf("not_contains:@answer:x", { output: "\ufeff" })).toBe("pass");
  });

  test.each(["null", '""', "[]", "{}", '"  "', '["  ",""]', '{"k":""}', "[null]"])(
    "@field=f on %s is unknown",
    (value) => {
      const given = { output: "x", structured: `{"f":${value}}` };
      expect(outcomeOf("contains:@field=f:x", given)).toBe("unknown");
      expect(outcomeOf("not_contains:@field=f:x", given)).toBe("unknown");
      expect(outcomeOf("regex:@field=f:.*", given)).toBe("unknown");
    },
  );
});

describe("a reason", () => {
  const documents = ["the walrus"];

  test.each<{ line: string; given: Given; reason: string }>([
    { line: "contains:x", given: { output: "a" }, reason: '"x" is not in the output' },
    { line: "contains:x", given: { structured: "{}" }, reason: '"x" is not in the structured text' },
    { line: "contains:x", given: {}, reason: '"x" is not in the output, which is empty' },
    { line: "not_contains:x", given: { output: "x" }, reason: '"x" is in the output' },
    { line: "regex:x", given: { output: "a" }, reason: "the pattern does not match the output" },
    { line: "regex:@field=f:x", given: { structured: '{"f":1}' }, reason: 'the pattern does not match field "f"' },
    { line: "contains:@answer:x", given: {}, reason: "unknown at answer authority: the output is empty" },
    {
      line: "contains:@field=f:x",
      given: {},
      reason: "unknown at field authority: there is no structured result",
    },
    {
      line: "contains:@field=f:x",
      given: { structured: "{bad" },
      reason:
        'unknown at field authority: the structured result is not JSON (expected a key in double quotes, found "bad")',
    },
    {
      line: "contains:@field=f:x",
      given: { structured: "[]" },
      reason: "unknown at field authority: the structured result is a list, not an object",
    },
    {
      line: "contains:@field=f:x",
      given: { structured: "null" },
      reason: 'unknown at field authority: field "f" is absent',
    },
    {
      line: "contains:@field=f:x",
      given: { structured: '{"f":[]}' },
      reason: 'unknown at field authority: field "f" is an empty list',
    },
    {
      line: "contains:@field=f:x",
      given: { structured: '{"f":[null]}' },
      reason: 'unknown at field authority: field "f" holds no text, number or boolean',
    },
    {
      line: "contains:@grounded:x",
      given: {},
      reason: "unknown at grounded authority: the contract has no document with text",
    },
    {
      line: "contains:@grounded:x",
      given: { documents },
      reason: "unknown at grounded authority: neither the output nor the structured result says anything",
    },
    {
      line: "contains:@grounded:x",
      given: { output: "a", documents },
      reason: '"x" is neither in the output nor in a structured value',
    },
    {
      line: "contains:@grounded:x",
      given: { output: "x", documents },
      reason: '"x" is in the answer but in no document',
    },
    {
      line: "regex:@grounded:x+",
      given: { output: "a", documents },
      reason: "the pattern matches nothing in the output and the structured values",
    },
    {
      line: "regex:@grounded:x.",
      given: { output: "x1 x2", documents },
      reason: '"x1" is in the answer but in no document, and nor is another match',
    },
    { line: "min_items:f:2", given: {}, reason: "there is no structured result" },
    { line: "min_items:f:2", given: { structured: "{}" }, reason: 'field "f" is absent' },
    { line: "min_items:f:2", given: { structured: '{"f":"x"}' }, reason: 'field "f" is a string, not a list' },
    { line: "min_items:f:2", given: { structured: '{"f":null}' }, reason: 'field "f" is null, not a list' },
    { line: "min_items:f:2", given: { structured: '{"f":[1]}' }, reason: 'field "f" has 1 item, wanted at least 2' },
    { line: "nonempty:a", given: { structured: '{"a":{}}' }, reason: "a is an empty object" },
    { line: "nonempty:a|b", given: { structured: '{"b":[]}' }, reason: "a is absent; b is an empty list" },
    { line: "nonempty:a", given: { structured: "7" }, reason: "the structured result is a number, not an object" },
    {
      line: "diff_touches:a",
      given: {},
      reason: "nothing was written, or the contract opened no door to write",
    },
    {
      line: "diff_touches:a",
      given: { diff_files: ["b", "c"] },
      reason: 'no changed path begins with "a"; changed: b, c',
    },
    {
      line: "diff_max_files:1",
      given: { diff_files: ["b", "c"] },
      reason: "2 paths changed, wanted at most 1; changed: b, c",
    },
    {
      line: "diff_max_files:1",
      given: { diff_files: [..."abcdefghij"] },
      reason: "10 paths changed, wanted at most 1; changed: a, b, c, d, e, f, g, h and 2 more",
    },
    {
      line: "min_items:f:0",
      given: {},
      reason: 'does not parse: "min_items:f:0" could never fail: the least number of items is 1',
    },
  ])("of $line: $reason", ({ line, given, reason }) => {
    expect(reasonOf(line, given)).toBe(`${line}: ${reason}`);
  });

  test("is one line, and long quotations are cut", () => {
    const reason = reasonOf(`contains:a\n${"z".repeat(1000)}`, { output: "b" });
    expect(reason).not.toContain("\n");
    expect(reason).toEndWith(`: "a\\n${"z".repeat(118)}…" is not in the output`);
  });

  test("is there exactly when the outcome is no pass", () => {
    expect(judge("contains:@answer:x", { output: "x" })).toEqual({
      check: "contains:@answer:x",
      verb: "contains",
      authority: "answer",
      outcome: "pass",
    });
  });

  test("of a line that does not parse comes with a fail, and without a verb", () => {
    expect(judge("shouts:x", { output: "x" })).toMatchObject({
      check: "shouts:x",
      verb: null,
      authority: "none",
      outcome: "fail",
    });
  });
});

describe("laws", () => {
  test("the judge returns one outcome for each line, whatever the texts", () => {
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 6 }), anyAnswer, (lines, answer) => {
        const outcomes = evaluateChecks(lines, answer);
        expect(outcomes.map(({ check }) => check)).toEqual(lines);
        for (const outcome of outcomes) {
          if (outcome.outcome === "pass") expect(outcome).not.toHaveProperty("reason");
          else expect(outcome.reason).not.toMatch(/[\n\r]/);
          if (outcome.outcome === "unknown") expect(outcome.authority).not.toBe("none");
        }
      }),
      { numRuns: 500 },
    );
  });

  test("one check alone is judged as among others", () => {
    fc.assert(
      fc.property(goodLine, goodLine, anyAnswer, (first, second, answer) => {
        const parsed = parseCheck(second);
        fc.pre(parsed.ok);
        if (parsed.ok) expect(evaluateChecks([first, second], answer)[1]).toEqual(evaluateCheck(parsed.check, answer));
      }),
    );
  });

  test("another check never turns a no into a yes", () => {
    const isMet = (outcomes: readonly Outcome[]) =>
      outcomes.length > 0 && outcomes.every(({ outcome }) => outcome === "pass");
    fc.assert(
      fc.property(
        fc.array(goodLine, { minLength: 1, maxLength: 4 }),
        goodLine,
        fc.nat(),
        anyAnswer,
        (lines, line, at, answer) => {
          const before = evaluateChecks(lines, answer);
          const after = evaluateChecks(lines.toSpliced(at % (lines.length + 1), 0, line), answer);
          if (!isMet(before)) expect(isMet(after)).toBe(false);
          if (closedAt(before) === "none") expect(closedAt(after)).toBe("none");
        },
      ),
      { numRuns: 500 },
    );
  });

  test("absent evidence passes no qualified check", () => {
    fc.assert(
      fc.property(goodLine, (line) => {
        const outcome = judge(line, {});
        if (outcome.authority !== "none") expect(outcome.outcome).toBe("unknown");
      }),
    );
  });
});

describe("over 256 KiB", () => {
  const WINDOW = 256 * 1024;

  test.each(["(a+)+$", "(x+x+)+y", "(a|aa)+$", "(?:x*y|x)z", "x*y|x"])("%p is judged at every authority", (source) => {
    for (const character of ["a", "x"]) {
      const text = `${character.repeat(WINDOW)}!`;
      const lines = ["", "@answer:", "@field=f:", "@grounded:"].map((qualifier) => `regex:${qualifier}${source}`);
      const outcomes = evaluateChecks(
        lines,
        answerOf({ output: text, structured: JSON.stringify({ f: [text] }), documents: ["!".repeat(WINDOW)] }),
      );
      expect(outcomes).toHaveLength(4);
    }
  });

  test("as many different matches as fit are looked for in documents as large", () => {
    const output = Array.from({ length: 30_000 }, (_, index) => `w${index}`).join(" ");
    const documents = ["q".repeat(WINDOW / 2), `${"w1x ".repeat(WINDOW / 8)}`];
    expect(outcomeOf("regex:@grounded:\\w+", { output, documents })).toBe("pass");
    expect(outcomeOf("regex:@grounded:w[0-9]{2,}", { output, documents })).toBe("fail");
  });
});
