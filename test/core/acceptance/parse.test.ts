import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { renderCheck } from "../../../src/core/acceptance/check.ts";
import { type CheckError, parseCheck } from "../../../src/core/acceptance/parse.ts";
import { anyLine, goodLine } from "./lines.ts";

function checkOf(line: string) {
  const parsed = parseCheck(line);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const { line: written, ...check } = parsed.check;
  expect(written).toBe(line);
  if (check.verb !== "regex") return check;
  const { pattern, ...rest } = check;
  expect(pattern.source).toBe(rest.arg);
  return rest;
}

function errorOf(line: string): CheckError {
  const parsed = parseCheck(line);
  if (parsed.ok) throw new Error(`"${line}" parses`);
  return parsed.error;
}

describe("parseCheck() takes", () => {
  test.each([
    { line: "contains: x", check: { verb: "contains", authority: "none", arg: " x" } },
    { line: "contains:a:b|c\nd", check: { verb: "contains", authority: "none", arg: "a:b|c\nd" } },
    { line: "contains:@answer:x", check: { verb: "contains", authority: "answer", arg: "x" } },
    { line: "contains:@answer: ", check: { verb: "contains", authority: "answer", arg: " " } },
    { line: "contains:@grounded:x", check: { verb: "contains", authority: "grounded", arg: "x" } },
    { line: "contains:@field=a.b|c:x:y", check: { verb: "contains", authority: "field", field: "a.b|c", arg: "x:y" } },
    { line: "contains:@answer:@grounded:x", check: { verb: "contains", authority: "answer", arg: "@grounded:x" } },
    { line: "not_contains:@answer:x", check: { verb: "not_contains", authority: "answer", arg: "x" } },
    { line: "not_contains:@field=a:x", check: { verb: "not_contains", authority: "field", field: "a", arg: "x" } },
    { line: "regex:^a:b$", check: { verb: "regex", authority: "none", arg: "^a:b$" } },
    { line: "regex:@field=a:[0-9]", check: { verb: "regex", authority: "field", field: "a", arg: "[0-9]" } },
    { line: "regex:@grounded:x*", check: { verb: "regex", authority: "grounded", arg: "x*" } },
    { line: "regex:[@]answer:", check: { verb: "regex", authority: "none", arg: "[@]answer:" } },
    { line: "min_items:a:b|@c:3", check: { verb: "min_items", field: "a:b|@c", n: 3 } },
    { line: "min_items:f:+2", check: { verb: "min_items", field: "f", n: 2 } },
    { line: "min_items:f:007", check: { verb: "min_items", field: "f", n: 7 } },
    { line: "min_items:f:9223372036854775807", check: { verb: "min_items", field: "f", n: 2 ** 63 } },
    { line: "nonempty:a", check: { verb: "nonempty", fields: ["a"] } },
    { line: "nonempty:a|A| a", check: { verb: "nonempty", fields: ["a", "A", " a"] } },
    { line: "nonempty:@answer:x|y", check: { verb: "nonempty", fields: ["@answer:x", "y"] } },
    { line: "diff_touches:a\\b:c", check: { verb: "diff_touches", arg: "a/b:c" } },
    { line: "diff_max_files:0", check: { verb: "diff_max_files", n: 0 } },
    { line: "diff_max_files:-0", check: { verb: "diff_max_files", n: 0 } },
    { line: "diff_max_files:+8", check: { verb: "diff_max_files", n: 8 } },
  ])("$line", ({ line, check }) => {
    expect(checkOf(line)).toEqual(check as ReturnType<typeof checkOf>);
  });

  test.each(["@field", "@fieldx", "@fieldname:x", "@answer", "@Answer:x", "@ground:x", " @answer:x", "x@answer:y"])(
    "%j as a plain literal",
    (literal) => {
      for (const verb of ["contains", "not_contains", "regex"]) {
        expect(checkOf(`${verb}:${literal}`)).toMatchObject({ authority: "none", arg: literal });
      }
    },
  );
});

describe("parseCheck() refuses", () => {
  const verbs = ["contains, not_contains, regex, min_items, nonempty, diff_touches, diff_max_files"];

  test.each<{ line: string; code: CheckError["code"]; says: readonly string[] }>([
    { line: "", code: "no_verb", says: ["<verb>:<argument>", ...verbs] },
    { line: "looks correct", code: "no_verb", says: ["<verb>:<argument>", ...verbs] },
    { line: "contains", code: "no_verb", says: ["<verb>:<argument>"] },
    { line: "shouts:loudly", code: "unknown_verb", says: ['"shouts"', ...verbs] },
    { line: "min_item:f:1", code: "unknown_verb", says: ['"min_item"', "did you mean min_items?"] },
    { line: " contains:x", code: "unknown_verb", says: ['" contains"', "did you mean contains?"] },
    { line: "contains :x", code: "unknown_verb", says: ['"contains "'] },
    { line: "Contains:x", code: "unknown_verb", says: ["did you mean contains?"] },
    { line: "contains:", code: "empty_argument", says: ["always pass"] },
    { line: "regex:", code: "empty_argument", says: ["always pass"] },
    { line: "not_contains:", code: "empty_argument", says: ["never pass"] },
    { line: "diff_touches:", code: "empty_argument", says: ["every write would pass"] },
    { line: "regex:(", code: "bad_pattern", says: ["missing closing )"] },
    { line: "regex:(?=x)", code: "bad_pattern", says: ["invalid or unsupported Perl syntax", "RE2", "no lookaround"] },
    { line: "regex:(?<!x)", code: "bad_pattern", says: ["RE2", "no lookaround"] },
    { line: "regex:(x)\\1", code: "bad_pattern", says: ["RE2", "no backreferences"] },
    { line: "regex:@answer:[", code: "bad_pattern", says: ["missing closing ]"] },
    { line: "regex:\\p{Emoji}", code: "bad_pattern", says: ["\\p{Emoji}"] },
    { line: "min_items:findings", code: "min_items_shape", says: ["min_items:<field>:<n>"] },
    { line: "min_items:", code: "min_items_shape", says: ["min_items:<field>:<n>"] },
    { line: "min_items::3", code: "field_required", says: ["field name"] },
    { line: "nonempty:", code: "field_required", says: ["field name"] },
    { line: "min_items:f:x", code: "not_an_integer", says: ['"x"'] },
    { line: "min_items:f:", code: "not_an_integer", says: ['""'] },
    { line: "min_items:f:٣", code: "not_an_integer", says: ["٣"] },
    { line: "min_items:f:9223372036854775808", code: "not_an_integer", says: ["9223372036854775808"] },
    { line: "min_items:f:-9223372036854775809", code: "not_an_integer", says: ["64 bits"] },
    { line: "diff_max_files:1.0", code: "not_an_integer", says: ['"1.0"'] },
    { line: "diff_max_files:1\n", code: "not_an_integer", says: ['"1\\n"'] },
    { line: "min_items:f:0", code: "minimum_below_one", says: ["never fail"] },
    { line: "min_items:f:-9223372036854775808", code: "minimum_below_one", says: ["never fail"] },
    { line: "diff_max_files:-1", code: "negative_count", says: ["negative"] },
    { line: "nonempty:a||b", code: "empty_alternative", says: ["empty name between pipes"] },
    { line: "nonempty:|a", code: "empty_alternative", says: ["empty name"] },
    { line: "nonempty:a|", code: "empty_alternative", says: ["empty name"] },
    { line: "nonempty:a|b|a", code: "repeated_alternative", says: ['"a" twice'] },
    { line: "contains:@field=summary", code: "qualifier_field_colon", says: ["colon"] },
    { line: "contains:@field=", code: "qualifier_field_colon", says: ["colon"] },
    { line: "contains:@field=:x", code: "qualifier_field_name", says: ["field name", "@field="] },
    { line: "contains:@field=:", code: "qualifier_field_name", says: ["field name"] },
    { line: "contains:@answer:", code: "qualifier_empty_tail", says: ["nothing to look for"] },
    { line: "not_contains:@answer:", code: "qualifier_empty_tail", says: ["nothing to look for"] },
    { line: "regex:@grounded:", code: "qualifier_empty_tail", says: ["nothing to look for"] },
    { line: "regex:@field=a:", code: "qualifier_empty_tail", says: ["nothing to look for"] },
    { line: "contains:@field:x", code: "qualifier_field_spelling", says: ["@field=<name>:"] },
    { line: "regex:@field:(", code: "qualifier_field_spelling", says: ["@field=<name>:"] },
    { line: "not_contains:@grounded:x", code: "qualifier_grounded_absence", says: ["@answer:", "@field="] },
    { line: "not_contains:@grounded:", code: "qualifier_grounded_absence", says: ["cannot corroborate"] },
  ])("$line", ({ line, code, says }) => {
    const error = errorOf(line);
    expect(error.code).toBe(code);
    expect(error.message).toStartWith(`"${line.replace("\n", "\\n")}" `);
    expect(error.message).not.toEndWith(".");
    for (const words of says) expect(error.message).toContain(words);
  });

  test("a long check in a message of one bounded line", () => {
    const { message } = errorOf(`min_items:f:${"9\n".repeat(100_000)}`);
    expect(message).toStartWith('"min_items:f:9\\n9');
    expect(message).not.toContain("\n");
    expect(message.length).toBeLessThan(1000);
  });
});

test("parseCheck() returns on any line, and its message begins with the check", () => {
  fc.assert(
    fc.property(anyLine, (line) => {
      const parsed = parseCheck(line);
      if (!parsed.ok) expect(parsed.error.message).toStartWith('"');
    }),
  );
});

test("a rendered check parses to the same check, and renders to the same line", () => {
  fc.assert(
    fc.property(fc.oneof(goodLine, anyLine), (line) => {
      const parsed = parseCheck(line);
      if (!parsed.ok) return;
      const rendered = renderCheck(parsed.check);
      expect(parseCheck(rendered)).toEqual({ ok: true, check: { ...parsed.check, line: rendered } });
    }),
    { numRuns: 1000 },
  );
});

test.each([
  { line: "min_items:f:+007", rendered: "min_items:f:7" },
  { line: "diff_touches:a\\b", rendered: "diff_touches:a/b" },
  { line: "min_items:f:9223372036854775807", rendered: "min_items:f:9223372036854775807" },
  { line: "contains:@field=a:@answer:x", rendered: "contains:@field=a:@answer:x" },
])("renderCheck() of $line is $rendered", ({ line, rendered }) => {
  const parsed = parseCheck(line);
  expect(parsed.ok && renderCheck(parsed.check)).toBe(rendered);
});
