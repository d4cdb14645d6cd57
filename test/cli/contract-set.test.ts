import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "../../src/core/json/value.ts";
import { documentOf, type LivingWorld, livingWorld, shown, type Turn } from "../support/writ.ts";

let world: LivingWorld;
let turn: Turn;
beforeAll(async () => {
  world = livingWorld();
  turn = await world.turn();
});
afterAll(() => world[Symbol.dispose]());

async function field(path: string): Promise<JsonValue> {
  return JSON.parse((await turn.writ(["contract", "view", "--field", path])).stdout) as JsonValue;
}

/** All that a write could have changed. */
async function everything(): Promise<string> {
  const drafts = join(world.data, "contract_drafts");
  const files = readdirSync(drafts).map((name) => `${name}: ${readFileSync(join(drafts, name), "utf8")}`);
  return `${files.join("\n")}${(await turn.writ(["contract", "log", "--limit", "1000", "--json"])).stdout}`;
}

describe("writ contract set", () => {
  test("replaces a field, in plain words and as a document", async () => {
    expect(shown(await turn.writ(["contract", "set", "conclusion", "first"]))).toBe(
      `OK: draft ${turn.id} updated and validated.\n--- exit 0\n`,
    );
    expect(await field("conclusion")).toBe("first");
    const ran = await turn.writ(["contract", "set", "conclusion", "second", "--json"]);
    const { change_id, ...answer } = documentOf(ran);
    expect(change_id).toBeGreaterThan(0);
    expect(answer).toEqual({ ok: true, status: "ok", draft_id: turn.id, mirrored: true });
    expect(ran.stderr).toBe("");
  });

  // What is open below a closed level takes any value.
  test.each([
    { typed: "done", value: "done" },
    { typed: '"done"', value: "done" },
    { typed: "true", value: true },
    { typed: "null", value: null },
    { typed: "42", value: 42 },
    { typed: "-5", value: -5 },
    { typed: "-.5", value: "-.5" },
    { typed: "1e3", value: 1000 },
    { typed: '"42"', value: "42" },
    { typed: '"-"', value: "-" },
    { typed: "007", value: "007" },
    { typed: "NaN", value: "NaN" },
    { typed: "a7f3", value: "a7f3" },
    { typed: "", value: "" },
    { typed: " 7 ", value: 7 },
    { typed: '["a"]', value: ["a"] },
    { typed: "[a]", value: "[a]" },
    { typed: '{"__proto__":{"x":1}}', value: JSON.parse('{"__proto__":{"x":1}}') as JsonValue },
    { typed: "9007199254740991", value: 9007199254740991 },
    { typed: "9007199254740993", value: "9007199254740993" },
    { typed: "-9223372036854775808", value: "-9223372036854775808" },
    { typed: "a\nb\té🗸", value: "a\nb\té🗸" },
  ])("reads VALUE as JSON when it parses, else as text (%#)", async ({ typed, value }) => {
    const { status } = documentOf(await turn.writ(["contract", "set", "memory_delta.value", typed, "--json"]));
    expect(status).toBe("ok");
    expect(JSON.stringify(await field("memory_delta.value"))).toBe(JSON.stringify(value));
  });

  test("takes a value that starts with a dash behind --, and as an option's own value", async () => {
    await turn.writ(["contract", "set", "--", "memory_delta.value", "--json"]);
    expect(await field("memory_delta.value")).toBe("--json");
    const ran = await turn.writ(["contract", "set", "memory_delta.value", "-x", "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({
      exit: 2,
      code: "usage",
      message: 'Unknown option "-x"',
      hint: expect.stringContaining('stands behind "--"'),
    });
  });

  test.each([
    { stdin: "long\ntext\n\n", value: "long\ntext\n" },
    { stdin: "no newline", value: "no newline" },
    { stdin: "crlf\r\n", value: "crlf" },
    { stdin: "[1, 2]\n", value: [1, 2] },
    { stdin: "", value: "" },
    { stdin: "-\n", value: "-" },
  ])("reads VALUE from standard input for - (%#)", async ({ stdin, value }) => {
    expect((await turn.writ(["contract", "set", "memory_delta.value", "-"], { stdin })).exit).toBe(0);
    expect(await field("memory_delta.value")).toEqual(value);
  });

  test.each([
    { how: "a file", args: ["--json-file", "value.json"] },
    { how: "standard input", args: ["--json-file", "-"] },
    { how: "a pipe of the shell", args: ["--json-file", "/dev/stdin"] },
  ])("reads strict JSON from $how", async ({ args }) => {
    const body = '\n{"a": ["é", 9007199254740991]}\n';
    writeFileSync(join(world.folder, "value.json"), body);
    expect((await turn.writ(["contract", "set", "memory_delta.value", ...args], { stdin: body })).exit).toBe(0);
    expect(await field("memory_delta.value")).toEqual(JSON.parse(body) as JsonValue);
  });

  test.each([
    { args: ["memory_delta.value"], code: "usage" },
    { args: ["memory_delta.value", "a", "b"], code: "usage" },
    { args: ["memory_delta.value", "a", "--json-file", "f"], code: "usage" },
    { args: ["...", "x"], code: "empty_path" },
    { args: ["memory_delta.value", '{"a":1,"a":2}'], code: "bad_json" },
    { args: ["memory_delta.value", '"\\ud800"'], code: "bad_json" },
    { args: ["memory_delta.value", "[9007199254740993]"], code: "inexact_number" },
    { args: ["memory_delta.value", `${"[".repeat(101)}${"]".repeat(101)}`], code: "too_deep" },
    { args: ["memory_delta.value", "--json-file", "gone"], code: "file_unreadable" },
    { args: ["memory_delta.value", "--json-file", "."], code: "file_unreadable" },
    { args: ["memory_delta.value", "--json-file", "-"], stdin: "no JSON", code: "bad_json" },
    { args: ["memory_delta.value", "--json-file", "-"], stdin: "", code: "bad_json" },
    { args: ["memory_delta.value", "--json-file", "-"], stdin: Uint8Array.of(0x22, 0xff, 0x22), code: "bad_json" },
    {
      args: ["memory_delta.value", "-"],
      stdin: new Uint8Array(8 * 1024 * 1024 + 1).fill(0x78),
      code: "body_too_large",
    },
  ])("refuses $args with $code in 2, and writes nothing", async ({ args, stdin, code }) => {
    const before = await everything();
    const ran = await turn.writ(["contract", "set", ...args, "--json"], stdin === undefined ? {} : { stdin });
    expect({ exit: ran.exit, stderr: ran.stderr, ...documentOf(ran) }).toMatchObject({
      exit: 2,
      stderr: "",
      ok: false,
      status: "error",
      code,
      message: expect.any(String),
    });
    expect(await everything()).toBe(before);
    const plain = await turn.writ(["contract", "set", ...args], stdin === undefined ? {} : { stdin });
    expect({ exit: plain.exit, stdout: plain.stdout }).toEqual({ exit: 2, stdout: "" });
    expect(plain.stderr).toStartWith("Error: ");
  });

  test("takes a body of exactly 8 MiB", async () => {
    const stdin = new Uint8Array(8 * 1024 * 1024).fill(0x78);
    expect((await turn.writ(["contract", "set", "memory_delta.value", "-"], { stdin })).exit).toBe(0);
    await turn.writ(["contract", "set", "memory_delta.value", "small"]);
  });

  test("rejects in 1 what breaks a rule, with the repair", async () => {
    const before = await everything();
    expect(shown(await turn.writ(["contract", "set", "key_outputs", '["x"]']))).toMatchInlineSnapshot(`
      "--- stderr
      Rejected: write failed validation -- no changes were persisted.
        MISPLACED_KEY [key_outputs]: key_outputs is a declared field at the wrong level
          It belongs at evidence_report.key_outputs. It was not moved.
      --- exit 1
      "
    `);
    const ran = await turn.writ(["contract", "set", "key_outputs", '["x"]', "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({
      exit: 1,
      ok: false,
      status: "rejected",
      code: "validation",
      codes: ["MISPLACED_KEY"],
      errors: [
        { code: "MISPLACED_KEY", path: "key_outputs", hint: expect.stringContaining("evidence_report.key_outputs") },
      ],
      repair_message: expect.any(String),
    });
    expect(await everything()).toBe(before);
  });

  test("refuses in 3 a path through a populated list", async () => {
    await turn.writ(["contract", "add", "evidence_report.key_outputs", "one"]);
    const before = await everything();
    const ran = await turn.writ(["contract", "set", "evidence_report.key_outputs.0", "x", "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({
      exit: 3,
      code: "path_through_list",
      path: "evidence_report.key_outputs",
    });
    expect(await everything()).toBe(before);
  });

  test("says in both modes what it wrote in its own spelling", async () => {
    const { exit, stderr } = await turn.writ(["contract", "set", "agent_status.agent_state", "blocked", "--json"]);
    const again = await turn.writ(["contract", "set", "agent_status.agent_state", "in_progress"]);
    expect([exit, again.exit]).toEqual([0, 0]);
    expect(stderr).toBe('[CANONICALIZED] agent_status.agent_state: "blocked" -> "BLOCKED"\n');
    expect(again.stderr).toBe('[CANONICALIZED] agent_status.agent_state: "in_progress" -> "IN_PROGRESS"\n');
  });

  test("opens the next contract where this one is closed, and says so", async () => {
    const closed = await world.turn();
    const patch = { agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "x" };
    await closed.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
    await closed.writ(["contract", "finalize"]);
    const ran = await closed.writ(["contract", "set", "conclusion", "more", "--json"]);
    const { continuation } = documentOf(ran);
    expect(continuation).toMatchObject({ continues_contract_id: closed.id, created: true });
    const { contract_id } = continuation as { contract_id: string };
    expect(ran.stderr).toBe(
      `[CONTINUATION opened] ${contract_id} continues ${closed.id}\n    export WRIT_CONTRACT_ID=${contract_id}\n`,
    );
    const { count, handoffs } = documentOf(
      await world.writ(["contract", "chain", "--contract-id", closed.id, "--json"]),
    );
    expect({ count, states: (handoffs as { agent_state: string }[]).map((row) => row.agent_state) }).toEqual({
      count: 2,
      states: ["BLOCKED", "DISPATCHED"],
    });
    const plain = await world.writ(["contract", "chain", "--contract-id", closed.id]);
    expect(plain.stdout).toEndWith("2 links.\n");
  });
});

describe("a draft id", () => {
  test.each([
    { id: "../x", why: "starts with a dot" },
    { id: "a/../../x", why: "" },
    { id: "a\\x", why: "" },
    { id: ".hidden", why: "starts with a dot" },
    { id: "", why: "" },
    { id: "x".repeat(300), why: "is longer than 200 bytes" },
    { id: "é".repeat(101), why: "is longer than 200 bytes" },
    { id: "a\nb", why: "" },
    { id: "a\x1b[2J", why: "" },
  ])("that cannot be a file name is refused in 2 (%#)", async ({ id, why }) => {
    for (const args of [
      ["contract", "set", "conclusion", "x", `--draft-id=${id}`, "--json"],
      ["contract", "view", `--contract-id=${id}`, "--json"],
      ["contract", "finalize", `--draft-id=${id}`, "--json"],
      ["contract", "log", `--draft-id=${id}`, "--json"],
      ["contract", "init", `--draft-id=${id}`, "--json"],
    ]) {
      const ran = await world.writ(args);
      expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 2, ok: false, code: "invalid_draft_id" });
      expect(ran.stdout).toContain(why);
    }
    expect(readdirSync(world.folder)).not.toContain("x.json");
  });

  test("that is such a name in WRIT_CONTRACT_ID is refused as well", async () => {
    const ran = await world.writ(["contract", "view", "--json"], { env: { WRIT_CONTRACT_ID: "../../etc/passwd" } });
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 2, code: "invalid_draft_id" });
  });
});
