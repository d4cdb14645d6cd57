import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { type Answer, type McpClient, startMcp } from "../support/mcp.ts";
import { type LivingWorld, livingWorld, type Ran } from "../support/writ.ts";

let world: LivingWorld;
let mcp: McpClient;
/** The draft of a turn of its own. */
let id: string;
beforeAll(async () => {
  world = livingWorld();
  mcp = await startMcp(world);
});
beforeEach(async () => {
  id = await world.born();
});
afterAll(async () => {
  await mcp.close();
  world[Symbol.dispose]();
});

/** What a command printed, as the tool is to answer it. */
function asAnswer({ exit, stdout }: Ran): Omit<Answer, "talk"> {
  const document = JSON.parse(stdout) as JsonValue;
  const isObject = typeof document === "object" && document !== null && !Array.isArray(document);
  return { isError: exit !== 0, document, structured: isObject ? document : undefined };
}

const field = async (path: string) => (await mcp.call("contract_view", { draft_id: id, field: path })).document;

describe("the tools of a turn's contract", () => {
  test("carry a turn from its birth to its close", async () => {
    const made = await mcp.call("contract_init");
    expect(made).toMatchObject({ isError: false, document: { ok: true, agent_id_minted: true } });
    const { draft_id, agent_id } = made.document as { draft_id: string; agent_id: string };
    expect(made.structured).toEqual(made.document);

    const filled = await mcp.call("contract_fill", {
      draft_id,
      json: {
        conclusion: "The total rounds now",
        evidence_report: { verification: { type: "self_review", reviewed: "total.ts", result: "pass" } },
        agent_status: { agent_state: "COMPLETE", next_action: "done" },
      },
    });
    expect(filled.document).toMatchObject({ ok: true, status: "ok", draft_id });
    const added = await mcp.call("contract_add", {
      draft_id,
      field: "evidence_report.key_outputs",
      value: "roundTotal truncated",
    });
    expect(added.document).toMatchObject({ ok: true });
    expect(await mcp.call("contract_validate", { draft_id, close: true })).toMatchObject({
      isError: false,
      document: { ok: true, would: "finalize" },
    });
    const closed = await mcp.call("contract_finalize", { agent_id });
    expect(closed.document).toMatchObject({ ok: true, status: "finalized", draft_id, agent_state: "COMPLETE" });
    const { handoff_id } = closed.document as { handoff_id: number };
    expect((await mcp.call("contract_show", { id: handoff_id })).document).toMatchObject({
      ok: true,
      envelope: { conclusion: "The total rounds now" },
    });
    expect((await mcp.call("contract_list", { agent_id, limit: 1 })).document).toMatchObject({ count: 1, total: 1 });
    expect((await mcp.call("contract_chain", { contract_id: draft_id })).document).toMatchObject({ count: 1 });
  });

  test.each([
    ["contract_view", {}, ["view"]],
    ["contract_view", { field: "evidence_report.open_gaps" }, ["view", "--field", "evidence_report.open_gaps"]],
    ["contract_view", { field: "nowhere" }, ["view", "--field", "nowhere"]],
    ["contract_validate", {}, ["validate"]],
    ["contract_validate", { close: true, strict: true }, ["validate", "--close", "--strict"]],
    ["contract_finalize", {}, ["finalize"]],
    ["contract_set", { field: "agent_status.agent_state", value: "DONE" }, ["set", "agent_status.agent_state", "DONE"]],
    ["contract_set", { field: "nowhere", value: 1 }, ["set", "nowhere", "1"]],
    ["contract_set", { field: "conclusion", value: 42 }, ["set", "conclusion", "42"]],
    ["contract_add", { field: "conclusion.x", value: "y" }, ["add", "conclusion.x", "y"]],
  ] as const)("%s with %j answers what the command prints", async (tool, args, words) => {
    const ran = await world.writ(["contract", ...words, "--json", "--draft-id", id]);
    const { talk: _, ...answer } = await mcp.call(tool, { ...args, draft_id: id });
    expect(answer).toEqual(asAnswer(ran));
  });

  test("a refusal by the overwrite screen is the command's, and nothing is written", async () => {
    await mcp.call("contract_set", { draft_id: id, field: "evidence_report.key_outputs", value: ["a", "b"] });
    const patch = { evidence_report: { key_outputs: ["c"] } };
    expect(await mcp.call("contract_fill", { draft_id: id, json: patch })).toMatchObject({
      isError: true,
      document: {
        ok: false,
        status: "refused",
        code: "list_overwrite",
        collisions: [{ field: "evidence_report.key_outputs", existing: 2, incoming: 1 }],
      },
    });
    expect(await field("evidence_report.key_outputs")).toEqual(["a", "b"]);
  });

  test("a value is any JSON; a text is what one types", async () => {
    for (const [value, stored] of [
      [["x"], ["x"]],
      ['["x"]', ["x"]],
      ["[x]", "[x]"],
      ['"42"', "42"],
      ["-", "-"],
      [null, null],
      [{ a: { b: 1 } }, { a: { b: 1 } }],
    ] as const) {
      await mcp.call("contract_set", { draft_id: id, field: "memory_delta", value: { note: null } });
      const set = await mcp.call("contract_set", { draft_id: id, field: "memory_delta.note", value });
      expect(set.document).toMatchObject({ ok: true });
      expect(await field("memory_delta.note")).toEqual(stored);
    }
  });

  test("a patch is an object, or its text, read as strictly as at the command line", async () => {
    expect(
      (await mcp.call("contract_fill", { draft_id: id, json: '{"conclusion":"from a text"}' })).isError,
    ).toBeFalse();
    expect(await field("conclusion")).toBe("from a text");
    const twice = await mcp.call("contract_fill", { draft_id: id, json: '{"conclusion":"a","conclusion":"b"}' });
    expect(twice).toMatchObject({
      isError: true,
      document: { code: "bad_input", path: "/json", issues: [{ code: "bad_json" }] },
    });
    const file = join(world.folder, "patch.json");
    writeFileSync(file, '{"conclusion":"from a file"}');
    expect((await mcp.call("contract_fill", { draft_id: id, json_file: file })).isError).toBeFalse();
    expect(await field("conclusion")).toBe("from a file");
  });

  test("what would be standard input is refused: it is the protocol", async () => {
    for (const tool of ["contract_fill", "contract_set", "contract_add"]) {
      const args = tool === "contract_fill" ? {} : { field: "conclusion" };
      const answer = await mcp.call(tool, { ...args, draft_id: id, json_file: "-" });
      expect(answer).toMatchObject({ isError: true, document: { code: "bad_input", path: "/json_file" } });
    }
    expect(await mcp.call("contract_fill", { draft_id: id, source: "-" })).toMatchObject({
      document: { code: "bad_input", path: "/source" },
    });
  });

  test("arguments are told of all at once, by the names of the tool", async () => {
    const answer = await mcp.call("contract_set", { feild: "conclusion", draft_id: 7 });
    expect(answer).toMatchObject({
      isError: true,
      document: { ok: false, status: "error", code: "bad_input", message: expect.stringContaining("3 issues") },
    });
    const { issues } = answer.document as { issues: readonly JsonObject[] };
    expect(issues.map(({ code, path }) => [code, path])).toEqual([
      ["unknown_argument", "/feild"],
      ["bad_argument", "/draft_id"],
      ["missing_argument", "/field"],
    ]);
    expect(await mcp.call("contract_view", { draft_id: id, contract_id: id })).toMatchObject({
      document: { code: "bad_input", message: '"draft_id" and "contract_id" are one argument' },
    });
    expect((await mcp.call("contract_view", { contract_id: id })).document).toMatchObject({ draft_id: id });
  });

  test("what the command says on standard error is a second text", async () => {
    const noted = await mcp.call("contract_set", { draft_id: id, field: "agent_name", value: "me" });
    expect(noted).toMatchObject({ isError: false, talk: expect.stringContaining("[NOTE] agent_name at the root") });
    expect(mcp.stderr()).toBe("");
  });

  test("without an address they work on the turn of the server's environment", async () => {
    await using own = await startMcp(world, { env: { WRIT_CONTRACT_ID: id } });
    expect((await own.call("contract_set", { field: "conclusion", value: "mine" })).document).toMatchObject({
      draft_id: id,
    });
  });

  test("calls that are sent together are carried out in their order", async () => {
    const values = Array.from({ length: 12 }, (_, at) => `entry ${at}`);
    const path = "evidence_report.key_outputs";
    await Promise.all(values.map((value) => mcp.call("contract_add", { draft_id: id, field: path, value })));
    expect(await field(path)).toEqual(values);
  });

  test.skipIf(process.platform !== "linux")("leave no store open behind them", async () => {
    const open = () =>
      readdirSync(`/proc/${mcp.pid}/fd`).filter((fd) => {
        try {
          return readlinkSync(`/proc/${mcp.pid}/fd/${fd}`).includes("writ.db");
        } catch {
          return false; // closed since it was listed
        }
      });
    for (let count = 0; count < 5; count++) await mcp.call("contract_list");
    expect(open()).toEqual([]);
  });

  test("an answer that is too large says how to have less", async () => {
    const long = "x".repeat(600_000);
    await mcp.call("contract_set", { draft_id: id, field: "conclusion", value: long });
    await mcp.call("contract_set", { draft_id: id, field: "report_prose", value: long });
    expect(await mcp.call("contract_view", { draft_id: id })).toMatchObject({
      isError: true,
      document: { code: "answer_too_large", hint: expect.stringContaining("writ contract view") },
    });
    expect(await field("conclusion")).toBe(long);
  });
});

test("a server that was started with a read root reads no json_file outside of it", async () => {
  const root = join(world.folder, "root");
  mkdirSync(join(root, "deep"), { recursive: true });
  const outside = join(world.folder, "outside.json");
  for (const file of [outside, join(root, "deep", "patch.json")]) writeFileSync(file, '{"conclusion": "read"}');
  symlinkSync(outside, join(root, "link.json"));
  await using bounded = await startMcp(world, { args: ["--read-root", root], cwd: root });
  const fill = (json_file: string) => bounded.call("contract_fill", { draft_id: id, json_file });

  for (const json_file of [outside, "../outside.json", join(root, "link.json"), "deep/../link.json"]) {
    expect(await fill(json_file)).toMatchObject({
      isError: true,
      document: { ok: false, code: "file_unreadable", message: expect.stringContaining("outside of the read root") },
    });
  }
  expect(await field("conclusion")).not.toBe("read");
  for (const json_file of ["deep/patch.json", join(root, "deep", "patch.json")]) {
    expect((await fill(json_file)).isError).toBeFalse();
  }
  expect(await field("conclusion")).toBe("read");
});

test("what an error says of an option of a shell names the argument of the tool", async () => {
  await world.born();
  const { document } = await mcp.call("contract_set", { field: "conclusion", value: "x" });
  expect(document).toMatchObject({ code: "ambiguous_draft", hint: "Name one with draft_id" });
});

describe("an argument that makes no sense to the command is bad_input, and no word of a shell is said", () => {
  const value = { field: "conclusion" };
  test.each([
    ["contract_list", { limit: 0 }, "/limit", "bad_argument"],
    ["contract_list", { limit: "x" }, "/limit", "bad_argument"],
    ["contract_list", { limit: -1 }, "/limit", "bad_argument"],
    ["contract_list", { limit: true }, "/limit", "bad_argument"],
    ["contract_list", { since: "zzz" }, "/since", "bad_argument"],
    ["contract_view", { at: "zz" }, "/at", "bad_argument"],
    ["contract_view", { at: 1, harness_id: "h" }, "/harness_id", "bad_argument"],
    ["contract_view", { draft_id: "../x" }, "/draft_id", "invalid_draft_id"],
    ["contract_view", { draft_id: "a", contract_id: "a" }, "/contract_id", "duplicate_argument"],
    ["contract_init", { draft_id: "../x" }, "/draft_id", "invalid_draft_id"],
    ["contract_init", { draft_id: "a0000000000000000.b", agent_id: "a1111111111111111" }, "/draft_id", "bad_argument"],
    ["contract_finalize", { plan_task_id: "q" }, "/plan_task_id", "bad_argument"],
    ["contract_validate", { strict: true }, "/strict", "bad_argument"],
    ["contract_add", value, "/value", "missing_argument"],
    ["contract_set", { ...value, value: 1, json_file: "package.json" }, "/json_file", "bad_argument"],
    ["contract_set", { ...value, value: "[1e999]" }, "/value", "inexact_number"],
    ["contract_set", { field: "", value: 1 }, "/field", "empty_path"],
    ["contract_fill", {}, "/json", "missing_argument"],
    ["contract_fill", { json: "{bad" }, "/json", "bad_json"],
    ["contract_fill", { json: "[]" }, "/json", "not_an_object"],
    ["contract_show", { id: true }, "/id", "bad_argument"],
  ])("%s %j", async (tool, args, path, code) => {
    const file = join(world.folder, "package.json");
    writeFileSync(file, "{}");
    const known = "json_file" in args ? { ...args, json_file: file } : args;
    const own = /init|list|show/.test(tool) || "draft_id" in args || "harness_id" in args ? {} : { draft_id: id };
    const { isError, document } = await mcp.call(tool, { ...known, ...own });
    const { message, hint, issues } = document as { message: string; hint: string | null; issues: JsonValue };
    expect({ isError, document }).toMatchObject({
      isError: true,
      document: { status: "error", code: "bad_input", path },
    });
    expect(issues).toEqual([{ code, path, message, hint }]);
    expect(`${message} ${hint}`).not.toMatch(
      /--|\bwrit contract [a-z]+ -|standard input|\b(VALUE|PATH|FIELD|JSON JSON)\b|Type:/,
    );
  });

  test("what is to be given instead is said as a call has it", async () => {
    const hintOf = async (tool: string, args: JsonObject) =>
      ((await mcp.call(tool, { draft_id: id, ...args })).document as { hint: string }).hint;
    expect(await hintOf("contract_add", { field: "conclusion" })).toBe("Give value, or json_file");
    expect(await hintOf("contract_fill", {})).toBe("Give exactly one of json, json_file");
    expect(await hintOf("contract_validate", { strict: true })).toBe("Call: contract_validate with close and strict");
    expect(await hintOf("contract_view", { at: "zz" })).toBe("For example: at: 1");
  });

  test("what the environment of the server says wrong is no argument", async () => {
    await using own = await startMcp(world, { env: { WRIT_CONTRACT_ID: "../x" } });
    expect((await own.call("contract_view")).document).toMatchObject({ code: "invalid_draft_id", path: null });
  });
});
