import { expect, test } from "bun:test";
import { plainLook } from "../../../src/cli/page.ts";
import { CALLS, render } from "../../../src/cli/topic/envelope.ts";
import { FIELD_PATHS, STATES, TYPED_FIELDS, WRITABLE_KEYS } from "../../../src/core/contract/envelope.ts";
import { meaningOf } from "../../../src/core/contract/meanings.ts";
import { COMPANIONS } from "../../../src/core/contract/validate.ts";
import { documentOf, livingWorld, runWrit } from "../../support/writ.ts";

const page = render(plainLook(80));

test("the page of the envelope fits two screens of 24 lines and 80 columns", () => {
  const lines = page.split("\n");
  expect(lines.length).toBeLessThan(48);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
});

test("the page tells of each field with its type, of each state, and of each type of verification", () => {
  for (const path of FIELD_PATHS) expect(page).toMatch(new RegExp(`\\b${path.split(".").at(-1)}\\b`));
  for (const [level, fields] of Object.entries(TYPED_FIELDS)) {
    for (const [key, type] of fields) {
      const text = `${type === "array" ? "list" : type}; ${meaningOf(level as keyof typeof TYPED_FIELDS, key)}`;
      expect(page).toMatch(new RegExp(`^ +${key} +${RegExp.escape(text)}$`, "m"));
    }
  }
  for (const state of STATES) expect(page).toContain(state);
  for (const [type, companion] of COMPANIONS) {
    expect(page).toContain(type);
    expect(page).toContain(companion);
  }
});

test("every field that an agent may write has a meaning", () => {
  for (const level of ["", "agent_status", "evidence_report"] as const) {
    for (const key of WRITABLE_KEYS[level]) expect(meaningOf(level, key)).not.toBe("");
  }
});

test.each([20, 40, 60])(
  "the page keeps to %d columns but for what is copied, which stays whole, and single words",
  (width) => {
    const lines = render(plainLook(width)).split("\n");
    const quote = lines.filter((line) => line.includes('{"command":"bun test","excerpt":"4 pass ... 0 fail"}'));
    expect(quote).toHaveLength(1);
    const wide = lines.filter(
      (line) => line.length > width && line.trim().includes(" ") && !/^ +\d+ /.test(line) && !quote.includes(line),
    );
    expect(wide).toEqual([]);
    for (const call of CALLS) expect(lines.some((line) => line.includes(call))).toBe(true);
  },
);

test("writ help envelope prints the page, also as a document", async () => {
  expect(await runWrit(["help", "envelope"])).toEqual({ exit: 0, stdout: `${page}\n`, stderr: "" });
  expect(documentOf(await runWrit(["help", "envelope", "--json"]))).toEqual({ ok: true, help: page });
});

test("the twelve calls close a turn when they are typed", async () => {
  using world = livingWorld();
  expect(CALLS).toHaveLength(12);
  const id = await world.born();
  const filled = (call: string) =>
    call
      .replace("export WRIT_CONTRACT_ID=ID", `export WRIT_CONTRACT_ID=${id}`)
      .replace("--agent NAME --goal TEXT", "--agent tester --goal see")
      .replace("CMD", "echo 4 pass")
      .replace('"verification":{...}', '"verification":{"type":"command","command":"echo 4 pass","result":"pass"}')
      .replace('{"command":...}', '{"command":"echo 4 pass","excerpt":"4 ... pass"}')
      .replace("TEXT", "seen");
  const ran = await world.shell(`set -e\n${CALLS.map(filled).join("\n")}`);
  expect({ exit: ran.exit, last: ran.stdout.trimEnd().split("\n").at(-1) }).toEqual({
    exit: 0,
    last: `OK: draft ${id} finalized (handoff_id=1).`,
  });
  expect(ran.stderr).toBe("");
});
