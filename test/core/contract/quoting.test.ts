import { expect, test } from "bun:test";
import { withQuotingHint } from "../../../src/core/contract/quoting.ts";
import { validationError } from "../../../src/core/contract/rejection.ts";
import { WritError } from "../../../src/core/error.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

const at = (path: string) => ({ code: "FIELD_TYPE", path, message: "m", hint: "h" });

function hinted(field: string, value: JsonValue, typed?: string, path = field): string | null {
  const error = validationError([{ ...at("other"), hint: null }, at(path)]);
  const told = withQuotingHint(error, { field, value, typed });
  if (!(told instanceof WritError)) throw new Error("it is no error any more");
  expect({ ...told, issues: [] }).toEqual({ ...error, issues: [] });
  expect(told.issues[0]).toEqual({ ...at("other"), hint: null });
  return told.issues[1]?.hint ?? null;
}

test.each([
  { typed: "true", value: true, what: ", a boolean", quoted: `'"true"'` },
  { typed: " 42 ", value: 42, what: ", a number", quoted: `'"42"'` },
  { typed: "1e3", value: 1000, what: ", a number", quoted: `'"1e3"'` },
  { typed: "null", value: null, what: "", quoted: `'"null"'` },
  { typed: undefined, value: false, what: ", a boolean", quoted: `'"false"'` },
  { typed: "-", value: 7, what: ", a number", quoted: `'"7"'` },
])("a bare word that was read as JSON is told how it is quoted: $typed", ({ typed, value, what, quoted }) => {
  const word = JSON.parse(quoted.slice(1, -1)) as string;
  expect(hinted("conclusion", value, typed)).toBe(
    `${word} was read as JSON${what}; as a text it is quoted: writ contract set conclusion ${quoted}. h`,
  );
});

test.each([
  "agent_status.next_action",
  "evidence_report.verification.command",
  ".evidence_report..verification.command.",
])("the path may be any that holds a text: %s", (field) => {
  const path = field.split(".").filter(Boolean).join(".");
  expect(hinted(field, true, "true", path)).toContain(`writ contract set ${path} '"true"'`);
});

test.each([
  { why: "the value is a text", field: "conclusion", value: "true", path: "conclusion" },
  { why: "the value is a list", field: "conclusion", value: [1], path: "conclusion" },
  { why: "the field is no text", field: "agent_status.pending_steps", value: 1, path: "agent_status.pending_steps" },
  { why: "something else is wrong", field: "conclusion", value: 1, path: "report_prose" },
])("the hint stays as it is where $why", ({ field, value, path }) => {
  expect(hinted(field, value, String(value), path)).toBe("h");
});

test("any other error comes back as it is", () => {
  for (const error of [new WritError("no_draft", "m"), new Error("x"), "text"]) {
    expect(withQuotingHint(error, { field: "conclusion", value: true, typed: "true" })).toBe(error);
  }
});
