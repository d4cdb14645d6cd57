import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, shown, type Turn } from "../support/writ.ts";

let world: LivingWorld;
let turn: Turn;
beforeAll(async () => {
  world = livingWorld();
  turn = await world.turn();
});
afterAll(() => world[Symbol.dispose]());

const fill = (turn: Turn, ...args: string[]) => turn.writ(["contract", "fill", ...args]);

describe("writ contract fill", () => {
  test.each([
    { how: "--json", args: ["--json", '{"conclusion":"é"}'] },
    { how: "--json=", args: ['--json={"conclusion":"é"}'] },
    { how: "a file", args: ["--json-file", "patch.json"] },
    { how: "standard input as a file", args: ["--json-file", "-"] },
    { how: "standard input", args: ["-"] },
  ])("merges a patch from $how, and prints one document", async ({ args }) => {
    await turn.writ(["contract", "set", "conclusion", "before"]);
    writeFileSync(join(world.folder, "patch.json"), '{"conclusion":"é"}\n');
    const ran = await turn.writ(["contract", "fill", ...args], { stdin: ' {"conclusion":"é"}\n' });
    expect({ exit: ran.exit, stderr: ran.stderr, ...documentOf(ran) }).toMatchObject({
      exit: 0,
      stderr: "",
      ok: true,
      status: "ok",
      draft_id: turn.id,
    });
    expect((await turn.writ(["contract", "view", "--field", "conclusion"])).stdout).toBe('"é"\n');
  });

  test("refuses a patch over a populated list whole, on both streams, in 3", async () => {
    const other = await world.turn();
    await fill(other, "--json", '{"evidence_report":{"key_outputs":["a","b","c"],"open_gaps":["g"]}}');
    const patch = '{"conclusion":"harmless","evidence_report":{"key_outputs":["z"],"open_gaps":[]}}';
    const ran = await fill(other, "--json", patch);
    expect(shown(ran).replaceAll(other.id, "ID")).toMatchInlineSnapshot(`
      "{"ok":false,"status":"refused","code":"list_overwrite","path":null,"message":"fill would overwrite 2 populated lists; nothing was written.","hint":"Use \`writ contract add\` to extend a list, or \`writ contract set\` to replace it.","draft_id":"ID","collisions":[{"field":"evidence_report.key_outputs","existing":3,"incoming":1},{"field":"evidence_report.open_gaps","existing":1,"incoming":0}]}
      --- stderr
      Refused: fill would overwrite 2 populated lists -- nothing was written.
        evidence_report.key_outputs: existing 3, incoming 1
        evidence_report.open_gaps: existing 1, incoming 0
      Use \`writ contract add\` to extend a list, or \`writ contract set\` to replace it.
      --- exit 3
      "
    `);
    expect((await other.writ(["contract", "view", "--field", "conclusion"])).stdout).toBe("null\n");
  });

  test("is a success that changes nothing for {}", async () => {
    const answer = documentOf(await fill(turn, "--json", "{}"));
    expect(answer).toMatchObject({ ok: true, status: "ok" });
    expect(answer).not.toHaveProperty("change_id");
  });

  test.each([
    { args: [], code: "usage" },
    { args: ["--json", "{}", "-"], code: "usage" },
    { args: ["--json", "{}", "--json-file", "x"], code: "usage" },
    { args: ["operand"], code: "usage" },
    { args: ["--json"], code: "usage" },
    { args: ["--jsn", "{}"], code: "usage" },
    { args: ["--json", "[]"], code: "not_an_object" },
    { args: ["--json", "null"], code: "not_an_object" },
    { args: ["--json", "{,}"], code: "bad_json" },
    { args: ["--json", "{'a':1}"], code: "bad_json" },
    { args: ["--json", '{"a":1,}'], code: "bad_json" },
    { args: ["--json", '{"a":NaN}'], code: "bad_json" },
    { args: ["--json", '{"a":1} // no'], code: "bad_json" },
    { args: ["--json", '{"a":1,"b":{"c":1,"c":2}}'], code: "bad_json" },
    { args: ["--json", '{"a":"\\udc00"}'], code: "bad_json" },
    { args: ["--json", '{"memory_delta":{"a":12345678901234567890}}'], code: "inexact_number" },
    { args: ["--json", '{"memory_delta":{"a":1e400}}'], code: "inexact_number" },
    { args: ["--json-file", "gone.json"], code: "file_unreadable" },
    { args: ["--json-file", "-"], code: "bad_json" }, // nothing comes
  ])("refuses $args with $code in 2, as one document", async ({ args, code }) => {
    const ran = await fill(turn, ...args);
    expect({ exit: ran.exit, stderr: ran.stderr, ...documentOf(ran) }).toMatchObject({
      exit: 2,
      stderr: "",
      ok: false,
      status: "error",
      code,
    });
  });

  test.each([
    { body: "---\nconclusion: x\n", position: "line 1, column 2" },
    { body: "\n\nconclusion: x\n", position: "line 3, column 1" },
    { body: "- a\n- b\n", position: "line 1" },
  ])("recognises YAML and says where: $position", async ({ body, position }) => {
    const answer = documentOf(await turn.writ(["contract", "fill", "-"], { stdin: body }));
    expect(answer).toMatchObject({ code: "bad_json", looks_like: "yaml" });
    expect(answer.message).toContain("The envelope body is JSON, never YAML.");
    expect(answer.message).toContain(position);
  });

  test("names the place of a key that is given twice", async () => {
    const { message } = documentOf(await turn.writ(["contract", "fill", "-"], { stdin: '{\n  "a": 1,\n  "a": 2\n}' }));
    expect(message).toContain("line 3, column 3");
  });

  test("refuses a body of 8 MiB and a byte, from a file and from standard input", async () => {
    const body = `{"conclusion":"${"x".repeat(8 * 1024 * 1024 - 16)}"}`;
    expect(Buffer.byteLength(body)).toBe(8 * 1024 * 1024 + 1);
    writeFileSync(join(world.folder, "large.json"), body);
    const file = await fill(turn, "--json-file", "large.json");
    const input = await turn.writ(["contract", "fill", "-"], { stdin: body });
    for (const ran of [file, input]) {
      expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 2, code: "body_too_large" });
    }
  });

  test("keeps keys of every name as plain data", async () => {
    const patch = '{"memory_delta":{"__proto__":{"a":1},"constructor":2,"prototype":3}}';
    expect(documentOf(await fill(turn, "--json", patch))).toMatchObject({ ok: true });
    const { stdout } = await turn.writ(["contract", "view", "--field", "memory_delta.__proto__"]);
    expect(JSON.parse(stdout)).toEqual({ a: 1 });
  });

  test("rejects in 1 with every error at once", async () => {
    const patch = '{"agent_status":{"agent_state":"DONE"},"conclusion":7,"evidence_report":{"open_gaps":"none"}}';
    const ran = await fill(turn, "--json", patch);
    const { codes, errors } = documentOf(ran);
    expect(ran.exit).toBe(1);
    expect(codes).toContain("FIELD_TYPE");
    expect((errors as unknown[]).length).toBeGreaterThanOrEqual(3);
    for (const error of errors as object[]) expect(Object.keys(error)).toEqual(["code", "path", "message", "hint"]);
  });
});
