import { expect, test } from "bun:test";
import { badConfig } from "../../src/core/config/issue.ts";
import { readConfig } from "../../src/core/config/read.ts";
import { badContract } from "../../src/core/delegation/bad-contract.ts";
import { readContracts } from "../../src/core/delegation/contract.ts";
import { JUDGES } from "../../src/core/delegation/judges.ts";
import { issueLines } from "../../src/core/issue-text.ts";

test("an issue is one line, its hint under it", () => {
  expect(issueLines({ code: "C", path: "/a", message: "no", hint: "first\nsecond" })).toEqual([
    "  C [/a]: no",
    "    first\n    second",
  ]);
  expect(issueLines({ code: "C", path: "", message: "no", hint: null }, "line 3: ")).toEqual(["  C: line 3: no"]);
});

test("no document writes a line of its own into what is said of it", () => {
  const key = "x\n  ok\r\n0 issues\u2028";
  expect(issueLines({ code: "C", path: `/${key}`, message: key, hint: null })).toEqual([
    "  C [/x\\n  ok\\r\\n0 issues\\u2028]: x\\n  ok\\r\\n0 issues\\u2028",
  ]);
  const { issues } = readContracts(
    JSON.stringify({ goal: "g", output_schema: { properties: { [key]: { type: 1 } } } }),
    JUDGES,
  );
  const config = readConfig(JSON.stringify({ [key]: 1 })).issues;
  for (const { lines } of [badContract("f", issues), badConfig("f", config)]) {
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("")).not.toMatch(/[\r\n\u2028]/);
  }
});
