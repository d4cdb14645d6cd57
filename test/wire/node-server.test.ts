import { describe, expect, test } from "bun:test";
import { WritError } from "../../src/core/error.ts";
import { readView } from "../../src/core/node/read-view.ts";
import { readHealth } from "../../src/core/placement/health.ts";
import { BEARER, liveNode, request, stage, statusOf, TOKEN, until } from "../support/live-node.ts";
import { doneResult, type Play, SEAT, submitAs, submitOf } from "../support/node-world.ts";

const NOBODY = `wrt-${"0".repeat(24)}`;
/** A request without a body and with just these headers. */
const bare = (method: string, path: string, headers: readonly string[]) =>
  `${method} ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`;
type Body = Record<string, unknown> & { readonly error?: Record<string, unknown> };
const read = async (response: Response) => ({ status: response.status, body: (await response.json()) as Body });

test.each(["", "200-ok", "x"])("an expectation that nobody knows is none: %p", async (expected) => {
  await using node = await liveNode();
  const client = await node.raw(bare("GET", "/writ/v1/health", ["Host: node", `Expect: ${expected}`]));
  const heard = await client.until(/\}$/);
  expect(statusOf(heard)).toBe(200);
  expect(heard).toEndWith('{"ok":true,"protocol":1}');
});

describe("the token", () => {
  const endpoints: readonly (readonly [string, string])[] = [
    ["GET", "/capabilities"],
    ["GET", "/jobs"],
    ["POST", "/jobs"],
    ["GET", `/jobs/${NOBODY}`],
    ["GET", `/jobs/${NOBODY}?wait=25`],
    ["GET", `/jobs/${NOBODY}/events`],
    ["GET", `/jobs/${NOBODY}/result`],
    ["DELETE", `/jobs/${NOBODY}`],
    ["GET", "/nothing"],
    ["PUT", "/jobs"],
    ["POST", "/health"],
  ];

  test.each(endpoints)(
    "comes before everything else: %s %s is 401 without it, and with another one",
    async (...ask) => {
      await using node = await liveNode();
      const [method, path] = ask;
      const body = method === "POST" ? "{no json" : undefined;
      for (const headers of [
        {},
        { Authorization: `Bearer ${TOKEN}x` },
        { Authorization: `Bearer ${TOKEN.slice(1)}` },
        { Authorization: TOKEN },
        { Authorization: `Basic ${TOKEN}` },
        { Authorization: "Bearer" },
      ]) {
        const response = await node.ask(method, path, body, headers as Record<string, string>);
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        expect(await read(response)).toEqual({
          status: 401,
          body: { error: { code: "unauthorized", path: null, message: expect.any(String), hint: null } },
        });
      }
    },
  );

  test("decides how much of the health is told", async () => {
    await using node = await liveNode();
    for (const headers of [{}, { Authorization: "Bearer wrong" }]) {
      const { status, body } = await read(
        await node.ask("GET", "/health", undefined, headers as Record<string, string>),
      );
      expect([status, body]).toEqual([200, { ok: true, protocol: 1 }]);
      expect(readHealth(JSON.stringify(body))).toEqual({ kind: "reduced" });
    }
    expect((await read(await node.ask("GET", "/health"))).body).toMatchObject({ ok: true, node_id: "n" });
  });

  test("is asked for before a body is read", async () => {
    await using node = await liveNode();
    const client = await node.raw(request("POST", "/writ/v1/jobs", ["Content-Length: 1000000000"]));
    expect(statusOf(await client.until(/\r\n\r\n\{.*\}/))).toBe(401);
    client.socket.destroy();
  });

  test("is nobody's business where there is none", async () => {
    await using node = await liveNode({ token: null });
    expect((await node.ask("GET", "/jobs")).status).toBe(200);
    expect((await node.ask("GET", "/jobs", undefined, { Authorization: "Bearer x" })).status).toBe(200);
  });

  test.each([
    ["a name that was made to lead here", ["Host: evil.example:18811"]],
    ["the name of another machine", ["Host: 192.168.1.4:18811"]],
    ["another site", ["Host: 127.0.0.1:18811", "Origin: https://evil.example"]],
    ["a page without a name", ["Host: 127.0.0.1:18811", "Origin: null"]],
    ["another site that only looks", ["Host: 127.0.0.1:18811", "Sec-Fetch-Site: cross-site"]],
    ["another port of this machine", ["Host: localhost:18811", "Sec-Fetch-Site: same-site"]],
  ])("where there is none, a page of %s is told nothing, and what it sends is no job", async (_, headers) => {
    await using node = await liveNode({ token: null });
    for (const [method, path] of [
      ["GET", "/health"],
      ["GET", "/jobs"],
      ["POST", "/jobs"],
      ["DELETE", "/jobs/wrt-0123456789abcdef01234567"],
    ] as const) {
      const more = method === "POST" ? ["Content-Type: application/json", "Content-Length: 0"] : [];
      const client = await node.raw(bare(method, `/writ/v1${path}`, [...headers, ...more, "Connection: close"]));
      const heard = await client.closed;
      expect(statusOf(heard)).toBe(421);
      expect(heard).toContain('"code":"misdirected"');
    }
  });

  test.each([
    ["127.0.0.1 under any port", ["Host: 127.0.0.1:9"]],
    ["localhost", ["Host: LocalHost"]],
    ["[::1]", ["Host: [::1]:18811"]],
    ["a person who types the address into a browser", ["Host: localhost:18811", "Sec-Fetch-Site: none"]],
  ])("where there is none, %s is answered", async (_, headers) => {
    await using node = await liveNode({ token: null });
    const client = await node.raw(bare("GET", "/writ/v1/jobs", [...headers, "Connection: close"]));
    expect(statusOf(await client.closed)).toBe(200);
  });

  test("where there is one, the name by which a node is reached is nobody's business", async () => {
    await using node = await liveNode();
    const headers = ["Host: gpu.example", `Authorization: Bearer ${TOKEN}`, "Connection: close"];
    const client = await node.raw(bare("GET", "/writ/v1/jobs", headers));
    expect(statusOf(await client.closed)).toBe(200);
  });
});

describe("what a node answers", () => {
  test("its health record is the one that placement reads", async () => {
    await using node = await liveNode({ seats: [{ ...SEAT, tok_s: 24.5 }] });
    const response = await node.ask("GET", "/health");
    const text = await response.text();
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(readHealth(text)).toEqual({ kind: "record", record: node.node.health() });
    expect(JSON.parse(text)).toMatchObject({
      ok: true,
      node_id: "n",
      protocol: 1,
      schema_versions: [1],
      draining: false,
      accepts_write: false,
      max_running: 1,
      running: 0,
      queued: 0,
      max_queue: 8,
      new_job_wait_sec: 0,
      recent_wall_sec: null,
      seats: [{ name: "s", engine: "llama.cpp", served: true, tok_s: 24.5 }],
    });
  });

  test("its capabilities name what it speaks", async () => {
    await using node = await liveNode({ settings: { agent_allow_write: true } });
    expect((await read(await node.ask("GET", "/capabilities"))).body).toEqual({
      protocol: 1,
      schema_versions: [1],
      writ_version: "0",
      limits: expect.objectContaining({ max_steps: 12, timeout_sec: 900, submit_bytes: 2 * 1024 * 1024 }),
      tools: ["list_dir", "read_file", "search_files", "write_file", "edit_file", "finish"],
      profiles: ["research", "general", "edit"],
      acceptance_verbs: [
        "contains",
        "not_contains",
        "regex",
        "min_items",
        "nonempty",
        "diff_touches",
        "diff_max_files",
      ],
      features: ["sse", "withdraw", "write"],
      accepts_write: true,
    });
  });

  test("a job from its acknowledgement to its result", async () => {
    const { play, end } = stage();
    await using node = await liveNode({ play });
    const { job_id, body } = submitOf(1);
    expect(await read(await node.ask("POST", "/jobs", body))).toMatchObject({
      status: 202,
      body: { job_id, state: "accepted", rev: 1, queue_position: 0, new_job_wait_sec: 0 },
    });
    expect(await read(await node.ask("GET", `/jobs/${job_id}/result`))).toMatchObject({
      status: 409,
      body: { error: { code: "not_done" } },
    });
    const running = await (await node.ask("GET", `/jobs/${job_id}`)).text();
    expect(readView(running)).toMatchObject({ ok: true, view: { job_id, state: "running", result: null } });
    expect(JSON.parse(running)).toMatchObject({ wall_sec: 300, restarts: 0, waits: { admission_sec: 0 } });
    const waiting = node.ask("GET", `/jobs/${job_id}?wait=25`);
    end(job_id);
    expect(await read(await waiting)).toMatchObject({ status: 200, body: { state: "done", result: { job_id } } });
    expect(await read(await node.ask("GET", `/jobs/${job_id}/result`))).toMatchObject({
      status: 200,
      body: { job_id, output: "done", node_id: "n" },
    });
    const { body: listed } = await read(await node.ask("GET", "/jobs"));
    expect(listed).toEqual({ jobs: [expect.objectContaining({ job_id, state: "done" })] });
    expect(JSON.stringify(listed)).not.toContain("output");
  });

  test("the last jobs, newest first, as many as are asked for", async () => {
    await using node = await liveNode();
    for (const n of [1, 2, 3]) await node.ask("POST", "/jobs", submitOf(n).body);
    const listed = async (query: string) =>
      ((await read(await node.ask("GET", `/jobs${query}`))).body.jobs as { job_id: string }[]).map(
        ({ job_id }) => job_id,
      );
    expect(await listed("?limit=2")).toEqual([submitOf(3).job_id, submitOf(2).job_id]);
    expect(await listed("")).toHaveLength(3);
    expect((await node.ask("GET", "/jobs?limit=-1")).status).toBe(400);
  });

  test("a poll holds until the job is past the revision that it names", async () => {
    const { play, end } = stage();
    await using node = await liveNode({ play });
    const [one, two] = [submitOf(1), submitOf(2)];
    for (const { body } of [one, two]) await node.ask("POST", "/jobs", body);
    expect((await read(await node.ask("GET", `/jobs/${two.job_id}?wait=25&since=0`))).body).toMatchObject({
      state: "accepted",
      rev: 1,
    });
    const polled = node.ask("GET", `/jobs/${two.job_id}?wait=25&since=1`);
    await until(() => node.server.held === 1);
    end(one.job_id);
    expect((await read(await polled)).body).toMatchObject({ state: "running" });
    // Nothing happens: the time that is asked for ends it, and one that is too long is cut.
    expect((await read(await node.ask("GET", `/jobs/${two.job_id}?wait=0.01`))).body).toMatchObject({
      state: "running",
    });
  });

  test.each<[string, string, number, string]>([
    ["GET", "/jobs/wrt-1", 404, "not_found"],
    ["GET", `/jobs/${NOBODY}`, 404, "not_found"],
    ["GET", `/jobs/${NOBODY}?wait=25`, 404, "not_found"],
    ["GET", `/jobs/${NOBODY}/events`, 404, "not_found"],
    ["GET", `/jobs/${NOBODY}/result`, 404, "not_found"],
    ["DELETE", `/jobs/${NOBODY}`, 404, "not_found"],
    ["DELETE", `/jobs/${NOBODY}?force=1`, 404, "not_found"],
    ["GET", "/nothing", 404, "not_found"],
    ["GET", `/jobs/${NOBODY}/events/more`, 404, "not_found"],
    ["GET", "/../health", 404, "not_found"],
    ["GET", "/../v2/health", 426, "protocol"],
    ["POST", "/../v2/jobs", 426, "protocol"],
    ["PUT", "/jobs", 405, "method_not_allowed"],
    ["DELETE", "/jobs", 405, "method_not_allowed"],
    ["POST", `/jobs/${NOBODY}`, 405, "method_not_allowed"],
    ["POST", "/health", 405, "method_not_allowed"],
    ["HEAD", "/health", 405, ""],
    ["OPTIONS", "/jobs", 405, "method_not_allowed"],
    ["GET", `/jobs/${NOBODY}?wait=soon`, 400, "bad_request"],
    ["GET", `/jobs/${NOBODY}?wait=1&since=-1`, 400, "bad_request"],
    ["DELETE", `/jobs/${NOBODY}?force=yes`, 400, "bad_request"],
  ])("%s %s is %i %s", async (method, path, status, code) => {
    await using node = await liveNode();
    const target = `/writ/v1${path}`.replace("/v1/..", "");
    const client = await node.raw(
      request(method, target, [BEARER, "Connection: close", "Origin: http://evil.example"]),
    );
    const heard = await client.closed;
    expect(statusOf(heard)).toBe(status);
    expect(heard).toContain("Content-Type: application/json");
    expect(heard).not.toMatch(/access-control/i);
    if (code !== "") {
      const { error } = JSON.parse(heard.slice(heard.indexOf("\r\n\r\n"))) as Body;
      expect(error).toEqual({ code, path: null, message: expect.any(String), hint: error?.hint ?? null });
    }
  });

  test("no name of a host leads anywhere else", async () => {
    await using node = await liveNode();
    for (const host of ["evil.example", "127.0.0.1:1", "[::1]"]) {
      const text = `GET /writ/v1/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      expect(await (await node.raw(text)).closed).toContain('{"ok":true,"protocol":1}');
    }
  });

  test("a defect is told to whoever operates it, and to nobody else", async () => {
    await using node = await liveNode();
    node.node.health = () => {
      throw new Error("secret of the house");
    };
    const response = await node.ask("GET", "/health");
    const { status, body } = await read(response);
    expect([status, body.error?.code, JSON.stringify(body).includes("secret")]).toEqual([500, "internal", false]);
    expect(node.defects).toEqual([expect.objectContaining({ message: "secret of the house" })]);
    node.node.health = () => {
      throw new WritError("store_failed", "no disk");
    };
    expect(await read(await node.ask("GET", "/health"))).toMatchObject({
      status: 507,
      body: { error: { code: "storage" } },
    });
  });
});

describe("a submit", () => {
  const [{ job_id, body }, other] = [submitOf(1), submitOf(2)];

  test.each<[string, string | Uint8Array<ArrayBuffer>, Record<string, string>, number, string]>([
    ["another type", body, { "Content-Type": "text/plain" }, 415, "unsupported_media_type"],
    ["another charset", body, { "Content-Type": "application/json; charset=utf-16" }, 415, "unsupported_media_type"],
    ["a packed body", body, { "Content-Encoding": "gzip" }, 415, "unsupported_media_type"],
    ["no JSON", "{", {}, 400, "bad_request"],
    ["no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), {}, 400, "bad_request"],
    ["a mark of byte order", `\ufeff${body}`, {}, 400, "bad_request"],
    ["a key given twice", `{"seat":"",${body.slice(1)}`.replace('"seat":""', '"job_id":"x"'), {}, 400, "bad_request"],
    ["an unknown key", `{"jobid":1,${body.slice(1)}`, {}, 400, "bad_request"],
    ["65 levels", "[".repeat(65) + "]".repeat(65), {}, 400, "bad_request"],
    ["another id", body.replace(job_id, "wrt-1"), {}, 400, "bad_job_id"],
    ["another hash", body.replace(/"contract_sha256":"./, '"contract_sha256":"g'), {}, 400, "hash_mismatch"],
    [
      "a version of later",
      submitOf(1, { schema_version: 1 }).body.replace('"schema_version":1', '"schema_version":2'),
      {},
      400,
      "schema_version",
    ],
    ["a second hop", body.replace('"depth":0', '"depth":1'), {}, 400, "hop"],
    ["a shut write door", submitOf(1, { write_root: "." }).body, {}, 400, "write_door_closed"],
    ["a profile that is not here", submitOf(1, { profile: "browse" }).body, {}, 400, "seat_unfit"],
    ["a seat that is not here", submitOf(1, {}, { seat: "z" }).body, {}, 400, "seat_unfit"],
    [
      "more than any window",
      submitOf(1, { context: [{ name: "a", text: "x".repeat(60_000) }] }).body,
      {},
      400,
      "seat_unfit",
    ],
  ])("with %s is refused, and nothing is stored", async (_what, given, headers, status, code) => {
    await using node = await liveNode();
    const response = await node.ask("POST", "/jobs", given, { Authorization: `Bearer ${TOKEN}`, ...headers });
    expect(await read(response)).toMatchObject({ status, body: { error: { code, path: null } } });
    expect(node.world.queue.recent(9)).toEqual([]);
  });

  test("with a contract that is not valid is told every issue", async () => {
    await using node = await liveNode();
    const { status, body } = await read(
      await node.ask("POST", "/jobs", submitAs(1, { goal: "x", output_schema: {}, acceptance: ["contians:x"] }).body),
    );
    expect(status).toBe(400);
    expect(body.error?.code).toBe("bad_contract");
    expect(body.error?.issues).toEqual([
      expect.objectContaining({ code: "output_schema", path: "/contract/output_schema" }),
      expect.objectContaining({ code: "acceptance", path: "/contract/acceptance/0" }),
    ]);
  });

  test("of a known id is acknowledged again, with the view of now; of another contract or a taken back job it is not", async () => {
    const { play, end } = stage();
    await using node = await liveNode({ play });
    await node.ask("POST", "/jobs", body);
    await node.ask("POST", "/jobs", other.body);
    expect(await read(await node.ask("POST", "/jobs", body))).toMatchObject({
      status: 202,
      body: { state: "running" },
    });
    const renamed = other.body.replace(other.job_id, job_id);
    expect(await read(await node.ask("POST", "/jobs", renamed))).toMatchObject({
      status: 409,
      body: { error: { code: "id_conflict" } },
    });
    await node.ask("DELETE", `/jobs/${other.job_id}`);
    expect(await read(await node.ask("POST", "/jobs", other.body))).toMatchObject({
      status: 409,
      body: { error: { code: "previously_failed" } },
    });
    const drained = node.node.drain(new AbortController().signal);
    const fresh = await node.ask("POST", "/jobs", submitOf(3).body);
    expect([fresh.status, fresh.headers.get("retry-after")]).toEqual([503, "10"]);
    expect((await read(fresh)).body.error).toMatchObject({ code: "draining" });
    expect(await read(await node.ask("POST", "/jobs", body))).toMatchObject({ status: 202 });
    end(job_id);
    await drained;
  });

  test("past the backlog is told when to come back, and past the disk that there is no room", async () => {
    let free = 1e12;
    await using node = await liveNode({ settings: { max_queue: 2 }, freeBytes: () => free });
    for (const n of [1, 2]) expect((await node.ask("POST", "/jobs", submitOf(n).body)).status).toBe(202);
    const full = await node.ask("POST", "/jobs", submitOf(3).body);
    expect([full.status, Number(full.headers.get("retry-after")) >= 1]).toEqual([503, true]);
    expect((await read(full)).body.error).toMatchObject({ code: "queue_full" });
    await node.ask("DELETE", `/jobs/${other.job_id}`);
    free = 1;
    expect(await read(await node.ask("POST", "/jobs", submitOf(3).body))).toMatchObject({
      status: 507,
      body: { error: { code: "storage" } },
    });
    free = 1e12;
    node.world.queue.submit = () => {
      throw new WritError("store_failed", "the disk is full");
    };
    expect(await read(await node.ask("POST", "/jobs", submitOf(4).body))).toMatchObject({
      status: 507,
      body: { error: { code: "storage" } },
    });
    expect(node.world.queue.find(submitOf(4).job_id)).toBeNull();
  });
});

describe("taking a job back", () => {
  test("works as long as it waits, and twice; a running one is stopped by force only; what ended stays", async () => {
    await using node = await liveNode();
    const [one, two] = [submitOf(1), submitOf(2)];
    for (const { body } of [one, two]) await node.ask("POST", "/jobs", body);
    for (let count = 0; count < 2; count += 1) {
      expect(await read(await node.ask("DELETE", `/jobs/${two.job_id}`))).toEqual({
        status: 200,
        body: { state: "canceled", withdrawn: true },
      });
    }
    expect(await read(await node.ask("DELETE", `/jobs/${one.job_id}`))).toMatchObject({
      status: 409,
      body: { error: { code: "running" }, state: "running", job_id: one.job_id },
    });
    expect(await read(await node.ask("DELETE", `/jobs/${one.job_id}?force=1`))).toMatchObject({
      status: 200,
      body: { state: "done", result: { deferred: true, defer_class: "canceled" } },
    });
    expect(await read(await node.ask("DELETE", `/jobs/${one.job_id}?force=1`))).toMatchObject({
      status: 409,
      body: { error: { code: "terminal" }, state: "done", result: { defer_class: "canceled" } },
    });
  });

  test("does not wait for a run that does not stop", async () => {
    const { promise: isStopped, resolve: stop } = Promise.withResolvers<void>();
    const play: Play = async (job) => {
      await isStopped;
      return doneResult(job);
    };
    await using node = await liveNode({ play, limits: { stop_ms: 20 } });
    const { job_id, body } = submitOf(1);
    await node.ask("POST", "/jobs", body);
    expect(await read(await node.ask("DELETE", `/jobs/${job_id}?force=1`))).toMatchObject({
      status: 200,
      body: { state: "running" },
    });
    stop();
  });
});
