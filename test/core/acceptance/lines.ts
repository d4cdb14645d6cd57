/** Generated acceptance lines and answers for the laws of this room. */
import fc from "fast-check";
import type { Answer } from "../../../src/core/acceptance/evaluate.ts";

const word = fc.constantFrom("walrus", "clam", "1568", "a", "b", "x", "", " ", "true", "é😀", "summary", "findings");
const qualifier = fc.constantFrom("", "", "@answer:", "@grounded:", "@field=summary:", "@field=findings:", "@field=a:");
const pattern = fc.constantFrom(
  "walrus",
  "[0-9]+",
  "x*",
  "(a+)+$",
  "^clam$",
  "(?i)WALRUS",
  "",
  "(",
  "\\bclam\\b",
  ".+",
);
const count = fc.constantFrom("0", "1", "2", "+3", "-1", "007", "x", "9223372036854775807");

/** Lines of which most parse. */
export const goodLine = fc.oneof(
  fc
    .tuple(fc.constantFrom("contains", "not_contains"), qualifier, word)
    .map(([verb, ...rest]) => `${verb}:${rest.join("")}`),
  fc.tuple(qualifier, pattern).map((rest) => `regex:${rest.join("")}`),
  fc.tuple(word, count).map(([field, n]) => `min_items:${field}:${n}`),
  fc.array(word, { minLength: 1, maxLength: 3 }).map((fields) => `nonempty:${fields.join("|")}`),
  word.map((prefix) => `diff_touches:${prefix}`),
  count.map((n) => `diff_max_files:${n}`),
);

/** Any text, and texts made of the pieces of the grammar. */
export const anyLine = fc.oneof(
  goodLine,
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.constantFrom(
        "contains",
        "not_contains",
        "regex",
        "min_items",
        "nonempty",
        "diff_touches",
        "diff_max_files",
        ":",
        "@answer:",
        "@field=",
        "@field:",
        "@grounded:",
        "|",
        "1",
        "-",
        "\\",
        "(",
        "a",
        "\n",
        "\ud800",
      ),
      { maxLength: 8 },
    )
    .map((pieces) => pieces.join("")),
);

const prose = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(word, { maxLength: 6 }).map((words) => words.join(" ")),
);

export const anyAnswer: fc.Arbitrary<Answer> = fc.record({
  output: prose,
  structured: fc.oneof(
    fc.constant(null),
    prose,
    fc.json(),
    fc
      .dictionary(
        fc.constantFrom("summary", "findings", "a", "__proto__"),
        fc.oneof(word, fc.array(word), fc.jsonValue()),
      )
      .map((value) => JSON.stringify(value)),
    fc.constantFrom("null", '{"a":"\\ud800"}', '{"a":1,"a":2}', `${"[".repeat(500)}${"]".repeat(500)}`, '{"a":1e400}'),
  ),
  diff_files: fc.array(word, { maxLength: 3 }),
  documents: fc.array(fc.record({ name: word, text: prose }), { maxLength: 3 }),
});
