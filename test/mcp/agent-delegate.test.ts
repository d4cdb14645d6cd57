import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";
import { tool } from "../../src/mcp/agent-delegate.ts";
import { tool as result } from "../../src/mcp/delegation-result.ts";
import type { Progress } from "../../src/mcp/tool.ts";
import { objectOf, scriptedDelegation } from "../support/delegation.ts";
import { scriptedLocal, scriptedRemote } from "../support/scripted-place.ts";

const ONE = { goal: "how many pallets?" };
const SCHEMA = { type: "object", properties: { n: { type: "string" } }, required: ["n"] };
const FORMED = { ...ONE, output_schema: SCHEMA };

const legsOf = (document: JsonObject) => document.results as readonly JsonObject[];
const issuesOf = (document: JsonObject) =>
  (document.issues as readonly JsonObject[]).map(({ code, path }) => [code, path]);

/** The input schema as the specification has it (delegation run, section 9.1). */
const SPECIFIED = `{"type":"object","additionalProperties":false,"required":["subtasks"],"properties":{
 "subtasks":{"type":"array","minItems":1,"maxItems":8,"items":{"type":"object","required":["goal"],"properties":{
   "goal":{"type":"string"},
   "context_paths":{"type":"array","items":{"type":"string"},"maxItems":16},
   "context":{"type":"array","maxItems":16,"items":{"type":"object","required":["name","text"],"properties":{"name":{"type":"string"},"text":{"type":"string"}}}},
   "output_schema":{"type":"object"},
   "acceptance":{"type":"array","items":{"type":"string"}},
   "profile":{"type":"string","description":"research (default), general or edit"},
   "thinking":{"type":"string","description":"auto (default), on or off"},
   "max_steps":{"type":"integer"},"timeout_sec":{"type":"integer"},
   "write_root":{"type":"string"}}}},
 "route":{"type":"string","enum":["auto","local","remote","spread"],"default":"auto"},
 "pin_reason":{"type":"string"},
 "remotes":{"type":"array","items":{"type":"string"}},
 "seat":{"type":"string"},
 "read_root":{"type":"string"},
 "fingerprint":{"type":"boolean"},
 "wait_sec":{"type":"integer","description":"answer with a handle after this many seconds; default 50"},
 "deadline_sec":{"type":"integer"}}}`;

test("clients see the schema of the specification", () => {
  expect(tool.inputSchema).toEqual(JSON.parse(SPECIFIED));
});

describe("agent_delegate", () => {
  test("answers with the result document", async () => {
    const { call } = scriptedDelegation({});
    const answer = await call(tool, { subtasks: [{ ...ONE, acceptance: ["contains:412"] }, ONE] });
    expect(answer.isError).toBeFalse();
    expect(Object.keys(objectOf(answer))).toEqual([
      "ok",
      "schema_version",
      "run_id",
      "summary",
      "results",
      "writ_version",
      "started_at",
      "wall_ms",
    ]);
    expect(objectOf(answer)).toMatchObject({ ok: true, summary: { succeeded: 2 }, wall_ms: 1000 });
    expect(legsOf(objectOf(answer)).map(({ index, status }) => [index, status])).toEqual([
      [0, "succeeded"],
      [1, "succeeded"],
    ]);
  });

  test("keeps a structured result as the seat wrote it in the text", async () => {
    const structured = '{"n":"412", "exact":1.50}';
    const local = (clock: Parameters<typeof scriptedLocal>[0]) =>
      scriptedLocal(clock, [{ result: { structured, repack: { mode: "lossless", attempts: 1, ms: 1 } } }]);
    const { call } = scriptedDelegation({ local });
    const answer = await call(tool, {
      subtasks: [{ ...ONE, output_schema: { type: "object", properties: { n: {}, exact: {} } } }],
    });
    expect(answer.text).toContain(`"structured":${structured}`);
  });

  test("tells of everything that is wrong with its arguments at once", async () => {
    const { call, local } = scriptedDelegation({
      remotes: (clock) => [scriptedRemote(clock, "http://10.0.0.1:1", [{}])],
    });
    const answer = await call(tool, {
      subtasks: [ONE],
      route: "local",
      pin_reason: "because",
      seat: "pol",
      remotes: ["http://10.0.0.1:1/", "http://10.0.0.2:1", "nonsense"],
      wait_sec: -1,
      deadline_sec: 1501,
    });
    expect(answer.isError).toBeTrue();
    expect(objectOf(answer)).toMatchObject({ ok: false, status: "error", code: "bad_input", path: null });
    expect(issuesOf(objectOf(answer))).toEqual([
      ["bad_argument", "/pin_reason"],
      ["bad_argument", "/seat"],
      ["bad_argument", "/remotes/1"],
      ["bad_argument", "/remotes/2"],
      ["bad_argument", "/deadline_sec"],
      ["bad_argument", "/wait_sec"],
    ]);
    expect(answer.text).not.toContain("10.0.0.2");
    expect(local?.stage.handed).toEqual([]);
    expect(issuesOf(objectOf(await call(tool, { subtask: [ONE], route: "here" })))).toEqual([
      ["unknown_argument", "/subtask"],
      ["bad_argument", "/route"],
      ["missing_argument", "/subtasks"],
    ]);
  });

  test("tells of every issue of every subtask at once, and runs none of them", async () => {
    const { call, local, saved } = scriptedDelegation({});
    const answer = await call(tool, { subtasks: [ONE, { goal: "", acceptance: ["contans:x"] }, { goal: 7 }] });
    expect(answer.isError).toBeTrue();
    expect(objectOf(answer)).toMatchObject({
      ok: false,
      status: "error",
      code: "bad_contract",
      path: null,
      hint: null,
    });
    expect(issuesOf(objectOf(answer))).toEqual([
      ["type_mismatch", "/subtasks/2/goal"],
      ["goal_required", "/subtasks/1/goal"],
      ["acceptance", "/subtasks/1/acceptance/0"],
    ]);
    expect([local?.stage.handed, saved]).toEqual([[], []]);
  });

  test("takes unknown members of a subtask, and those that are minted here, without a word", async () => {
    const { call } = scriptedDelegation({});
    const answer = await call(tool, { subtasks: [{ ...ONE, schema_version: 9, depth: 3, colour: "red" }] });
    expect(objectOf(answer)).toMatchObject({ summary: { succeeded: 1 } });
  });

  test("sends legs only to nodes of the config, those that the call chose, in its order", async () => {
    const urls = ["http://10.0.0.1:1", "http://10.0.0.2:1", "http://10.0.0.3:1"];
    const { call, remotes } = scriptedDelegation({
      local: () => null,
      remotes: (clock) => urls.map((url) => scriptedRemote(clock, url, [{}])),
    });
    const ask = { subtasks: [FORMED], remotes: ["http://10.0.0.3:1", "http://10.0.0.2:1/", "HTTP://10.0.0.2:1"] };
    await call(tool, ask);
    expect(remotes.map(({ probes }) => probes.length > 0)).toEqual([false, true, true]);
    await call(tool, { subtasks: [FORMED], remotes: [] });
    expect(remotes[0]?.probes).toEqual([]);
  });

  test("leaves this machine out for a seat that is none here", async () => {
    const { call, local } = scriptedDelegation({});
    const answer = await call(tool, { subtasks: [ONE], seat: "elsewhere" });
    expect(local?.stage.handed).toEqual([]);
    expect(objectOf(answer)).toMatchObject({ summary: { deferred: 1 } });
    await call(tool, { subtasks: [ONE], seat: "pool", route: "local", pin_reason: "privacy" });
    expect(local?.stage.handed).toHaveLength(1);
  });

  test("adds a fingerprint where one is asked for", async () => {
    const text = "Rotterdam warehouse pallets moved between several harbour terminals yesterday evening.";
    const subtasks = [{ ...ONE, context: [{ name: "a.md", text }] }];
    const { call, saved } = scriptedDelegation({});
    await call(tool, { subtasks, fingerprint: true });
    expect(saved.at(-1)).toContain("docanchor");
    await call(tool, { subtasks });
    expect(saved.at(-1)).not.toContain("docanchor");
  });

  test("is an error only where nothing succeeded and something failed or was lost", async () => {
    const failing = { outcome: { kind: "failed", reason: "internal: broken" } } as const;
    const lost = {
      result: { deferred: true, defer_class: "infrastructure", reason: "seat contended: x", output: "" },
    } as const;
    const honest = {
      result: { deferred: true, defer_class: "budget", reason: "wall timeout after 1s", output: "" },
    } as const;
    const isError = async (...plays: readonly object[]) => {
      const { call } = scriptedDelegation({ local: (clock) => scriptedLocal(clock, plays) });
      const answer = await call(tool, { subtasks: plays.map(() => ONE), route: "local", pin_reason: "privacy" });
      expect(objectOf(answer).ok).toBe(!answer.isError);
      return answer.isError;
    };
    expect(await isError({})).toBeFalse();
    expect(await isError(failing)).toBeTrue();
    expect(await isError(lost)).toBeTrue();
    expect(await isError(honest)).toBeFalse();
    expect(await isError({}, failing)).toBeFalse();
    expect(await isError(honest, lost)).toBeTrue();
  });
});

describe("a call that takes longer than its client waits", () => {
  const slow = { local: (clock: Parameters<typeof scriptedLocal>[0]) => scriptedLocal(clock, [{ takes_ms: 70_000 }]) };

  test("is answered with a handle after 50 s, goes on, and is waited for", async () => {
    const { call, clock } = scriptedDelegation(slow, { limits: { width: 2 } });
    const answer = await call(tool, { subtasks: [ONE, ONE, ONE] });
    expect(clock.ms()).toBe(50_000);
    expect([answer.isError, objectOf(answer)]).toEqual([
      false,
      {
        ok: true,
        status: "running",
        run_id: "run-000000000000000000000001",
        legs: 3,
        done: 0,
        summary: { succeeded: 0, deferred: 0, failed_verification: 0, failed: 0, infrastructure: 0 },
        hint: "call delegation_result with this run_id",
      },
    ]);
    const { run_id } = objectOf(answer);
    expect(objectOf(await call(result, { run_id, wait_sec: 20 }))).toMatchObject({ status: "running", done: 2 });
    expect(clock.ms()).toBe(70_000);
    expect(objectOf(await call(result, { run_id, wait_sec: 0 }))).toMatchObject({ status: "running" });
    expect(objectOf(await call(result, { run_id }))).toMatchObject({ status: "running" });
    expect(clock.ms()).toBe(120_000);
    expect(objectOf(await call(result, { run_id }))).toMatchObject({ ok: true, run_id, summary: { succeeded: 3 } });
    expect(clock.ms()).toBe(140_000);
    expect(objectOf(await call(result, { run_id }))).toMatchObject({ summary: { succeeded: 3 } });
  });

  test("is answered at once with wait_sec 0, when it is on record", async () => {
    const { call, clock, saved } = scriptedDelegation(slow);
    const answer = await call(tool, { subtasks: [ONE, ONE], wait_sec: 0 });
    expect(clock.ms()).toBe(0);
    expect(objectOf(answer)).toMatchObject({ status: "running" });
    const record = JSON.parse(saved[0] ?? "") as JsonObject;
    expect(record).toMatchObject({
      run_id: objectOf(answer).run_id ?? "",
      results: [],
      record: { legs: 2, ended: false, pid: 4121, argv: ["writ", "mcp", "agent_delegate"] },
    });
  });

  test("is waited for as long as its clients wait, where nobody says how long", async () => {
    const { call, clock } = scriptedDelegation(slow, { limits: { mcp_wait_sec: 7 } });
    const { run_id } = objectOf(await call(tool, { subtasks: [ONE], wait_sec: 0 }));
    expect(objectOf(await call(result, { run_id }))).toMatchObject({ status: "running" });
    expect(clock.ms()).toBe(7000);
  });

  test("waits as long as the config says, and to the deadline where that is 0", async () => {
    const short = scriptedDelegation(slow, { limits: { mcp_wait_sec: 7 } });
    expect(objectOf(await short.call(tool, { subtasks: [ONE] }))).toMatchObject({ status: "running" });
    expect(short.clock.ms()).toBe(7000);
    const held = scriptedDelegation(slow, { limits: { mcp_wait_sec: 0 } });
    expect(objectOf(await held.call(tool, { subtasks: [ONE] }))).toMatchObject({ summary: { succeeded: 1 } });
    expect(objectOf(await held.call(tool, { subtasks: [ONE], wait_sec: 1 }))).toMatchObject({ status: "running" });
  });

  test("ends at its deadline with what it has", async () => {
    const { call, clock } = scriptedDelegation(slow, { limits: { mcp_wait_sec: 0, width: 2 } });
    const answer = await call(tool, { subtasks: [ONE, ONE, ONE], deadline_sec: 100 });
    expect(objectOf(answer)).toMatchObject({ summary: { succeeded: 2, deferred: 1 } });
    expect(legsOf(objectOf(answer))[2]).toMatchObject({
      defer_class: "budget",
      reason: expect.stringMatching(/^call deadline reached; 1 unfinished; /),
    });
    expect(clock.ms()).toBeLessThanOrEqual(110_000);
  });

  test("has the deadline of the config where it names none", async () => {
    const { call, clock } = scriptedDelegation(slow, { limits: { mcp_wait_sec: 0, call_deadline_sec: 30 } });
    expect(legsOf(objectOf(await call(tool, { subtasks: [ONE] })))[0]).toMatchObject({ defer_class: "budget" });
    expect(clock.ms()).toBeLessThanOrEqual(40_000);
  });

  test("is cancelled with its request as long as that has no answer, and not any more behind it", async () => {
    const { call, clock, start } = scriptedDelegation(slow);
    const gone = new AbortController();
    const running = start(tool, { subtasks: [ONE] }, { signal: gone.signal });
    await clock.drive(clock.sleep(1000, new AbortController().signal));
    gone.abort();
    expect(legsOf(objectOf(await clock.drive(running)))[0]).toMatchObject({
      status: "deferred",
      defer_class: "canceled",
    });

    const later = new AbortController();
    const handle = objectOf(await call(tool, { subtasks: [ONE], wait_sec: 1 }, { signal: later.signal }));
    later.abort();
    await call(result, { run_id: handle.run_id });
    expect(objectOf(await call(result, { run_id: handle.run_id }))).toMatchObject({ summary: { succeeded: 1 } });
  });

  test("that was cancelled before it began is published all the same", async () => {
    const { call, local } = scriptedDelegation(slow);
    const answer = await call(tool, { subtasks: [ONE] }, { signal: AbortSignal.abort() });
    expect(legsOf(objectOf(answer))[0]).toMatchObject({
      reason: "canceled by the caller; never placed",
      defer_class: "canceled",
    });
    expect(local?.stage.handed).toEqual([]);
  });
});

describe("what a client is told of a call that goes on", () => {
  test("is one message at the start, one for each change of a leg, one every 15 s, each further on", async () => {
    const told: Progress[] = [];
    const { call } = scriptedDelegation({
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 40_000 }, { takes_ms: 10_000 }]),
    });
    await call(tool, { subtasks: [ONE, ONE] }, { told });
    expect(told.map(({ message }) => message)).toEqual([
      "0/2 done",
      "0/2 done; leg 1 local/pool starting",
      "0/2 done; leg 1 local/pool step 1/12 thinking",
      "0/2 done; leg 2 local/pool starting",
      "0/2 done; leg 2 local/pool step 1/12 thinking",
      "1/2 done; leg 2 local/pool done succeeded",
      "1/2 done; leg 1 local/pool step 1/12 thinking",
      "1/2 done; leg 1 local/pool step 1/12 thinking",
      "2/2 done; leg 1 local/pool done succeeded",
    ]);
    const steps = told.map(({ progress }) => progress);
    expect(steps).toEqual(steps.toSorted((left, right) => left - right));
    expect(new Set(steps).size).toBe(steps.length);
    expect(told.every(({ progress, total }) => total === 2 && progress <= 2)).toBeTrue();
    expect(steps.at(-1)).toBe(2);
  });

  test("ends with the answer, though the call goes on", async () => {
    const told: Progress[] = [];
    const { call, clock, calls } = scriptedDelegation({
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 40_000 }]),
    });
    await call(tool, { subtasks: [ONE], wait_sec: 1 }, { told });
    const before = told.length;
    const [live] = calls.list();
    if (live === undefined) throw new Error("it has ended");
    await clock.drive(live.ended);
    expect(told.length).toBe(before);
  });
});

describe("the documents of a call", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "writ-mcp-"));
    mkdirSync(join(folder, "docs"));
    writeFileSync(join(folder, "docs", "a.md"), "412 pallets");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("are read below the read root, which the call may name", async () => {
    const { call, local } = scriptedDelegation({}, {}, folder);
    await call(tool, { subtasks: [{ ...ONE, context_paths: ["docs/a.md"] }] });
    await call(tool, { subtasks: [{ ...ONE, context_paths: ["a.md"] }], read_root: "docs" });
    expect(local?.stage.handed.map(({ job }) => job.contract.context)).toEqual([
      [{ name: "docs/a.md", text: "412 pallets" }],
      [{ name: "a.md", text: "412 pallets" }],
    ]);
  });
});
