import { describe, expect, test } from "bun:test";
import { nearest, nearestBySegments } from "../../src/core/near-miss.ts";

const NAMES = ["contract", "completions", "version", "--json", "--draft-id", "set", "show"];

describe("nearest()", () => {
  test.each([
    { word: "--jsn", expected: "--json", rule: "one character missing" },
    { word: "contarct", expected: "contract", rule: "two neighbours swapped" },
    { word: "CONTRACT", expected: "contract", rule: "case does not count" },
    { word: "versoins", expected: "version", rule: "two edits in eight characters" },
    { word: "--draft", expected: "--draft-id", rule: "the beginning of a name" },
    { word: "sett", expected: "set", rule: "one edit in a short word" },
    { word: "st", expected: "set", rule: "one edit in two characters" },
    { word: "xyz", expected: null, rule: "three edits are too many for three characters" },
    { word: "s", expected: null, rule: "one character is the beginning of too much" },
    { word: "", expected: null, rule: "an empty word" },
    { word: "contract".repeat(9), expected: null, rule: "a word too long to compare" },
  ])("of $word is $expected: $rule", ({ word, expected }) => {
    expect(nearest(word, NAMES)).toBe(expected);
  });

  test("of several equally near is the first", () => {
    expect(nearest("sot", ["set", "sit"])).toBe("set");
  });

  test("where there is none is null", () => {
    expect(nearest("set", [])).toBeNull();
  });
});

describe("nearestBySegments()", () => {
  const FLAGS = ["--json", "--json-file", "--agent", "--agent-id", "--draft-id"];
  test.each([
    { word: "--file", expected: "--json-file", rule: "all of its words are in the name" },
    { word: "--agent-name", expected: "--agent", rule: "all of the name's words are in it" },
    { word: "--id", expected: "--agent-id", rule: "the first of equals" },
    { word: "--FILE_JSON", expected: "--json-file", rule: "neither case, order nor the dash counts" },
    { word: "--name", expected: null, rule: "no word in common" },
    { word: "--draft-name", expected: null, rule: "only some words in common" },
    { word: "--x", expected: null, rule: "a letter is no word" },
    { word: "--", expected: null, rule: "no word" },
    { word: `--file${"-x".repeat(40)}`, expected: null, rule: "a name too long to compare" },
  ])("of $word is $expected: $rule", ({ word, expected }) => {
    expect(nearestBySegments(word, FLAGS)).toBe(expected);
  });
});
