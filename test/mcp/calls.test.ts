import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json/value.ts";
import { tool as delegate } from "../../src/mcp/agent-delegate.ts";
import { CALL_LIMITS } from "../../src/mcp/calls.ts";
import { tool as cancel } from "../../src/mcp/delegation-cancel.ts";
import { tool as result } from "../../src/mcp/delegation-result.ts";
import type { Progress, ToolAnswer } from "../../src/mcp/tool.ts";
import { objectOf, scriptedDelegation } from "../support/delegation.ts";
import { seatRecord } from "../support/places.ts";
import { type Play, scriptedLocal } from "../support/scripted-place.ts";

const ONE = { goal: "how many pallets?" };
const never = new AbortController().signal;

/** A place with room for all, so that only the line holds calls back. */
const roomy = (...plays: Play[]) => ({
  local: (clock: Parameters<typeof scriptedLocal>[0]) =>
    scriptedLocal(clock, plays, { seats: [seatRecord({ slots: 64 })] }),
});

const firstLeg = (answer: ToolAnswer) => (objectOf(answer).results as readonly JsonObject[])[0];

describe("the calls of one server", () => {
  test("are carried out four at once, the others in their order", async () => {
    const { start, clock, local } = scriptedDelegation(roomy({ takes_ms: 10_000 }));
    const told: Progress[] = [];
    const answers = Array.from({ length: 10 }, (_, at) =>
      start(delegate, { subtasks: [{ goal: `how many pallets in bay ${at}?` }] }, at === 5 ? { told } : {}),
    );
    await clock.drive(Promise.all(answers));
    expect(local?.stage.most).toBe(CALL_LIMITS.at_once);
    const begun = local?.stage.handed.map(({ job, at_ms }) => [/\d+/.exec(job.contract.goal)?.[0], at_ms]);
    expect(begun).toEqual(Array.from({ length: 10 }, (_, at) => [String(at), Math.floor(at / 4) * 10_000]));
    expect(told[0]).toMatchObject({ message: "0/1 done; in line behind 2 calls" });
  });

  test("wait in line on their own time", async () => {
    const { start, clock } = scriptedDelegation(roomy({ takes_ms: 100_000 }), { limits: { mcp_wait_sec: 0 } });
    const first = Array.from({ length: 4 }, () => start(delegate, { subtasks: [ONE] }));
    const stopped = start(delegate, { subtasks: [ONE], deadline_sec: 150 });
    const late = start(delegate, { subtasks: [ONE], deadline_sec: 40 });
    const answers = await clock.drive(Promise.all([stopped, late, ...first]));
    expect(firstLeg(answers[0] as ToolAnswer)).toMatchObject({
      defer_class: "budget",
      reason: expect.stringContaining("call deadline reached; 1 unfinished; "),
      wall_ms: 50_000,
    });
    expect(firstLeg(answers[1] as ToolAnswer)).toMatchObject({ defer_class: "budget" });
    expect(answers.slice(2).every((answer) => objectOf(answer).ok)).toBeTrue();
  });

  test("can be cancelled in line, and make room for the next", async () => {
    const { start, call, clock, local } = scriptedDelegation(roomy({ takes_ms: 10_000 }));
    const first = Array.from({ length: 4 }, () => start(delegate, { subtasks: [ONE] }));
    const { run_id } = objectOf(await call(delegate, { subtasks: [ONE], wait_sec: 0 }));
    const answer = await call(cancel, { run_id });
    expect(firstLeg(answer)).toMatchObject({ defer_class: "canceled", reason: "canceled by the caller; never placed" });
    expect(answer.isError).toBeFalse();
    await clock.drive(Promise.all(first));
    expect(local?.stage.handed).toHaveLength(4);
    expect(objectOf(await call(delegate, { subtasks: [ONE] }))).toMatchObject({ ok: true });
  });

  test("are turned away where as many wait as are kept", async () => {
    const { start, call, clock, calls } = scriptedDelegation(roomy({ takes_ms: 10_000 }));
    const taken = Array.from({ length: CALL_LIMITS.at_once + CALL_LIMITS.in_line }, () =>
      start(delegate, { subtasks: [ONE], wait_sec: 0 }),
    );
    await clock.drive(Promise.all(taken));
    expect(objectOf(await call(delegate, { subtasks: [ONE] }))).toMatchObject({ ok: false, code: "calls_full" });
    expect(calls.list()).toHaveLength(taken.length);
    await clock.drive(calls.end());
    expect(calls.list()).toEqual([]);
  });

  test("all end with their server, and are published as cancelled", async () => {
    const { call, clock, calls, saved } = scriptedDelegation(roomy({ takes_ms: 600_000 }));
    for (let count = 0; count < 6; count++) await call(delegate, { subtasks: [ONE], wait_sec: 0 });
    const began = clock.ms();
    await clock.drive(calls.end());
    expect(clock.ms() - began).toBeLessThanOrEqual(8000);
    const ended = saved
      .map((text) => JSON.parse(text) as JsonObject)
      .filter(({ record }) => (record as JsonObject).ended);
    expect(ended.map(({ summary }) => (summary as JsonObject).canceled)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test("a place that does not let go holds nobody longer than the unwinding", async () => {
    const { call, clock, calls } = scriptedDelegation(roomy({ takes_ms: 600_000, is_deaf: true }));
    await call(delegate, { subtasks: [ONE], wait_sec: 0 });
    await clock.drive(clock.sleep(1000, never));
    const began = clock.ms();
    await clock.drive(calls.end());
    expect(clock.ms() - began).toBeLessThanOrEqual(8000);
  });

  test("are kept as they were published, the latest of them", async () => {
    const { call, calls } = scriptedDelegation(roomy({ result: { output: "the key is hunter22" } }));
    const ids: string[] = [];
    for (let count = 0; count <= CALL_LIMITS.kept; count++) {
      ids.push(String(objectOf(await call(delegate, { subtasks: [ONE] })).run_id));
    }
    expect(ids.map((run_id) => calls.recall(run_id) !== null)).toEqual([false, ...ids.slice(1).map(() => true)]);
    const kept = await call(result, { run_id: ids.at(-1) });
    expect(firstLeg(kept)).toMatchObject({ output: "the key is hunter22" });
  });

  test("that a defect ends are told of as one, and leave their place", async () => {
    const script = roomy({});
    const { start, clock, calls } = scriptedDelegation({
      ...script,
      world: { marks: { quarantined: () => Promise.reject(new Error("broken")), settle: async () => {} } },
    });
    for (let count = 0; count < 6; count++) {
      await expect(clock.drive(start(delegate, { subtasks: [ONE] }))).rejects.toThrow("broken");
    }
    expect(calls.list()).toEqual([]);
  });
});
