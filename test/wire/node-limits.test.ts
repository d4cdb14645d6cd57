import { describe, expect, test } from "bun:test";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { WritError } from "../../src/core/error.ts";
import { SERVER_LIMITS, serveNode } from "../../src/wire/node-server.ts";
import { selfSigned } from "../support/certificate.ts";
import { BEARER, liveNode, request, stage, statusOf, TOKEN, until } from "../support/live-node.ts";
import { doneResult, type Play, submitOf } from "../support/node-world.ts";

const HEALTH = request("GET", "/writ/v1/health");
const SUBMIT = ["Content-Type: application/json", BEARER];
const ONE = submitOf(1);

/** Every limit holds with and without TLS: they are the door's, and the door is the same. */
const DOORS = [
  { door: "plain", tls: {} },
  { door: "TLS", tls: { tls: selfSigned() } },
] as const;

test("the limits are those of the specification", () => {
  expect(SERVER_LIMITS).toMatchObject({
    connections: 512,
    header_ms: 5_000,
    keep_alive_ms: 60_000,
    body_bytes: 2 * 1024 * 1024,
    body_ms: 30_000,
    held: 240,
    progress_ms: 250,
    ping_ms: 15_000,
  });
});

describe.each(DOORS)("a client of a $door node", ({ tls }) => {
  test.each([
    ["nothing", ""],
    ["half a line", "GET /wr"],
    ["half a header", "GET /writ/v1/health HTTP/1.1\r\nHost: node\r\n"],
  ])("that says %s is cut off", async (_what, text) => {
    await using node = await liveNode({ ...tls, limits: { header_ms: 60 } });
    const client = await node.raw(text);
    expect(await client.closed).toBe("");
  });

  test("that dribbles its header is cut off, also behind an answer", async () => {
    await using node = await liveNode({ ...tls, limits: { header_ms: 300 } });
    for (const hello of ["", HEALTH]) {
      const client = await node.raw(hello);
      if (hello !== "") await client.until(/"protocol":1\}$/);
      client.say("GET /writ/v1/health HTTP/1.1\r\n");
      const dribble = setInterval(() => client.say("X: y\r\n"), 5);
      expect((await client.closed).match(/HTTP\/1\.1/g) ?? []).toHaveLength(hello === "" ? 0 : 1);
      clearInterval(dribble);
    }
  });

  test("that says nothing more behind an answer is cut off; one that does is answered again", async () => {
    await using node = await liveNode({ ...tls, limits: { keep_alive_ms: 60 } });
    const client = await node.raw(HEALTH);
    await client.until(/"protocol":1\}$/);
    client.say(HEALTH);
    expect((await client.closed).match(/200 OK/g)).toHaveLength(2);
  });

  test("whose poll is held is not cut off by any of that, nor is one that follows", async () => {
    await using node = await liveNode({
      ...tls,
      limits: { header_ms: 300, keep_alive_ms: 300, body_ms: 300, answer_ms: 300 },
    });
    await node.ask("POST", "/jobs", ONE.body);
    const stream = await node.raw(request("GET", `/writ/v1/jobs/${ONE.job_id}/events`, [BEARER]));
    const poll = await node.raw(request("GET", `/writ/v1/jobs/${ONE.job_id}?wait=0.7`, [BEARER, "Connection: close"]));
    expect(statusOf(await poll.closed)).toBe(200);
    expect(node.server.held).toBe(1);
    stream.socket.destroy();
  });

  test("that dribbles its body is told so and cut off", async () => {
    await using node = await liveNode({ ...tls, limits: { body_ms: 80 } });
    const client = await node.raw(request("POST", "/writ/v1/jobs", [...SUBMIT, "Content-Length: 100000"]));
    const dribble = setInterval(() => client.say(" "), 5);
    const heard = await client.closed;
    clearInterval(dribble);
    expect(statusOf(heard)).toBe(408);
    expect(heard).toContain('{"error":{"code":"timeout","path":null,');
  });

  test("whose body is too large is told so, before it comes and while it comes", async () => {
    await using node = await liveNode({ ...tls, limits: { body_bytes: 1000 } });
    const announced = await node.raw(request("POST", "/writ/v1/jobs", [...SUBMIT, "Content-Length: 1001"]));
    expect(statusOf(await announced.until(/too_large/))).toBe(413);
    announced.socket.destroy();
    const piece = `190\r\n${"x".repeat(400)}\r\n`;
    const chunked = await node.raw(
      request("POST", "/writ/v1/jobs", [...SUBMIT, "Transfer-Encoding: chunked"], piece + piece + piece),
    );
    expect(statusOf(await chunked.until(/too_large/))).toBe(413);
    chunked.socket.destroy();
    const fitting = await node.ask("POST", "/jobs", " ".repeat(1000));
    expect(fitting.status).toBe(400);
  });

  test("that goes on and on sending what nobody wants is cut off", async () => {
    await using node = await liveNode({ ...tls, limits: { body_bytes: 1000, header_ms: 300 } });
    for (const headers of [SUBMIT, []]) {
      const client = await node.raw(request("POST", "/writ/v1/jobs", [...headers, "Transfer-Encoding: chunked"]));
      const flood = setInterval(() => client.say(`190\r\n${"x".repeat(400)}\r\n`), 2);
      expect(statusOf(await client.closed)).toBe(headers.length === 0 ? 401 : 413);
      clearInterval(flood);
    }
  });

  test("that finds no room is not let in, until somebody leaves", async () => {
    await using node = await liveNode({ ...tls, limits: { connections: 3 } });
    // Those who say nothing count as well.
    const inside = [await node.raw(HEALTH), await node.raw(), await node.raw()];
    await inside[0]?.until(/"protocol":1\}$/);
    const heard = await (await node.raw(HEALTH)).closed;
    if ("tls" in tls) expect(heard).toBe("");
    else expect([statusOf(heard), heard.includes('"code":"too_many_connections"')]).toEqual([503, true]);
    inside[1]?.socket.destroy();
    for (let tries = 0; ; tries += 1) {
      const client = await node.raw(HEALTH);
      const answer = await Promise.race([client.until(/"protocol":1\}$/), client.closed]).catch(() => "");
      client.socket.destroy();
      if (statusOf(answer) === 200) break;
      expect(tries).toBeLessThan(1000);
    }
    for (const { socket } of inside) socket.destroy();
  });

  test("that does not take its answer is cut off", async () => {
    const play: Play = async (job) => doneResult(job, { output: "x".repeat(12_000_000) });
    await using node = await liveNode({ ...tls, play, limits: { answer_ms: 100 } });
    await node.ask("POST", "/jobs", ONE.body);
    for (const path of [`/writ/v1/jobs/${ONE.job_id}`, `/writ/v1/jobs/${ONE.job_id}/events`]) {
      const client = await node.raw();
      client.socket.pause();
      client.say(request("GET", path, [BEARER]));
      await until(() => node.server.connections === 0);
      client.socket.destroy();
    }
  });

  test("that is gone is not waited for", async () => {
    await using node = await liveNode({ ...tls });
    await node.ask("POST", "/jobs", ONE.body);
    for (const path of [`/writ/v1/jobs/${ONE.job_id}?wait=25`, `/writ/v1/jobs/${ONE.job_id}/events`]) {
      const client = await node.raw(request("GET", path, [BEARER]));
      await until(() => node.server.held === 1);
      client.socket.destroy();
      await until(() => node.server.held === 0);
    }
  });

  test("that sends one request behind the other is answered in order", async () => {
    await using node = await liveNode({ ...tls });
    const client = await node.raw(
      HEALTH + request("GET", "/writ/v1/jobs", [BEARER]) + request("GET", "/nothing", [BEARER, "Connection: close"]),
    );
    expect([...(await client.closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      "200",
      "200",
      "404",
    ]);
  });

  test.each([
    ["no HTTP", "\x01\x02\x03\r\n\r\n", 400],
    ["a header that is too long", request("GET", "/writ/v1/health", [`X: ${"y".repeat(20_000)}`]), 431],
    [
      "two lengths of one body",
      request("POST", "/writ/v1/jobs", ["Content-Length: 5", "Transfer-Encoding: chunked"], "0\r\n\r\n"),
      400,
    ],
    ["a tunnel", "CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400],
  ])("that sends %s is told so and cut off", async (_what, text, status) => {
    await using node = await liveNode({ ...tls });
    const heard = await (await node.raw(text)).closed;
    expect(statusOf(heard)).toBe(status);
    expect(heard).toContain('{"error":{"code":"bad_request"');
    expect(node.defects).toEqual([]);
  });
});

describe("TLS", () => {
  const { cert, key } = selfSigned();
  const pkcs8 = { type: "pkcs8", format: "pem" } as const;
  const rsaKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(pkcs8).toString();
  const lock = { cipher: "aes-256-cbc", passphrase: "nobody knows" };
  const lockedKey = createPrivateKey(key)
    .export({ ...pkcs8, ...lock })
    .toString();

  test("serves whoever holds the certificate against the right one", async () => {
    await using node = await liveNode({ tls: { cert, key } });
    const answer = await fetch(`${node.base}/health`, {
      tls: { ca: cert },
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    expect(await answer.json()).toMatchObject({ ok: true, node_id: "n" });
    await expect(fetch(`${node.base}/health`, { tls: { ca: selfSigned().cert } })).rejects.toThrow();
  });

  test("shakes hands within the time of a header, or not at all", async () => {
    await using node = await liveNode({ tls: { cert, key }, limits: { header_ms: 60 } });
    for (const text of ["", "\x16\x03\x01\x02\x00\x01", HEALTH]) {
      const client = await node.rawPlain(text);
      expect(statusOf(await client.closed)).toBe(0);
    }
    expect(node.defects).toEqual([]);
  });

  test.each([
    ["no certificate", { cert: "no certificate", key }, "one of them holds no PEM text of its kind"],
    ["an empty certificate", { cert: "", key }, "one of them holds no PEM text of its kind"],
    ["no key", { cert, key: "no key" }, "one of them holds no PEM text of its kind"],
    ["the key in the place of the certificate", { cert: key, key: cert }, "one of them holds no PEM text of its kind"],
    ["the key of another one", { cert, key: selfSigned().key }, "the key is that of another certificate"],
    ["a key of another kind", { cert, key: rsaKey }, "the key is that of another certificate"],
    ["a key with a password", { cert, key: lockedKey }, "the key is encrypted, and nobody is asked for its password"],
    ["half a key", { cert, key: key.slice(0, 60) }, "one of them is damaged (PEM_BAD_END_LINE)"],
  ])("does not begin with %s", async (_what, tls, why) => {
    const message = `The certificate and the key of the node cannot be used: ${why}`;
    await expect(liveNode({ tls })).rejects.toMatchObject({ code: "tls_unusable", message });
  });
});

describe("polls and streams", () => {
  test("are held up to a number; past it a poll is answered at once and a stream is refused", async () => {
    await using node = await liveNode({ limits: { held: 2 } });
    await node.ask("POST", "/jobs", ONE.body);
    const path = `/jobs/${ONE.job_id}`;
    const stop = new AbortController();
    const held = [1, 2].map(() =>
      fetch(`${node.base}${path}?wait=25`, { headers: bearer, signal: stop.signal }).catch(() => null),
    );
    await until(() => node.server.held === 2);
    expect(await (await node.ask("GET", `${path}?wait=25`)).json()).toMatchObject({ state: "running" });
    const refused = await node.ask("GET", `${path}/events`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    expect(await refused.json()).toMatchObject({ error: { code: "too_many_streams" } });
    stop.abort();
    await Promise.all(held);
    await until(() => node.server.held === 0);
    const stream = await node.raw(request("GET", `/writ/v1${path}/events`, [BEARER]));
    expect(await stream.until(/event: state/)).toContain("text/event-stream");
    stream.socket.destroy();
  });

  test("200 of them at once are each told of the change that they wait for", async () => {
    const { play, end } = stage();
    await using node = await liveNode({ play });
    await node.ask("POST", "/jobs", ONE.body);
    const rev = node.node.view(ONE.job_id)?.rev ?? 0;
    const polls = Array.from({ length: 200 }, () => node.ask("GET", `/jobs/${ONE.job_id}?wait=25&since=${rev}`));
    await until(() => node.server.held === 200);
    end(ONE.job_id);
    const views = await Promise.all(polls.map(async (poll) => (await (await poll).json()) as { state: string }));
    expect(new Set(views.map(({ state }) => state))).toEqual(new Set(["done"]));
    expect(node.server.held).toBe(0);
  });

  test("are told each state, progress at its pace, and the end", async () => {
    const { play, end, tell } = stage();
    await using node = await liveNode({ play, limits: { progress_ms: 1e9 } });
    const two = submitOf(2);
    for (const { body } of [ONE, two]) await node.ask("POST", "/jobs", body);
    const stream = await node.raw(request("GET", `/writ/v1/jobs/${two.job_id}/events`, [BEARER, "Connection: close"]));
    await stream.until(/"accepted"/);
    end(ONE.job_id);
    await stream.until(/"running"/);
    tell(two.job_id, 1);
    end(two.job_id);
    const events = eventsIn(await stream.closed);
    expect(events.map(({ event, state }) => [event, state])).toEqual([
      ["state", "accepted"],
      ["state", "running"],
      ["done", "done"],
    ]);
    expect(events.map(({ id, rev }) => id === String(rev))).toEqual([true, true, true]);
    expect(events[2]?.result).toMatchObject({ job_id: two.job_id });
  });

  test("are told of progress that came too fast once the pace allows it, as it is then", async () => {
    const { play, tell } = stage();
    await using node = await liveNode({ play, limits: { progress_ms: 300 } });
    await node.ask("POST", "/jobs", ONE.body);
    const stream = await node.raw(request("GET", `/writ/v1/jobs/${ONE.job_id}/events`, [BEARER, "Last-Event-ID: 7"]));
    await stream.until(/"running"/);
    tell(ONE.job_id, 1);
    await until(() => node.node.view(ONE.job_id)?.progress?.step === 1);
    tell(ONE.job_id, 2);
    await stream.until(/"step":2/);
    const events = eventsIn(stream.heard);
    expect(events.map(({ event }) => event)).toEqual(["state", "progress"]);
    stream.socket.destroy();
  });

  test("of a job that has ended are told so at once; those of a quiet one hear that somebody is there", async () => {
    const { play, end } = stage();
    await using node = await liveNode({ play, limits: { ping_ms: 20 } });
    await node.ask("POST", "/jobs", ONE.body);
    const quiet = await node.raw(request("GET", `/writ/v1/jobs/${ONE.job_id}/events`, [BEARER, "Connection: close"]));
    await quiet.until(/(?:: ping\n\n[^:]*){2}/);
    end(ONE.job_id);
    await quiet.closed;
    const late = await node.raw(request("GET", `/writ/v1/jobs/${ONE.job_id}/events`, [BEARER, "Connection: close"]));
    expect(eventsIn(await late.closed).map(({ event }) => event)).toEqual(["done"]);
  });

  test("of a job that is taken back end, and so do those of one that nobody can look at", async () => {
    const { play, tell } = stage();
    await using node = await liveNode({ play });
    const two = submitOf(2);
    for (const { body } of [ONE, two]) await node.ask("POST", "/jobs", body);
    const stream = await node.raw(request("GET", `/writ/v1/jobs/${two.job_id}/events`, [BEARER, "Connection: close"]));
    await stream.until(/"accepted"/);
    await node.ask("DELETE", `/jobs/${two.job_id}`);
    expect(eventsIn(await stream.closed).at(-1)).toMatchObject({ event: "done", state: "canceled" });
    const lost = await node.raw(request("GET", `/writ/v1/jobs/${ONE.job_id}/events`, [BEARER, "Connection: close"]));
    await lost.until(/"running"/);
    node.world.queue.find = () => {
      throw new WritError("store_failed", "no disk");
    };
    tell(ONE.job_id, 1);
    expect(eventsIn(await lost.closed)).toHaveLength(1);
    expect(node.defects).toEqual([expect.objectContaining({ code: "store_failed" })]);
  });
});

describe("a node that closes", () => {
  test("answers polls as it is, ends streams, and cuts who is still at it", async () => {
    await using node = await liveNode({ limits: { close_ms: 200 } });
    await node.ask("POST", "/jobs", ONE.body);
    const [poll, stream, sending, silent] = [
      await node.raw(request("GET", `/writ/v1/jobs/${ONE.job_id}?wait=25`, [BEARER])),
      await node.raw(request("GET", `/writ/v1/jobs/${ONE.job_id}/events`, [BEARER])),
      await node.raw(request("POST", "/writ/v1/jobs", [...SUBMIT, "Content-Length: 5"])),
      await node.raw(),
    ];
    await until(() => node.server.held === 2);
    await node.server.close();
    expect(await poll.closed).toContain('"state":"running"');
    expect(await stream.closed).toMatch(/event: state[\s\S]*\r\n0\r\n\r\n$/);
    expect([await sending.closed, await silent.closed]).toEqual(["", ""]);
    await expect(node.ask("GET", "/health")).rejects.toThrow();
  });

  test("does not begin on a port that is taken", async () => {
    await using node = await liveNode();
    const again = serveNode({
      service: node.node,
      capabilities: {},
      host: "127.0.0.1",
      port: node.server.port,
      token: null,
      tls: null,
      onDefect: () => {},
    });
    await expect(again).rejects.toMatchObject({ code: "port_unavailable" });
  });
});

const bearer = { Authorization: `Bearer ${TOKEN}` };

type Event = {
  readonly event: string;
  readonly id: string;
  readonly state: string;
  readonly rev: number;
  readonly result?: object;
};

/** The events of a raw answer, whose chunks are one event each. */
function eventsIn(heard: string): readonly Event[] {
  return [...heard.matchAll(/event: (\w+)\nid: (\d+)\ndata: (\{.*\})\n\n/g)].map(
    ([, event = "", id = "", data = "{}"]) => ({
      ...(JSON.parse(data) as Omit<Event, "event" | "id">),
      event,
      id,
    }),
  );
}
