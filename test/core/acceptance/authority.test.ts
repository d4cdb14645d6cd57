import { expect, test } from "bun:test";
import { closedAt, isUnreachable } from "../../../src/core/acceptance/authority.ts";
import type { Authority } from "../../../src/core/acceptance/check.ts";
import type { Outcome } from "../../../src/core/acceptance/evaluate.ts";
import { parseCheck } from "../../../src/core/acceptance/parse.ts";
import type { JsonObject } from "../../../src/core/json/value.ts";

const pass = (authority: Authority): Outcome => ({ check: "c", verb: "contains", authority, outcome: "pass" });
const miss = (outcome: "fail" | "unknown"): Outcome => ({ ...pass("answer"), outcome, reason: "r" });

test.each<{ name: string; outcomes: readonly Outcome[]; level: Authority }>([
  { name: "no check", outcomes: [], level: "none" },
  { name: "an unqualified one", outcomes: [pass("grounded"), pass("none")], level: "none" },
  { name: "a fail", outcomes: [pass("grounded"), miss("fail")], level: "none" },
  { name: "an unknown", outcomes: [pass("grounded"), miss("unknown")], level: "none" },
  { name: "the weakest of three", outcomes: [pass("grounded"), pass("answer"), pass("field")], level: "answer" },
  { name: "field and grounded", outcomes: [pass("grounded"), pass("field")], level: "field" },
  { name: "grounded alone", outcomes: [pass("grounded"), pass("grounded")], level: "grounded" },
])("closedAt() with $name is $level", ({ outcomes, level }) => {
  expect(closedAt(outcomes)).toBe(level);
});

const schema: JsonObject = { properties: { summary: { type: "string" } } };
const documents = ["text"];

test.each<{ line: string; texts: readonly string[]; output_schema: JsonObject | null; unreachable: boolean }>([
  { line: "contains:@grounded:x", texts: [], output_schema: schema, unreachable: true },
  { line: "contains:@grounded:x", texts: [" ", "\u0085"], output_schema: schema, unreachable: true },
  { line: "regex:@grounded:x", texts: [" ", "a"], output_schema: schema, unreachable: false },
  { line: "contains:@field=summary:x", texts: [], output_schema: schema, unreachable: false },
  { line: "contains:@field=Summary:x", texts: documents, output_schema: schema, unreachable: true },
  { line: "not_contains:@field=other:x", texts: documents, output_schema: schema, unreachable: true },
  { line: "contains:@field=constructor:x", texts: documents, output_schema: schema, unreachable: true },
  { line: "contains:@field=summary:x", texts: documents, output_schema: null, unreachable: true },
  { line: "contains:@field=summary:x", texts: documents, output_schema: {}, unreachable: true },
  { line: "contains:@answer:x", texts: [], output_schema: null, unreachable: false },
  { line: "contains:x", texts: [], output_schema: null, unreachable: false },
  { line: "nonempty:other", texts: [], output_schema: null, unreachable: false },
  { line: "diff_touches:x", texts: [], output_schema: null, unreachable: false },
])(
  "isUnreachable() of $line with $texts and $output_schema is $unreachable",
  ({ line, texts, output_schema, unreachable }) => {
    const parsed = parseCheck(line);
    const context = texts.map((text, index) => ({ name: `d${index}`, text }));
    expect(parsed.ok && isUnreachable(parsed.check, { context, output_schema })).toBe(unreachable);
  },
);
