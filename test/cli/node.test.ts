import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeIdOf } from "../../src/cli/node-world.ts";
import { readHealth } from "../../src/core/placement/health.ts";
import { selfSigned } from "../support/certificate.ts";
import { configureNode, startNode } from "../support/node-command.ts";
import { submitOf } from "../support/node-world.ts";
import { deadPort, rawServer, respond } from "../support/raw-server.ts";
import { startScriptedSeat } from "../support/scripted-seat.ts";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

const TOKEN = "correct-horse-battery-staple";
const LONG_MS = 20_000;
const SAY = {
  turns: [
    { id: "form", when: { constraint: "any" }, reply: { json: { a: "x" } } },
    { id: "say", reply: { content: "done" } },
  ],
};

const serve = (world: LivingWorld, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
  world.writ(["node", "serve", ...args], { env: { WRIT_CONFIG: join(world.folder, "config.json"), ...env } });

describe("writ node serve", () => {
  test("says in one line who it is and where, and ends with 0 when it is asked to", async () => {
    using world = livingWorld();
    configureNode(world, null);
    await using node = await startNode(world);
    expect(node.printed).toMatch(/^node n at http:\/\/127\.0\.0\.1:\d+ \(write door closed, poll lease 120 s\)\n$/);
    expect(await node.stop("SIGINT")).toBe(0);
    expect(node.talk.replaceAll(/^\S+Z /gm, "")).toBe(
      "no seat is configured: every job will be refused (writ config init)\n" +
        "no token (WRIT_NODE_TOKEN is not set): whoever is on this machine may hand it jobs, and read and take back those of others\n" +
        "stopping\nstopped\n",
    );
    expect(readdirSync(join(world.data, "run")).sort()).toEqual(["node.db", "node.json", "node.lock"]);
    expect(statSync(join(world.data, "run")).mode & 0o777).toBe(0o700);
  });

  test("prints one document with --json; options stand above the config", async () => {
    using world = livingWorld();
    configureNode(world, null, { agent_allow_write: true, node: { poll_lease_sec: 0, listen: "127.0.0.1:1" } });
    await using node = await startNode(world, {}, "--json", "--listen", "localhost:0");
    expect(JSON.parse(node.printed)).toEqual({
      ok: true,
      status: "ok",
      node_id: "n",
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      accepts_write: true,
      poll_lease_sec: 0,
      store_reset: false,
    });
  });

  test("does not listen beyond this machine without a token, whatever the config says", async () => {
    using world = livingWorld();
    configureNode(world, null, { node: { listen: "0.0.0.0:0" } });
    expect(shown(await serve(world))).toMatchInlineSnapshot(`
      "--- stderr
      Error: 0.0.0.0:0 is reached by other machines, and there is no token
      Type: export WRIT_NODE_TOKEN=$(openssl rand -hex 24)
      --- exit 2
      "
    `);
    for (const listen of ["[::]:0", "192.168.0.1:0", "node.example:0"]) {
      expect((await serve(world, ["--listen", listen])).exit).toBe(2);
    }
    expect((await serve(world, [], { WRIT_NODE_TOKEN: "short" })).exit).toBe(2);
    // Nothing was touched before that was clear.
    expect(readdirSync(world.folder)).not.toContain("data");
    await using node = await startNode(world, { WRIT_NODE_TOKEN: TOKEN });
    expect((await node.ask("GET", "/jobs")).status).toBe(200);
  });

  test("says that there is no token where the variable that the config names has none, and not where it has one", async () => {
    using world = livingWorld();
    configureNode(world, null, { node: { token_env: "GPU_TOKEN" } });
    await using open = await startNode(world);
    expect(await open.stop()).toBe(0);
    expect(open.talk).toContain(" no token (GPU_TOKEN is not set): whoever is on this machine ");
    await using shut = await startNode(world, { GPU_TOKEN: TOKEN });
    expect(await shut.stop()).toBe(0);
    expect(shut.talk).not.toContain("token");
  });

  test.skipIf(process.platform === "win32")(
    "says that others may use its data folder, as the doctor does",
    async () => {
      using world = livingWorld();
      configureNode(world, null);
      mkdirSync(world.data);
      chmodSync(world.data, 0o755);
      await using node = await startNode(world);
      expect(await node.stop()).toBe(0);
      expect(node.talk).toContain(` others may use the data folder (mode 755): chmod 700 '${world.data}'\n`);
      chmodSync(world.data, 0o700);
      await using alone = await startNode(world);
      expect(await alone.stop()).toBe(0);
      expect(alone.talk).not.toContain("chmod");
    },
  );

  test("takes no token for the name of a variable, and shows it to nobody", async () => {
    using world = livingWorld();
    const pasted = "abcdef0123456789abcdef0123456789abcdef0123456789";
    configureNode(world, null, { node: { token_env: pasted } });
    const file = ["--config", join(world.folder, "config.json")];
    const remote = JSON.stringify({ remotes: [{ url: "http://127.0.0.1:1", token_env: pasted }] });
    const ran = [await serve(world), await world.writ(["config", "check", ...file])];
    writeFileSync(join(world.folder, "config.json"), remote);
    for (const args of [
      ["config", "show"],
      ["config", "check", "--json"],
      ["doctor"],
      ["node", "status", "http://127.0.0.1:1"],
    ])
      ran.push(await world.writ([...args, ...file]));
    expect(ran.map(({ exit }) => exit)).toEqual([2, 1, 2, 1, 1, 2]);
    for (const each of ran) expect(shown(each)).not.toContain(pasted.slice(0, 12));
  });

  test("is alone on its folder and on its address", async () => {
    using world = livingWorld();
    using other = livingWorld();
    for (const each of [world, other]) configureNode(each, null);
    await using node = await startNode(world);
    const second = await serve(world, ["--json"]);
    expect([second.exit, documentOf(second).code]).toEqual([4, "node_running"]);
    const taken = await serve(other, ["--json", "--listen", new URL(node.url).host]);
    expect([taken.exit, documentOf(taken).code]).toEqual([4, "port_unavailable"]);
    expect(taken.stderr).not.toContain("stopped");
    // It gave everything back.
    expect(await (await startNode(other)).stop()).toBe(0);
    expect((await node.health()).ok).toBe(true);
  });

  test("does not begin with a config, a certificate or a folder that makes no sense", async () => {
    using world = livingWorld();
    configureNode(world, null, { node: { id: "local" } });
    expect((await serve(world)).exit).toBe(2);
    configureNode(world, null, { node: { tls_cert: "/not/there.pem", tls_key: "/not/there.key" } });
    const ran = await serve(world, ["--json"]);
    expect([ran.exit, documentOf(ran).code]).toEqual([2, "tls_unusable"]);
    configureNode(world, null);
    writeFileSync(world.data, "a file where the folder should be");
    expect((await serve(world)).exit).toBe(4);
    expect((await serve(world, ["--lisen", "x"])).exit).toBe(2);
  });

  test(
    "tells nobody the token, nor what was in a contract",
    async () => {
      using world = livingWorld();
      await using seat = await startScriptedSeat(SAY);
      configureNode(world, { url: seat.url });
      await using node = await startNode(world, { WRIT_NODE_TOKEN: TOKEN });
      await node.says(/seat s is served/);
      const { job_id, body } = submitOf(
        1,
        { goal: "a secret of the house" },
        { origin: "desk/1\u001b[31m\nforged line" },
      );
      expect((await node.ask("POST", "/jobs", body)).status).toBe(202);
      expect((await node.ask("POST", "/jobs", body.replace("secret", "secrets"))).status).toBe(202);
      await node.reach(job_id, "done");
      await node.stop();
      expect(node.talk).not.toMatch(/secret|correct-horse/);
      expect(node.talk).not.toContain("\u001b");
      expect(node.talk).not.toMatch(/^forged/m);
      for (const line of node.talk.trimEnd().split("\n")) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S/);
      expect(node.talk).toMatch(
        new RegExp(`job ${job_id} accepted[^]*\\n.*job ${job_id} starts on s\\n[^]*job ${job_id} done in`),
      );
    },
    LONG_MS,
  );

  test(
    "tells how its seats are as they come and go, in the record that placement reads",
    async () => {
      using world = livingWorld();
      await using seat = await startScriptedSeat(SAY);
      configureNode(world, { url: seat.url, more: { slots: 0, ctx_tokens: 0 } });
      await using node = await startNode(world);
      await node.says(/seat s is served/);
      const read = readHealth(JSON.stringify(await node.health()));
      expect(read).toMatchObject({
        kind: "record",
        record: {
          node_id: "n",
          max_running: 1,
          max_queue: 8,
          seats: [{ name: "s", served: true, loaded: true, slots: 1, ctx_tokens: 32_768, busy: 0 }],
        },
      });
    },
    LONG_MS,
  );

  test(
    "speaks TLS with its certificate",
    async () => {
      using world = livingWorld();
      const { cert, key } = selfSigned();
      const [certFile, keyFile] = [join(world.folder, "node.pem"), join(world.folder, "node.key")];
      writeFileSync(certFile, cert);
      writeFileSync(keyFile, key);
      configureNode(world, null, { node: { tls_cert: certFile, tls_key: keyFile } });
      await using node = await startNode(world);
      expect(node.url).toStartWith("https://127.0.0.1:");
      const remotes = [{ url: node.url, ca_file: certFile }];
      const config = join(world.folder, "delegator.json");
      writeFileSync(config, JSON.stringify({ remotes }));
      expect(await world.writ(["node", "status", node.url, "--config", config])).toMatchObject({ exit: 0 });
      const stranger = await world.writ(["node", "status", node.url, "--json"]);
      expect([stranger.exit, documentOf(stranger).code]).toEqual([4, "node_silent"]);
    },
    LONG_MS,
  );
});

describe("writ node status", () => {
  test(
    "shows how a node is",
    async () => {
      using world = livingWorld();
      await using seat = await startScriptedSeat(SAY);
      configureNode(world, { url: seat.url });
      await using node = await startNode(world, { WRIT_NODE_TOKEN: TOKEN });
      await node.says(/seat s is served/);
      const env = { WRIT_NODE_TOKEN: TOKEN };
      const ran = await world.writ(["node", "status", node.url], { env });
      expect(shown({ ...ran, stdout: ran.stdout.replace(node.url, "URL") })).toMatchInlineSnapshot(`
        "node             n
        at               URL
        state            serving
        protocol         1
        write door       closed
        running          0 of 1
        queued           0; with those that run 0 of 8
        a new job waits  about 0 s

        SEAT  MODEL          ENGINE     STATE   WINDOW  BUSY  TOK/S
        s     scripted/test  llama.cpp  served  16384   0/1   -
        --- exit 0
        "
      `);
      const json = documentOf(await world.writ(["node", "status", `${node.url}/`, "--json"], { env }));
      expect(json).toMatchObject({ ok: true, status: "ok", url: node.url, node_id: "n", store_reset: false });
    },
    LONG_MS,
  );

  test("ends in 3 where the token is not taken", async () => {
    using world = livingWorld();
    configureNode(world, null);
    await using node = await startNode(world, { WRIT_NODE_TOKEN: TOKEN });
    for (const env of [{}, { WRIT_NODE_TOKEN: `${TOKEN}x` }]) {
      const ran = await world.writ(["node", "status", node.url, "--json"], { env });
      expect([ran.exit, documentOf(ran).code]).toEqual([3, "node_refused"]);
    }
  });

  test("ends in 4 where no node answers", async () => {
    using world = livingWorld();
    await using page = await rawServer((asked) => respond(asked, 200, "<html>"));
    await using gone = await rawServer((asked) => respond(asked, 404, { error: "no" }));
    for (const url of [`http://127.0.0.1:${await deadPort()}`, page.url, gone.url]) {
      const ran = await world.writ(["node", "status", url, "--json"]);
      expect([ran.exit, documentOf(ran).code]).toEqual([4, "node_silent"]);
    }
    expect((await world.writ(["node", "status", "http://8.8.8.8"])).exit).toBe(2);
    expect((await world.writ(["node", "status"])).exit).toBe(2);
  });
});

test(
  "writ doctor finds nothing wrong with a node",
  async () => {
    using world = livingWorld();
    configureNode(world, null, { agent_allow_write: true });
    await using node = await startNode(world, { WRIT_NODE_TOKEN: TOKEN });
    const ran = await world.writ(["doctor", "--remote", node.url, "--json"], { env: { WRIT_NODE_TOKEN: TOKEN } });
    const { findings } = documentOf(ran) as unknown as {
      findings: { check: string; subject: string; outcome: string }[];
    };
    const remote = findings.filter(({ check }) => check.startsWith("remote"));
    expect(remote.map(({ subject, outcome }) => [subject, outcome])).toEqual([
      ["health", "PASS"],
      ["protocol", "PASS"],
      ["token", "PASS"],
      ["write door", "PASS"],
    ]);
  },
  LONG_MS,
);

test.each([
  ["", "gpu-a.example.net", "gpu-a.example.net"],
  ["", "my_host", "my_host"],
  ["", "-é host", "host"],
  ["", "x".repeat(80), "x".repeat(64)],
  ["named", "gpu-a", "named"],
])("a node that is called %j on the host %j is %j", (configured, host, id) => {
  expect(nodeIdOf(configured, host)).toBe(id);
});

test.each(["local", "LOCAL", "", "---"])("a host that is called %j needs another name for its node", (host) => {
  expect(() => nodeIdOf("", host)).toThrow(expect.objectContaining({ code: "bad_config" }));
});

test("the unit of docs/operating.md starts a command that there is, and stops it later than it needs", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/operating.md"), "utf8");
  expect(page).toContain("ExecStart=/usr/local/bin/writ node serve --listen");
  const stop = Number(/TimeoutStopSec=(\d+)/.exec(page)?.[1]);
  expect(stop).toBeGreaterThanOrEqual(30 + 10 + 2);
});
