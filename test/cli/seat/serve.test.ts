import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, constants, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { SMALLEST_SCRIPT } from "../../../src/cli/seat/serve.ts";
import { readConfigBytes } from "../../../src/core/config/read.ts";
import { startSeatCommand } from "../../support/scripted-seat.ts";
import { isRefused, open, requestText } from "../../support/talk.ts";
import { documentOf, type LivingWorld, livingWorld, shown, writCommand } from "../../support/writ.ts";

let world: LivingWorld;

beforeEach(() => {
  world = livingWorld();
});
afterEach(() => world[Symbol.dispose]());

const CLAMP = { name: "clamp", turns: [{ id: "say", times: 1, reply: { content: "hi" } }] };

const chat = (url: string, goal = "hello") =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ messages: [{ role: "user", content: goal }] }),
  });

describe("writ seat serve", () => {
  test("prints one line once it listens, and ends with 0 on SIGTERM", async () => {
    const seat = await startSeatCommand(world, CLAMP);
    expect(seat.printed).toBe(`scripted seat "clamp" at ${seat.url} (llama.cpp, scripted/clamp)\n`);
    expect(seat.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await chat(seat.url)).status).toBe(200);
    expect(shown(await seat.stop())).toBe(`${seat.printed}--- exit 0\n`);
    expect(await isRefused(seat.url)).toBe(true);
  });

  test("with --json prints a seat that can be put into the config", async () => {
    const seat = await startSeatCommand(world, { ...CLAMP, proxy: "llama-swap", slots: 3, model: "m" }, "--json");
    const document = JSON.parse(seat.printed);
    expect(document).toEqual({
      ok: true,
      status: "ok",
      url: seat.url,
      seat: {
        name: "clamp",
        base_url: seat.url,
        model: "scripted/m",
        engine: "llama.cpp",
        proxy: "llama-swap",
        api_key_env: "",
        ctx_tokens: 32768,
        slots: 3,
      },
      scripted: true,
    });
    const config = readConfigBytes(new TextEncoder().encode(JSON.stringify({ seats: [document.seat] })));
    expect(config.issues).toEqual([]);
    await seat.stop();
  });

  test.each(["SIGINT", "SIGTERM"] as const)("cuts what is open on %s", async (signal) => {
    const reply = { content: "a", cut: { how: "hang" } };
    const seat = await startSeatCommand(world, { turns: [{ id: "a", reply }] });
    const body = { messages: [{ role: "user", content: "a" }], stream: true };
    const socket = open(seat.url, () => socket.write(requestText("/v1/chat/completions", body)));
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await new Promise((resolve) => socket.once("data", resolve));
    const ended = await seat.stop(signal);
    await closed;
    expect([ended.exit, ended.stderr]).toEqual([0, ""]);
  });

  test("is ended by a second signal while it is on its way out", async () => {
    const turns = Array.from({ length: 1000 }, (_, index) => ({ id: `${index}`.padEnd(64, "x"), reply: {} }));
    const script = join(world.folder, "s.json");
    writeFileSync(script, JSON.stringify({ schema_version: 1, name: "long", turns }));
    // Its report is longer than a pipe holds that nobody reads.
    const pipe = join(world.folder, "pipe");
    Bun.spawnSync(["mkfifo", pipe]);
    const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const child = Bun.spawn([...writCommand(), "seat", "serve", "--script", script], {
      env: world.env(),
      stdout: "pipe",
      stderr: reader,
    });
    const line = await child.stdout.getReader().read();
    const url = /http:\S+/.exec(new TextDecoder().decode(line.value))?.[0] ?? "";
    child.kill("SIGTERM");
    while (!(await isRefused(url)));
    child.kill("SIGINT");
    await child.exited;
    closeSync(reader);
    expect(child.signalCode).toBe("SIGINT");
  });

  test("names on its way out what was never used, and what met nothing; --strict ends in 1", async () => {
    const script = { turns: [...CLAMP.turns, { id: "never", when: { step: 9 }, reply: {} }] };
    for (const { args, exit } of [
      { args: [], exit: 0 },
      { args: ["--strict"], exit: 1 },
    ]) {
      const seat = await startSeatCommand(world, script, ...args);
      await chat(seat.url);
      expect((await chat(seat.url)).status).toBe(400);
      const ended = await seat.stop("SIGINT");
      expect(ended.stderr).toMatch(
        /^writ seat serve: turn never was never used\nwrit seat serve: request 2 of conversation [0-9a-f]{12} \(step 1\) met no turn\n$/,
      );
      expect(ended.exit).toBe(exit);
    }
  });

  test("--strict ends in 0 when every turn was used and every request met one", async () => {
    const seat = await startSeatCommand(world, CLAMP, "--strict");
    await chat(seat.url);
    expect(shown(await seat.stop())).toBe(`${seat.printed}--- exit 0\n`);
  });

  test("counts the requests that it does not name", async () => {
    const seat = await startSeatCommand(world, CLAMP);
    for (let count = 0; count < 23; count++) await chat(seat.url);
    const lines = (await seat.stop()).stderr.trimEnd().split("\n");
    expect([lines.length, lines.at(-1)]).toEqual([21, "writ seat serve: 2 more requests met no turn"]);
  });

  test("writes a line for each request with --log, over what the file held", async () => {
    const log = join(world.folder, "seat.log");
    writeFileSync(log, "old\n".repeat(500));
    const seat = await startSeatCommand(world, CLAMP, "--log", log);
    await fetch(`${seat.url}/health`);
    await chat(seat.url);
    const entries = await seat.log();
    await seat.stop();
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([...entries]);
    expect(entries).toMatchObject([
      { n: 1, path: "/health", status: 200, turn: null },
      { n: 2, path: "/v1/chat/completions", status: 200, turn: "say", ended: "done" },
    ]);
  });

  test("ends in 4 when the log cannot be written, or the port is taken", async () => {
    const script = join(world.folder, "s.json");
    writeFileSync(script, JSON.stringify({ schema_version: 1, ...CLAMP }));
    const log = await world.writ([
      "seat",
      "serve",
      "--script",
      script,
      "--log",
      join(world.folder, "no", "log"),
      "--json",
    ]);
    expect([log.exit, documentOf(log).code]).toEqual([4, "file_unwritable"]);
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const taken = await world.writ(["seat", "serve", "--script", script, "--listen", `127.0.0.1:${port}`]);
    server.close();
    expect(shown(taken)).toBe(
      `--- stderr\nError: Port ${port} is taken\nName another with --listen, or port 0: then any free one is taken\n--- exit 4\n`,
    );
  });

  test("serves on the port that it is told, also of IPv6", async () => {
    const seat = await startSeatCommand(world, CLAMP, "--listen", "[::1]:0");
    expect(seat.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await chat(seat.url)).status).toBe(200);
    await seat.stop();
    const again = await startSeatCommand(world, CLAMP, "--listen", `localhost:${new URL(seat.url).port}`);
    expect(again.url).toBe(`http://127.0.0.1:${new URL(seat.url).port}`);
    await again.stop();
  });

  test.each(["0.0.0.0:0", "192.168.0.1:80", "[::]:0", "127.0.0.1", "127.0.0.1:65536", "example.org:80", ":0"])(
    "refuses to listen on %s",
    async (listen) => {
      const script = join(world.folder, "s.json");
      writeFileSync(script, JSON.stringify({ schema_version: 1, ...CLAMP }));
      const ran = await world.writ(["seat", "serve", "--script", script, `--listen=${listen}`, "--json"]);
      expect([ran.exit, documentOf(ran).code]).toEqual([2, "usage"]);
    },
  );

  test("asks for the token whose variable the script names, and for the variable", async () => {
    const script = { ...CLAMP, token_env: "SEAT_TOKEN" };
    const file = join(world.folder, "s.json");
    writeFileSync(file, JSON.stringify({ schema_version: 1, ...script }));
    const unset = await world.writ(["seat", "serve", "--script", file]);
    expect([unset.exit, unset.stderr]).toEqual([2, expect.stringContaining("SEAT_TOKEN is not set")]);
    using tokened = livingWorld({ SEAT_TOKEN: "a-token-of-sixteen" });
    const env = { ...tokened, env: () => tokened.env({ SEAT_TOKEN: "a-token-of-sixteen" }) };
    const seat = await startSeatCommand(env, script, "--json");
    expect(JSON.parse(seat.printed).seat.api_key_env).toBe("SEAT_TOKEN");
    expect((await chat(seat.url)).status).toBe(401);
    const headers = { authorization: "Bearer a-token-of-sixteen" };
    const body = JSON.stringify({ messages: [{ role: "user", content: "a" }] });
    const response = await fetch(`${seat.url}/v1/chat/completions`, { method: "POST", headers, body });
    expect(response.status).toBe(200);
    await seat.stop();
  });
});

describe("writ seat serve --check", () => {
  test("says that a script makes sense", async () => {
    const text = JSON.stringify({ schema_version: 1, ...CLAMP });
    expect(shown(await world.writ(["seat", "serve", "--script", "-", "--check"], { stdin: text }))).toBe(
      "clamp  ok  1 turn\n--- exit 0\n",
    );
    const json = await world.writ(["seat", "serve", "--script", "-", "--check", "--json"], { stdin: text });
    expect([json.exit, documentOf(json)]).toEqual([0, { ok: true, status: "ok", name: "clamp", turns: 1 }]);
  });

  test("the script of its help makes sense, and stands there whole", async () => {
    const help = await world.writ(["seat", "serve", "--help"]);
    expect(help.stdout.replace(/\s+/g, "")).toContain(SMALLEST_SCRIPT);
    expect(shown(await world.writ(["seat", "serve", "--script", "-", "--check"], { stdin: SMALLEST_SCRIPT }))).toBe(
      "hello  ok  1 turn\n--- exit 0\n",
    );
  });

  test("tells of every issue at once, with what may have been meant", async () => {
    const text = JSON.stringify({
      schema_version: 1,
      name: "clamp",
      turns: [{ id: "a", tims: 1, reply: { cut: { how: "drp" } } }],
    });
    expect(shown(await world.writ(["seat", "serve", "--script", "-", "--check"], { stdin: text }))).toBe(
      [
        "--- stderr",
        'Error: The script "-" is not valid: 2 issues',
        '  type_mismatch [/turns/0/reply/cut/how]: Expected ("length" | "refuse" | "no_end" | "drop" | "reset" | "hang"), found "drp"',
        '  unknown_key [/turns/0/tims]: There is no key "tims" here',
        "    Did you mean times?",
        "writ docs scripted-seat says what each key is for",
        "--- exit 2",
        "",
      ].join("\n"),
    );
    const json = await world.writ(["seat", "serve", "--script", "-", "--json"], { stdin: text });
    expect(json.exit).toBe(2);
    expect(documentOf(json)).toMatchObject({
      ok: false,
      status: "error",
      code: "bad_script",
      path: null,
      issues: [{ path: "/turns/0/reply/cut/how" }, { path: "/turns/0/tims", code: "unknown_key" }],
    });
  });

  test("ends in 2 for a script that does not open, or is too large", async () => {
    const missing = await world.writ(["seat", "serve", "--script", "no.json", "--check", "--json"]);
    expect([missing.exit, documentOf(missing).code]).toEqual([2, "file_unreadable"]);
    const large = await world.writ(["seat", "serve", "--script", "-", "--check", "--json"], {
      stdin: " ".repeat(4 * 1024 * 1024 + 1),
    });
    expect([large.exit, documentOf(large)]).toMatchObject([2, { code: "bad_script", issues: [{ code: "too_large" }] }]);
  });
});

test.each(["list", "show x", "check"])("writ seat %s says what is done with seats", async (words) => {
  const ran = await world.writ(["seat", ...words.split(" ")]);
  expect(ran.exit).toBe(2);
  expect(ran.stderr).toContain('played ("writ seat serve --script FILE")');
});
