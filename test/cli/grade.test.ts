import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

const CONTRACT = {
  goal: "how many pallets?",
  context: [{ name: "d.md", text: "412 pallets at 0.50" }],
  output_schema: { properties: { count: { type: "string" } } },
  acceptance: ["contains:@grounded:412", "contains:@field=count:0.50"],
};
const GOOD = '{"output":"412","structured":{"count":"0.50"}}';
const FILES: Record<string, string> = {
  "one.json": JSON.stringify(CONTRACT),
  "two.json": JSON.stringify([CONTRACT, { ...CONTRACT, acceptance: ["contains:nothing"] }]),
  "unmeasured.json": JSON.stringify({ goal: "g" }),
  "paths.json": JSON.stringify({ ...CONTRACT, context: [], context_paths: ["d.md"] }),
  "broken.json": '{"goal":""}',
  "d.md": "412 at 0.50",
  "good.json": GOOD,
  "bad.json": '{"output":"many"}',
  "document.json": `{"summary":{},"results":[{"index":1,"output":"nothing"},{"index":0,"status":"succeeded","output":"412","structured":{"count":"0.50"}}]}`,
  "half.json": '{"results":[{"index":0,"output":"412","structured":{"count":"0.50"}}]}',
  "other.json": '{"results":[{"index":7,"output":"412"}]}',
  "none.json": '{"results":[]}',
  "prose.json": "It is 412.",
  "goal.json": '{"goal":"x"}',
  "large.json": `{"output":"${"x".repeat(4 * 1024 * 1024)}"}`,
};

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(world.folder, name), text);
});
afterAll(() => world[Symbol.dispose]());

const grade = (file: string, result: string, ...args: string[]) =>
  world.writ(["grade", file, "--result", result, ...args]);

describe("writ grade", () => {
  test("passes a good answer", async () => {
    expect(shown(await grade("one.json", "good.json"))).toBe(`one.json[0]  pass  closed at field authority
  pass contains:@grounded:412
  pass contains:@field=count:0.50
--- exit 0
`);
  });

  test("says why an answer does not pass", async () => {
    expect(shown(await grade("one.json", "bad.json"))).toBe(`one.json[0]  fail
  fail contains:@grounded:412: "412" is neither in the output nor in a structured value
  unknown contains:@field=count:0.50: unknown at field authority: there is no structured result
--- exit 1
`);
  });

  test("gives a program one document", async () => {
    const ran = await grade("one.json", "good.json", "--json");
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toBe(
      '{"ok":true,"status":"ok","subtasks":[{"index":0,"verdict":"pass","outcomes":[' +
        '{"check":"contains:@grounded:412","verb":"contains","authority":"grounded","outcome":"pass"},' +
        '{"check":"contains:@field=count:0.50","verb":"contains","authority":"field","outcome":"pass"}' +
        '],"closed_at":"field","acceptance_lint":[],"notes":[]}]}\n',
    );
    const bad = documentOf(await grade("one.json", "bad.json", "--json"));
    expect(bad).toMatchObject({ ok: false, status: "no", subtasks: [{ verdict: "fail", closed_at: "none" }] });
  });

  test("pairs subtasks and results by their index", async () => {
    const { subtasks } = documentOf(await grade("two.json", "document.json", "--json"));
    expect(subtasks).toMatchObject([
      { index: 0, verdict: "pass" },
      { index: 1, verdict: "pass" },
    ]);
    expect((await grade("two.json", "half.json")).exit).toBe(1);
    expect((await grade("two.json", "half.json", "--index", "0")).exit).toBe(0);
    expect((await grade("two.json", "good.json", "--index", "0")).exit).toBe(0);
    expect((await grade("two.json", "good.json", "--index", "1")).exit).toBe(1);
  });

  test("ends in 1 for a contract without any check", async () => {
    const ran = await grade("unmeasured.json", "good.json");
    expect(ran.exit).toBe(1);
    expect(ran.stdout).toContain("nothing was measured");
  });

  test("leaves grounded checks unknown without a read root, and says why", async () => {
    const unread = await grade("paths.json", "good.json");
    expect(unread.exit).toBe(1);
    expect(unread.stdout).toContain("unknown at grounded authority: the files of context_paths were not read");
    expect((await grade("paths.json", "good.json", "--read-root", ".")).exit).toBe(0);
  });

  test("reads the answer or the contract from standard input, not both", async () => {
    expect((await world.writ(["grade", "one.json", "--result", "-"], { stdin: GOOD })).exit).toBe(0);
    expect((await world.writ(["grade", "-", "--result", "good.json"], { stdin: JSON.stringify(CONTRACT) })).exit).toBe(
      0,
    );
    expect((await grade("-", "-")).exit).toBe(2);
  });

  test.each([
    { file: "nowhere.json", result: "good.json", args: [], code: "bad_contract" },
    { file: "broken.json", result: "good.json", args: [], code: "bad_contract" },
    { file: "one.json", result: "nowhere.json", args: [], code: "file_unreadable" },
    { file: "one.json", result: "prose.json", args: [], code: "bad_result" },
    { file: "one.json", result: "goal.json", args: [], code: "bad_result" },
    { file: "one.json", result: "large.json", args: [], code: "body_too_large" },
    { file: "one.json", result: "other.json", args: [], code: "no_pair" },
    { file: "one.json", result: "none.json", args: [], code: "no_pair" },
    { file: "one.json", result: "good.json", args: ["--index", "1"], code: "no_pair" },
    { file: "two.json", result: "good.json", args: [], code: "no_pair" },
    { file: "two.json", result: "half.json", args: ["--index", "1"], code: "no_pair" },
    { file: "one.json", result: "good.json", args: ["--index", "x"], code: "usage" },
  ])("ends in 2 with $code for $file, $result and $args", async ({ file, result, args, code }) => {
    const ran = await grade(file, result, "--json", ...args);
    expect(ran.exit).toBe(2);
    expect(documentOf(ran)).toMatchObject({ ok: false, status: "error", code });
  });

  test("lists every issue of a contract that is not valid", async () => {
    const { issues, path } = documentOf(await grade("broken.json", "good.json", "--json"));
    expect({ issues, path }).toMatchObject({ path: null, issues: [{ code: "goal_required", path: "/goal" }] });
    expect((await grade("broken.json", "good.json")).stderr).toContain("goal_required [/goal]: ");
  });
});
