import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { type McpClient, startMcp, startMcpLines } from "../support/mcp.ts";
import { documentOf, type LivingWorld, livingWorld } from "../support/writ.ts";

let world: LivingWorld;
let mcp: McpClient;
beforeAll(async () => {
  world = livingWorld();
  mkdirSync(join(world.folder, "docs", "deep"), { recursive: true });
  writeFileSync(join(world.folder, "docs", "notes.md"), "The walrus sleeps on the ice.\n");
  writeFileSync(join(world.folder, "secret.md"), "outside\n");
  mcp = await startMcp(world, { args: ["--read-root", "docs"] });
});
afterAll(async () => {
  await mcp.close();
  world[Symbol.dispose]();
});

const SOUND = {
  goal: "Name the animal that the notes are about",
  context_paths: ["notes.md"],
  output_schema: { type: "object", properties: { animal: { type: "string" } }, required: ["animal"] },
  acceptance: ["contains:@field=animal:walrus"],
};

const issuesOf = (document: JsonValue) =>
  (document as { issues: readonly JsonObject[] }).issues.map(({ code, path }) => [code, path]);

describe("delegation_lint", () => {
  test("says of a sound contract what writ lint says of the file", async () => {
    const file = join(world.folder, "contract.json");
    const vague = { ...SOUND, acceptance: ["nonempty:animal"], max_steps: 99 };
    writeFileSync(file, JSON.stringify([SOUND, vague]));
    const ran = documentOf(await world.writ(["lint", file, "--json", "--read-root", join(world.folder, "docs")]));
    const answer = await mcp.call("delegation_lint", { subtasks: [SOUND, vague] });
    const [told] = ran.files as readonly { readonly subtasks: JsonValue }[];
    const asArgument = JSON.parse(JSON.stringify(told?.subtasks).replaceAll('"/', '"/subtasks/')) as JsonValue;
    expect(answer).toMatchObject({ isError: false, document: { ok: true, status: "ok", issues: [] } });
    expect((answer.document as JsonObject).subtasks).toEqual(asArgument);
    expect((await mcp.call("delegation_lint", { subtasks: [vague], strict: true })).isError).toBeTrue();
  });

  test("tells of every issue of every subtask at once, by pointers into the arguments", async () => {
    const answer = await mcp.call("delegation_lint", {
      subtasks: [
        { goal: " ", acceptance: ["contains:"], thinking: "maybe" },
        { goal: "x", context_paths: ["missing.md", "../secret.md"], max_steps: "many" },
      ],
    });
    expect(answer.isError).toBeTrue();
    const { subtasks } = answer.document as { subtasks: readonly JsonObject[] };
    expect(subtasks.flatMap((each) => issuesOf(each))).toEqual([
      ["goal_required", "/subtasks/0/goal"],
      ["thinking", "/subtasks/0/thinking"],
      ["acceptance", "/subtasks/0/acceptance/0"],
      ["type_mismatch", "/subtasks/1/max_steps"],
      ["path_missing", "/subtasks/1/context_paths/0"],
      ["path_outside", "/subtasks/1/context_paths/1"],
    ]);
    const hints = subtasks.flatMap((each) => each.issues as readonly JsonObject[]).map(({ hint }) => hint);
    expect(hints.slice(-2)).toEqual(["Name another read_root", "Name another read_root"]);
  });

  test("is judged by the contract reader alone: names in any case, a key given twice, too many, none, no list", async () => {
    await using lines = startMcpLines(world);
    const lint = async (subtasks: string) => {
      lines.send(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delegation_lint","arguments":{"subtasks":${subtasks}}}}\n`,
      );
      const answer = (await lines.next()) as { result: { structuredContent: JsonObject } };
      return answer.result.structuredContent;
    };
    expect(await lint('[{"Goal":"Say what the port is, as a number","ACCEPTANCE":["regex:80"]}]')).toMatchObject({
      ok: true,
    });
    expect(issuesOf(await lint('[{"goal":"a","goal":"b"}]'))).toEqual([["duplicate_key", "/subtasks"]]);
    expect(issuesOf(await lint("[]"))).toEqual([["no_subtasks", "/subtasks"]]);
    expect(issuesOf(await lint(`[${Array.from({ length: 9 }, () => '{"goal":"x"}').join(",")}]`))).toEqual([
      ["too_many_subtasks", "/subtasks"],
    ]);
    expect(issuesOf(await lint('"x"'))).toEqual([["not_an_object", "/subtasks"]]);
    expect(issuesOf(await lint(`${"[".repeat(100)}${"]".repeat(100)}`))).toEqual([["too_deep", "/subtasks"]]);
  });

  test("reads documents below the read root of the server, which a call may only narrow", async () => {
    const narrow = await mcp.call("delegation_lint", { subtasks: [SOUND], read_root: "deep" });
    expect((narrow.document as { subtasks: readonly JsonObject[] }).subtasks[0]).toMatchObject({
      valid: false,
      issues: [{ code: "path_missing" }],
    });
    expect(await mcp.call("delegation_lint", { subtasks: [SOUND], read_root: ".." })).toMatchObject({
      isError: true,
      document: { code: "bad_input", path: "/read_root" },
    });
  });
});

describe("delegation_template", () => {
  test("lists what writ template list does, and gives each as a contract that the reader takes", async () => {
    const list = await mcp.call("delegation_template");
    expect(list.document).toEqual(documentOf(await world.writ(["template", "list", "--json"])));
    const { templates } = list.document as { templates: readonly { name: string; placeholders: JsonValue }[] };
    expect(templates.length).toBeGreaterThan(2);
    for (const { name, placeholders } of templates) {
      const { document } = await mcp.call("delegation_template", { name });
      expect(document).toMatchObject({
        ok: true,
        template: name,
        placeholders,
        contract: { goal: expect.any(String) },
      });
    }
  });

  test("says which may have been meant", async () => {
    expect(await mcp.call("delegation_template", { name: "research-digset" })).toMatchObject({
      isError: true,
      document: { code: "template_unknown", hint: 'Did you mean "research-digest"?' },
    });
  });
});

describe("delegation_grade", () => {
  test("grades an answer that is at hand", async () => {
    const right = { output: "It is the walrus.", structured: { animal: "walrus" } };
    expect(await mcp.call("delegation_grade", { contract: SOUND, ...right })).toMatchObject({
      isError: false,
      document: { ok: true, status: "ok", subtasks: [{ index: 0, verdict: "pass", outcomes: [{ outcome: "pass" }] }] },
    });
    expect(await mcp.call("delegation_grade", { contract: SOUND, structured: { animal: "seal" } })).toMatchObject({
      isError: true,
      document: { ok: false, status: "no", subtasks: [{ verdict: "fail" }] },
    });
    expect(await mcp.call("delegation_grade", { contract: SOUND, result: right })).toMatchObject({ isError: false });
  });

  test("reads the changed paths from a diff, and grades what the documents say", async () => {
    const contract = {
      ...SOUND,
      write_root: ".",
      acceptance: ["diff_touches:notes.md", "contains:@grounded:walrus"],
    };
    const diff =
      "diff --git a/notes.md b/notes.md\n--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-The walrus sleeps on the ice.\n+The walrus is awake.\n";
    const { document } = await mcp.call("delegation_grade", { contract, diff, output: "The walrus is awake" });
    expect(document).toMatchObject({ subtasks: [{ outcomes: [{ outcome: "pass" }, { outcome: "pass" }] }] });
  });

  test("pairs subtasks with the results of a document", async () => {
    const results = [{ index: 1, status: "succeeded", structured: { animal: "walrus" } }];
    const contract = [SOUND, SOUND];
    expect((await mcp.call("delegation_grade", { contract, result: { results }, index: 1 })).isError).toBeFalse();
    const all = await mcp.call("delegation_grade", { contract, result: { results } });
    expect(all.document).toMatchObject({ subtasks: [{ verdict: "fail" }, { verdict: "pass" }] });
    for (const [args, code] of [
      [{ output: "walrus" }, "missing_argument"],
      [{ output: "walrus", index: 2 }, "bad_argument"],
    ] as const) {
      expect(await mcp.call("delegation_grade", { contract, ...args })).toMatchObject({
        document: { code: "bad_input", path: "/index", issues: [{ code, path: "/index" }] },
      });
    }
    expect(await mcp.call("delegation_grade", { contract, result: { output: "walrus" } })).toMatchObject({
      document: { code: "no_pair", path: "/result", hint: "Name the subtask with index" },
    });
  });

  test("needs one answer, and a contract without an issue", async () => {
    for (const args of [{}, { output: "x", result: { output: "x" } }]) {
      expect(await mcp.call("delegation_grade", { contract: SOUND, ...args })).toMatchObject({
        isError: true,
        document: { code: "bad_input" },
      });
    }
    const bad = await mcp.call("delegation_grade", { contract: { goal: "" }, output: "x" });
    expect(bad).toMatchObject({ isError: true, document: { ok: false, status: "error", code: "bad_contract" } });
    expect(issuesOf(bad.document)).toEqual([["goal_required", "/contract/goal"]]);
  });
});
