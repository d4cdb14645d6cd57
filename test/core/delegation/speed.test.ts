import { describe, expect, test } from "bun:test";
import { speedTerm, undoEscapes } from "../../../src/core/delegation/speed.ts";

describe("speedTerm()", () => {
  test.each([
    { line: "contains:faster than before", term: "faster" },
    { line: "contains:within (90 s)", term: "90 s" },
    { line: "contains:90µs", term: "90µs" },
    { line: "contains:3.5 ms", term: "3.5 ms" },
    { line: "regex:@field=wall_ms:[0-9]+", term: "wall_ms" }, // the field name is scanned too
    { line: "regex:@answer:tok\\/s", term: "tok/s" },
    { line: "regex:90[\\/]s|tok[/]s", term: "tok/s" },
    { line: "regex:90\\x20s", term: "90 s" },
    { line: "regex:\\b90\\b\\s?ms", term: "90 ms" },
    { line: "diff_touches:src/latency", term: "latency" },
    { line: "fast", term: null }, // no colon, no check
    { line: "regex:90", term: null },
    { line: "regex:fast_path|FastPath|timeout_sec", term: null },
    { line: "contains:90\\ss", term: null }, // escapes are undone in patterns only
    { line: "contains:v1.90s", term: null },
    { line: "contains:second finding", term: null },
    { line: "regex:9[01] s", term: null },
  ])("of $line is $term", ({ line, term }) => {
    expect(speedTerm(line)).toBe(term);
  });
});

describe("undoEscapes()", () => {
  test.each([
    { pattern: "a\\tb\\nc\\vd", text: "a b c d" },
    { pattern: "\\Aa\\b\\B\\z", text: "a" },
    { pattern: "\\Qa+b\\E+", text: "a+b+" },
    { pattern: "\\Qa+b", text: "a+b" },
    { pattern: "a\\E", text: "a" },
    { pattern: "\\x41\\x{1F600}\\101\\0", text: "A😀A\0" },
    { pattern: "\\.\\/\\-\\ ", text: "./- " },
    { pattern: "\\d\\w\\pL\\8", text: "\\d\\w\\pL\\8" },
    { pattern: "[/][ ][\\/][\\x2f][]]", text: "/ //]" },
    { pattern: "[ab][^a][\\d][\\s]", text: "[ab][^a][\\d][ ]" },
    { pattern: "a +?b \\s*c", text: "a b  c" },
    { pattern: "(?i)(a|b)+", text: "(?i)(a|b)+" },
    { pattern: "a\\", text: "a\\" },
    { pattern: "[", text: "[" },
    { pattern: "", text: "" },
  ])("of $pattern", ({ pattern, text }) => {
    expect(undoEscapes(pattern)).toBe(text);
  });
});
