import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { TOOLS } from "../../src/mcp/tools.ts";
import { TRANSPORT_LIMITS } from "../../src/mcp/transport.ts";
import { hello, type McpClient, startMcp, startMcpLines } from "../support/mcp.ts";
import { openScreen } from "../support/screen.ts";
import { type LivingWorld, livingWorld, writCommand } from "../support/writ.ts";

let world: LivingWorld;
let mcp: McpClient;
beforeAll(async () => {
  world = livingWorld();
  mcp = await startMcp(world);
});
afterAll(async () => {
  await mcp.close();
  world[Symbol.dispose]();
});

const call = (id: string | number, name: string, args: unknown = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

describe("writ mcp", () => {
  test("says who it is and that it has tools", () => {
    expect(mcp.client.getServerVersion()?.name).toBe("writ");
    expect(mcp.client.getServerCapabilities()).toEqual({ tools: {} });
    expect(mcp.client.getInstructions()).toContain("evidence");
  });

  test("lists every tool on one page, with a closed schema and a description", async () => {
    const { tools, nextCursor } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(TOOLS));
    expect(nextCursor).toBeUndefined();
    for (const { name, description, inputSchema, annotations } of tools) {
      expect([name, inputSchema.type, inputSchema.additionalProperties]).toEqual([name, "object", false]);
      expect(description?.length).toBeGreaterThan(40);
      expect(annotations?.readOnlyHint).toBeBoolean();
    }
    await expect(mcp.client.listTools({ cursor: "2" })).rejects.toThrow("one page");
  });

  test.each(["2025-06-18", "2025-03-26", "2024-11-05"])("speaks %s", async (version) => {
    await using lines = startMcpLines(world);
    lines.say(hello(version));
    expect(await lines.next()).toMatchObject({ result: { protocolVersion: version } });
  });

  test("answers with the newest version that it knows to a client of the future", async () => {
    await using lines = startMcpLines(world);
    lines.say(hello("2099-01-01"));
    const answer = (await lines.next()) as { result: { protocolVersion: string } };
    expect(answer.result.protocolVersion >= "2025-06-18").toBeTrue();
    expect(answer.result.protocolVersion < "2099").toBeTrue();
  });

  test("has no tool that nobody made, and says which may have been meant", async () => {
    await expect(mcp.client.callTool({ name: "contract_sett" })).rejects.toThrow('did you mean "contract_set"?');
    await expect(mcp.client.callTool({ name: "__proto__" })).rejects.toThrow("There is no tool");
  });

  test.each([
    { name: "an unknown tool", params: { name: "nothing" }, says: /^There is no tool "nothing"/ },
    { name: "a call without a name", params: {}, says: /^(?!MCP error)/ },
  ])("names the code of an error once: $name", async ({ params, says }) => {
    await using lines = startMcpLines(world);
    lines.say(hello("2025-06-18"));
    await lines.next();
    lines.say({ jsonrpc: "2.0", id: 7, method: "tools/call", params });
    const answer = (await lines.next()) as { readonly error: { readonly code: number; readonly message: string } };
    expect(answer).toMatchObject({ id: 7, error: { code: -32602, message: expect.stringMatching(says) } });
  });

  test("keeps the config's word: without a valid one nothing is served", async () => {
    const file = join(world.folder, "bad.json");
    writeFileSync(file, '{"seats": 7}');
    const ran = await world.writ(["mcp", "--config", file]);
    expect({ ...ran, stderr: ran.stderr.includes("seats") }).toEqual({ exit: 2, stdout: "", stderr: true });
    expect((await world.writ(["mcp", "--read-root", join(world.folder, "nowhere")])).exit).toBe(2);
  });
});

test("a person who types it is told that a client is meant", async () => {
  const screen = openScreen([...writCommand(), "mcp"], { env: world.env(), cwd: world.folder });
  await screen.shows("writ docs mcp");
  screen.type("\x04");
  expect(await screen.ended).toBe(0);
});

describe("the lines of writ mcp", () => {
  test("no line keeps the next one from being answered", async () => {
    await using lines = startMcpLines(world);
    const texts = fc.sample(fc.oneof(fc.json(), fc.string()), { numRuns: 200, seed: 7 });
    for (const text of texts) lines.send(`${text.replaceAll("\n", " ")}\n`);
    lines.send(fc.sample(fc.uint8Array({ maxLength: 40 }), { numRuns: 1, seed: 7 })[0] ?? "");
    lines.send("\n");
    lines.say({ jsonrpc: "2.0", id: "last", method: "ping" });
    let answer = await lines.next();
    while (answer !== null && answer.id !== "last") answer = await lines.next();
    expect(answer).toEqual({ jsonrpc: "2.0", id: "last", result: {} });
  });

  test("a message that is none is answered, and the next one works", async () => {
    await using lines = startMcpLines(world);
    lines.send("nonsense\n\n\r\n");
    expect(await lines.next()).toMatchObject({ id: null, error: { code: -32700 } });
    lines.say({ jsonrpc: "2.0", id: 1, method: "unheard/of" });
    expect(await lines.next()).toMatchObject({ id: 1, error: { code: -32601 } });
    lines.say({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { arguments: {} } });
    expect(await lines.next()).toMatchObject({ id: 2, error: { code: -32602 } });
    lines.say({ jsonrpc: "2.0", id: "x", method: "ping" });
    expect(await lines.next()).toEqual({ jsonrpc: "2.0", id: "x", result: {} });
  });

  test("a message that is too long is answered without being kept, and the next one works", async () => {
    await using lines = startMcpLines(world);
    const piece = "x".repeat(1024 * 1024);
    lines.send('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"');
    for (let size = 0; size <= TRANSPORT_LIMITS.message_bytes; size += piece.length) lines.send(piece);
    lines.send('"}}\n');
    lines.say({ jsonrpc: "2.0", id: 2, method: "ping" });
    expect(await lines.next()).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await lines.next()).toMatchObject({ id: 2 });
  });

  test("requests that came as a list are answered as a list", async () => {
    await using lines = startMcpLines(world);
    lines.send(`[${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })},7,{"jsonrpc":"2.0","method":"hm"}]\n`);
    const answers = (await lines.next()) as unknown as { id: unknown }[];
    expect(answers.map(({ id }) => id).toSorted()).toEqual([1, null]);
    lines.send('[{"jsonrpc":"2.0","method":"hm"}]\n');
    lines.say({ jsonrpc: "2.0", id: 2, method: "ping" });
    expect(await lines.next()).toMatchObject({ id: 2 });
  });

  test("more requests than are worked on at once are turned away, not kept", async () => {
    await using lines = startMcpLines(world);
    const count = TRANSPORT_LIMITS.requests + 5;
    lines.send(Array.from({ length: count }, (_, id) => `${JSON.stringify(call(id, "contract_list"))}\n`).join(""));
    const answers: (Record<string, unknown> | null)[] = [];
    while (answers.length < count) answers.push(await lines.next());
    const busy = answers.filter((answer) => JSON.stringify(answer).includes("-32000"));
    expect(busy.length).toBeLessThanOrEqual(5);
    expect(answers.filter((answer) => answer !== null && "result" in answer)).toHaveLength(count - busy.length);
    expect(new Set(answers.map((answer) => answer?.id)).size).toBe(count);
  });

  test("an id that waits for its answer is not taken a second time", async () => {
    await using lines = startMcpLines(world);
    const request = JSON.stringify(call("twice", "contract_list"));
    lines.send(`${request}\n${request}\n`);
    const answers = [await lines.next(), await lines.next()];
    expect(answers.map((answer) => (answer !== null && "error" in answer ? "error" : "result")).toSorted()).toEqual([
      "error",
      "result",
    ]);
  });

  test("a call that was cancelled has no answer", async () => {
    await using lines = startMcpLines(world);
    for (const id of [0, ""]) {
      const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } };
      lines.send(`${JSON.stringify(call(id, "contract_list"))}\n${JSON.stringify(cancelled)}\n`);
      lines.say({ jsonrpc: "2.0", id: "after", method: "tools/list" });
      expect(await lines.next()).toMatchObject({ id: "after" });
    }
  });

  test("a call that was cancelled before it was begun is not begun", async () => {
    await using lines = startMcpLines(world);
    const id = await world.born();
    const set = (value: string) => ({ draft_id: id, field: "conclusion", value });
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } };
    lines.send(
      [
        call(1, "contract_set", set("first")),
        call(2, "contract_set", set("taken back")),
        cancelled,
        call(3, "contract_view", { draft_id: id, field: "conclusion" }),
      ]
        .map((message) => `${JSON.stringify(message)}\n`)
        .join(""),
    );
    expect(await lines.next()).toMatchObject({ id: 1 });
    expect(await lines.next()).toMatchObject({ id: 3, result: { content: [{ text: '"first"' }] } });
  });

  test("what was asked before standard input ends is answered, and the process ends in 0", async () => {
    const lines = startMcpLines(world);
    lines.say(hello());
    lines.say(call(1, "contract_list"));
    lines.hangUp();
    expect(await lines.next()).toMatchObject({ id: 0 });
    expect(await lines.next()).toMatchObject({ id: 1, result: { structuredContent: { ok: true } } });
    expect(await lines.ended()).toEqual({ exit: 0, stdout: "", stderr: "" });
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("%s ends it in %d, with its standard input open", async (signal, exit) => {
    const lines = startMcpLines(world);
    lines.say(hello());
    expect(await lines.next()).toMatchObject({ id: 0 });
    lines.kill(signal);
    expect(await lines.ended()).toEqual({ exit, stdout: "", stderr: "" });
  });
});
