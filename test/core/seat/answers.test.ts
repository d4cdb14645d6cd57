import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { degenerateRun } from "../../../src/core/seat/degenerate.ts";
import { splitThinking, withoutFence } from "../../../src/core/seat/final-text.ts";
import { findLoop, trimmedLoop } from "../../../src/core/seat/repetition.ts";

describe("splitThinking()", () => {
  test.each([
    { text: "plain", answer: "plain", hasReasoning: false },
    { text: "<think>hm</think>\n\nyes", answer: "yes", hasReasoning: true },
    { text: "\n<think>hm</think>", answer: "", hasReasoning: true },
    { text: "<think>cut while thin", answer: "", hasReasoning: true },
    { text: "opened by the template</think>yes", answer: "yes", hasReasoning: true },
    // Not at the beginning: the answer speaks of it.
    { text: "write <think>x</think> around it", answer: "write <think>x</think> around it", hasReasoning: false },
  ])("$text", ({ text, answer, hasReasoning }) => {
    expect(splitThinking(text)).toEqual({ answer, hasReasoning });
  });
});

describe("withoutFence()", () => {
  test.each([
    ['```json\n{"a":1}\n```', '{"a":1}'],
    ["```\nx\n```\n", "x"],
    [" x ", "x"],
    ["a ```b``` c", "a ```b``` c"],
    ["```", "```"],
    ["``````", "``````"],
  ])("%j is %j", (text, inside) => {
    expect(withoutFence(text)).toBe(inside);
  });
});

describe("findLoop()", () => {
  test("needs four copies", () => {
    expect(findLoop("a\nb\nb\nb", false)).toBeNull();
    expect(findLoop("a\nb\nb\nb\nb", false)).toEqual({ kept: "a\nb", trimmed: 3 });
  });

  test("takes the smallest period, and passes over blanks, case and white space", () => {
    const text = "Intro\n\n- One  thing\n\n- two\n- one thing\n- Two\n\n - one thing\n- two\n- ONE thing\n- two\n";
    expect(findLoop(text, false)).toEqual({ kept: "Intro\n\n- One  thing\n\n- two", trimmed: 3 });
  });

  test("looks at the end of the text only", () => {
    expect(findLoop("b\nb\nb\nb\nb\nthe end", false)).toBeNull();
  });

  test("passes over a last line that was cut, where the text was", () => {
    const text = "x\nsame line\nsame line\nsame line\nsame line\nsame li";
    expect(findLoop(text, false)).toBeNull();
    expect(findLoop(text, true)).toEqual({ kept: "x\nsame line", trimmed: 3 });
  });

  test("keeps the first copy of a loop that is longer than what is examined", () => {
    const found = findLoop(`head\n${"a\nb\n".repeat(5000)}`, false);
    expect(found).toEqual({ kept: "head\na\nb", trimmed: 4999 });
    expect(found === null ? "" : trimmedLoop(found)).toBe("head\na\nb\n[repetition trimmed x4999]");
  });

  test("knows a loop of words in the line that was cut", () => {
    const text = `The fruits are:\n- a list ${"of the fruit ".repeat(16)}of th`;
    expect(findLoop(text, false)).toBeNull();
    expect(findLoop(text, true)).toEqual({ kept: "The fruits are:\n- a list of the fruit", trimmed: 15 });
    expect(findLoop(`- a list ${"of the fruit ".repeat(15)}of th`, true)).toBeNull();
  });

  test("knows blocks of up to 32 lines", () => {
    const block = (lines: number) => Array.from({ length: lines }, (_, index) => `line ${index}`).join("\n");
    expect(findLoop(Array(4).fill(block(32)).join("\n"), false)).toEqual({ kept: block(32), trimmed: 3 });
    expect(findLoop(Array(4).fill(block(33)).join("\n"), false)).toBeNull();
  });

  test("what it keeps is a beginning of the text that does not loop any more, for any lines", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 60 }), (lines) => {
        const text = lines.join("\n");
        const found = findLoop(text, false);
        if (found === null) return;
        expect(text.startsWith(found.kept)).toBe(true);
        expect(found.trimmed).toBeGreaterThanOrEqual(3);
      }),
    );
  });
});

describe("degenerateRun()", () => {
  test.each([
    ["200 of one byte", `The answer is ${"word ".repeat(200)}${"!".repeat(200)}`, true],
    ["199 of one byte in a long text", `The answer is ${"word ".repeat(200)}${"!".repeat(199)}`, false],
    ["20 of one byte, more than half", `ab ${"!".repeat(20)}`, true],
    ["20 of one byte, half", `${"ab".repeat(10)}${"!".repeat(20)}`, false],
    ["19 of one byte and nothing else", "!".repeat(19), false],
    ["white space", `a${" ".repeat(500)}b`, false],
    ["nothing", "", false],
    // Two bytes of one character are not one byte.
    ["a character of two bytes", "é".repeat(300), false],
  ])("%s", (_, text, isBroken) => {
    expect(degenerateRun(text) !== null).toBe(isBroken);
  });

  test("names the byte", () => {
    expect(degenerateRun("!".repeat(40))).toBe("one byte (0x21) stands 40 times in a row");
  });
});
