/** `writ doctor` against a server of real sockets: what a seat has to do, and what is told where it does not. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../src/doctor/check.ts";
import { documentOf, livingWorld, writCommand } from "../support/writ.ts";

type Body = {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly response_format?: object;
};

/** A hosted engine that can do it all; `scripted` says of itself that it plays. */
function serve({ scripted = false, tools = true } = {}) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    development: false,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/v1/models") return Response.json({ data: [{ id: "m" }] });
      if (pathname !== "/v1/chat/completions") return new Response(null, { status: 404 });
      const { messages, tools: offered, response_format } = (await request.json()) as Body;
      const last = messages.at(-1);
      const called = {
        id: "c1",
        type: "function",
        function: { name: offered?.[0]?.function.name, arguments: '{"colour":"blue"}' },
      };
      const message =
        last?.role === "tool"
          ? { content: `It is ${last.content}` }
          : offered !== undefined && tools
            ? { content: null, tool_calls: [called] }
            : { content: response_format === undefined ? "ok" : '{"ok":"yes"}' };
      return Response.json({
        ...(scripted ? { system_fingerprint: "writ-scripted" } : {}),
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", ...message } }],
        usage: { prompt_tokens: 10, completion_tokens: 2 },
      });
    },
  });
}

async function doctor(port: number | undefined, ...more: readonly string[]) {
  using world = livingWorld();
  mkdirSync(world.data);
  const seat = {
    name: "far",
    base_url: `http://127.0.0.1:${port}/v1`,
    model: "m",
    engine: "openai",
    ctx_tokens: 8192,
    stream: false,
  };
  writeFileSync(join(world.data, "config.json"), JSON.stringify({ seats: [seat] }), { mode: 0o600 });
  const ran = await world.writ(["doctor", "--json", "--seat", "far", ...more]);
  const findings = (documentOf(ran).findings ?? []) as unknown as readonly Finding[];
  return {
    exit: ran.exit,
    document: documentOf(ran),
    lines: findings.map(({ check, subject, outcome }) => `${outcome} ${check}: ${subject}`),
  };
}

test("a seat that works passes", async () => {
  const server = serve();
  try {
    const { exit, lines } = await doctor(server.port);
    expect(lines.slice(1)).toEqual([
      "PASS seat far: connect",
      "PASS seat far: model",
      "PASS seat far: window",
      "PASS seat far: chat",
      "PASS seat far: tools",
      "PASS seat far: structured",
      "PASS seat far: thinking off",
    ]);
    expect(exit).toBe(0);
  } finally {
    await server.stop(true);
  }
});

test("a seat that cannot call tools fails, and one that is scripted is shown as such", async () => {
  const server = serve({ scripted: true, tools: false });
  try {
    const { exit, lines } = await doctor(server.port);
    expect(lines).toContain("FAIL seat far (scripted): tools");
    expect(exit).toBe(1);
  } finally {
    await server.stop(true);
  }
});

test("a seat whose server is down fails", async () => {
  const server = serve();
  const { port } = server;
  await server.stop(true);
  const { exit, lines, document } = await doctor(port);
  expect([exit, lines.at(-1)]).toEqual([1, "FAIL seat far: connect"]);
  expect(document).toMatchObject({ ok: false, status: "no" });
});

test("a seat that the config does not have is a usage error", async () => {
  using world = livingWorld();
  const ran = await world.writ(["doctor", "--json", "--seat", "fra"]);
  expect([ran.exit, documentOf(ran).message, documentOf(ran).hint]).toEqual([
    2,
    'No seat is called "fra"',
    "The config has no seat",
  ]);
});

test("a config that is not valid fails with each issue", async () => {
  using world = livingWorld();
  mkdirSync(world.data);
  writeFileSync(join(world.data, "config.json"), '{\n"limits": {"width": 9}}', { mode: 0o600 });
  const { exit, stdout } = await world.writ(["doctor", "--seat", "any"]);
  expect(exit).toBe(1);
  expect(stdout).toContain(
    `FAIL config — ${join(world.data, "config.json")}, line 2: limits.width: It must be from 1 to 8, not 9\n`,
  );
});

test("the seat of WRIT_SEAT_URL is found out, shown and tried without a file", async () => {
  const server = serve();
  try {
    using world = livingWorld({ WRIT_SEAT_URL: `http://127.0.0.1:${server.port}/v1` });
    const shown = documentOf(await world.writ(["config", "show", "--json"]));
    expect(shown).toMatchObject({
      config: { default_seat: "env", seats: [{ name: "env", model: "m", engine: "openai" }] },
    });
    const { exit, stdout } = await world.writ(["doctor", "--seat", "env"]);
    // It streams by default, and this server does not: an answer in one piece is taken all the same.
    expect(stdout).toContain("PASS seat env — chat: ");
    expect(exit).toBe(0);
  } finally {
    await server.stop(true);
  }
});

test("a remote that is named is tried alone, with the token of the config", async () => {
  const seen: (string | null)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    development: false,
    fetch(request) {
      seen.push(request.headers.get("authorization"));
      if (new URL(request.url).pathname !== "/writ/v1/health") return new Response("{}", { status: 404 });
      return Response.json({ ok: true, node_id: "node-b", protocol: 1, schema_versions: [1], accepts_write: true });
    },
  });
  try {
    using world = livingWorld({ NODE_B: "a-token-of-some-length" });
    mkdirSync(world.data);
    const url = `http://127.0.0.1:${server.port}`;
    const config = { remotes: ["http://127.0.0.1:1", { url, token_env: "NODE_B" }] };
    writeFileSync(join(world.data, "config.json"), JSON.stringify(config), { mode: 0o600 });
    const { exit, stdout } = await world.writ(["doctor", "--remote", url]);
    expect(stdout.split("\n").slice(1)).toEqual([
      `PASS remote ${url} — health: Node node-b: no seat; 0 running, 0 queued`,
      `PASS remote ${url} — protocol: It speaks protocol 1`,
      `PASS remote ${url} — token: It takes the token in NODE_B`,
      `PASS remote ${url} — write door: It is open`,
      "OK: 5 checks passed.",
      "",
    ]);
    expect(exit).toBe(0);
    expect(new Set(seen)).toEqual(new Set(["Bearer a-token-of-some-length"]));
    expect((await world.writ(["doctor", "--remote", url, "--seat", "a"])).exit).toBe(2);
    expect((await world.writ(["doctor", "--remote", "ftp://x"])).exit).toBe(1);
  } finally {
    await server.stop(true);
  }
});

test("a model that a proxy has not loaded is loaded with --load alone, and nothing is asked that no engine is asked", async () => {
  using world = livingWorld();
  const script = {
    schema_version: 1,
    name: "doc",
    proxy: "llama-swap",
    states: [{ at_ms: 0, state: "stopped" }],
    turns: [
      { id: "fields", when: { constraint: "any" }, reply: { json: { ok: "yes" } } },
      { id: "back", when: { last_tool: "look_up" }, reply: { content: "walrus" } },
      {
        id: "call",
        when: { tools: "look_up" },
        reply: { tool_calls: [{ name: "look_up", arguments: { colour: "blue" } }] },
      },
      { id: "say", reply: { content: "ok" } },
    ],
  };
  writeFileSync(join(world.folder, "script.json"), JSON.stringify(script));
  const log = join(world.folder, "log");
  const server = Bun.spawn([...writCommand(), "seat", "serve", "--script", "script.json", "--json", "--log", log], {
    cwd: world.folder,
    env: world.env(),
    stdout: "pipe",
  });
  try {
    const ready = (await server.stdout.getReader().read()).value ?? new Uint8Array();
    const { seat } = JSON.parse(new TextDecoder().decode(ready)) as { seat: object };
    writeFileSync(join(world.folder, "config.json"), JSON.stringify({ seats: [seat] }), { mode: 0o600 });
    const asked = () =>
      readFileSync(log, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { path: string; problem?: string });

    const careful = await world.writ(["doctor", "--config", "config.json", "--seat", "doc"]);
    expect(careful.stdout).toContain("SKIP seat doc (scripted) — model: ");
    expect(asked().filter(({ path }) => path.includes("chat") || path.startsWith("/upstream"))).toEqual([]);

    const whole = await world.writ(["doctor", "--config", "config.json", "--seat", "doc", "--load"]);
    expect([whole.exit, whole.stdout]).toEqual([0, expect.stringContaining("PASS seat doc (scripted) — load: ")]);
    expect(asked().filter(({ problem }) => problem !== undefined)).toEqual([]);
  } finally {
    server.kill();
    await server.exited;
  }
});
