import { expect, test } from "bun:test";
import { alternativesOf } from "../../../src/core/delegation/alternatives.ts";
import { compilePattern } from "../../../src/core/pattern/re2.ts";

test.each([
  { source: "(a|b|c d)", parts: ["a", "b", "c d"] },
  { source: "(?:a|b)", parts: ["a", "b"] },
  { source: "(?P<n>a|b)", parts: ["a", "b"] },
  { source: "(?<n>a|b)", parts: ["a", "b"] },
  { source: "(?i)(a|b)", parts: ["(?i)a", "(?i)b"] },
  { source: "(?i-s)(?:a|b)", parts: ["(?i-s)a", "(?i-s)b"] },
  { source: "(a[|]b|c)", parts: ["a[|]b", "c"] },
  { source: "(a[]|]b|c)", parts: ["a[]|]b", "c"] },
  { source: "(a[[:alpha:]|]|c)", parts: ["a[[:alpha:]|]", "c"] },
  { source: "(a\\|b|c)", parts: ["a\\|b", "c"] },
  { source: "(\\Qa|b\\E|c)", parts: ["\\Qa|b\\E", "c"] },
  { source: "(a\\(|b)", parts: ["a\\(", "b"] }, // an escaped parenthesis is a character
  { source: "(1568)", parts: ["1568"] },
  { source: "a|b", parts: ["a|b"] },
  { source: "(a|b)c", parts: ["(a|b)c"] },
  { source: "(a)|(b)", parts: ["(a)|(b)"] },
  { source: "(a|(b))", parts: ["(a|(b))"] },
  { source: "(?i:a|b)", parts: ["(?i:a|b)"] },
  { source: "(a|b\\)", parts: ["(a|b\\)"] },
])("alternativesOf() of $source", ({ source, parts }) => {
  expect(alternativesOf(source)).toEqual(parts);
});

test("alternativesOf() gives patterns that compile", () => {
  for (const source of ["(a[]|]b|c)", "(?i)(?:a\\|b|\\Q|\\E)", "(a||b)"]) {
    expect(alternativesOf(source).every((part) => compilePattern(part).ok)).toBe(true);
  }
});
