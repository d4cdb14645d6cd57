/** The stop gate: a turn that stops before its contract is closed is sent back, a bounded number of times. */
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { initDraft } from "../../src/editor/init.ts";
import { stopTurn } from "../../src/editor/stop.ts";
import { type GateRequest, gateStop } from "../../src/editor/stop-gate.ts";
import { validateClose } from "../../src/editor/validate.ts";
import { add, at, born, closing, everything, fileOf, fill, finalize, ran, refusalOf, task } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

function gate(world: ScriptedWorld, contract_id: string, more: Partial<GateRequest> = {}) {
  return gateStop(world, { contract_id, limit: 1, stop_hook_active: false, ...more });
}

function counts(world: ScriptedWorld) {
  return world.sql("SELECT contract_id, count, last_at FROM send_backs ORDER BY contract_id");
}

test("a turn that has not said how it ended is sent back once, and the count is kept", () => {
  using world = scriptedWorld();
  const id = born(world);
  expect(gate(world, id)).toMatchObject({ contract_id: id, count: 1 });
  expect(counts(world)).toEqual([{ contract_id: id, count: 1, last_at: "2026-01-01T00:00:00Z" }]);
  for (let again = 0; again < 3; again += 1) expect(gate(world, id)).toBeNull();
  expect(counts(world)).toHaveLength(1);
});

test.each([0, 1, 2, 5])("a gate of %p sends back as often and no more", (limit) => {
  using world = scriptedWorld();
  const id = born(world);
  const sent = Array.from({ length: 8 }, () => gate(world, id, { limit })?.count ?? null);
  expect(sent).toEqual(Array.from({ length: 8 }, (_, stop) => (stop < limit ? stop + 1 : null)));
});

test("the gate changes nothing but its count", () => {
  using world = scriptedWorld();
  const id = born(world);
  const before = everything(world);
  gate(world, id);
  const after = everything(world);
  expect({ ...after.tables, send_backs: [] }).toEqual(before.tables as never);
  expect(after.files).toEqual(before.files);
});

test.each(["APPROVAL_REQUEST", "BLOCKED", "NEEDS_INPUT", "COMPLETE"])("a turn that closed %s may stop", (state) => {
  using world = scriptedWorld();
  const id = born(world);
  const request = state === "APPROVAL_REQUEST" ? { approval_request: { exact_content: "rm x" } } : {};
  fill(world, id, closing(state, request));
  finalize(world, id);
  expect(gate(world, id, { limit: 9 })).toBeNull();
  expect(counts(world)).toEqual([]);
});

test("a checkpoint is no close", () => {
  using world = scriptedWorld();
  const id = born(world);
  finalize(world, id);
  expect(gate(world, id)?.reason).toContain("IN_PROGRESS");
});

test("a contract that is ready is told to call finalize, and closes then", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, closing("BLOCKED"));
  expect(gate(world, id)?.reason).toEndWith(
    `It is valid and ready to close.\nType: writ contract finalize --draft-id ${id}`,
  );
  finalize(world, id);
  expect(gate(world, id, { limit: 9 })).toBeNull();
});

test.each<{ what: string; prepare: (world: ScriptedWorld) => string }>([
  {
    what: "a broken form",
    prepare(world) {
      const id = born(world);
      writeFileSync(fileOf(world, id), JSON.stringify({ nope: 1 }));
      return id;
    },
  },
  {
    what: "a refuted claim",
    prepare(world) {
      const id = born(world);
      ran(world, id, "bun test", { exit_code: 1 });
      fill(world, id, {
        ...closing("BLOCKED"),
        evidence_report: { verification: { type: "test", command: "bun test", result: "pass" } },
      });
      return id;
    },
  },
  {
    what: "a producer that verifies itself",
    prepare(world) {
      const id = born(world, { plan_task_id: task(world, "b").task_id });
      fill(world, id, closing("COMPLETE"));
      return id;
    },
  },
  {
    what: "a draft that cannot be read",
    prepare(world) {
      const id = born(world);
      writeFileSync(fileOf(world, id), "{ half");
      return id;
    },
  },
  {
    what: "a draft that is not there",
    prepare(world) {
      const id = born(world);
      rmSync(fileOf(world, id));
      return id;
    },
  },
])("of $what it says what validate --close says first", ({ prepare }) => {
  using world = scriptedWorld();
  const id = prepare(world);
  const error = refusalOf(() => validateClose(world, at(id), false));
  const first = error.issues[0];
  const reason = gate(world, id)?.reason ?? "";
  expect(reason).toContain(first === undefined ? `${error.code}: ${error.message}` : `${first.code} [${first.path}]`);
  expect(reason).toContain(first === undefined ? (error.hint ?? "") : (first.hint ?? "").slice(0, 300));
});

test("advice does not send a turn back twice over: nobody is asked which files changed", () => {
  using world = scriptedWorld({ changed: ["src/a.ts"] });
  const id = born(world);
  fill(world, id, closing("BLOCKED"));
  const asked = {
    ...world,
    changedAfter: () => {
      throw new Error("asked");
    },
  };
  expect(gateStop(asked, { contract_id: id, limit: 1, stop_hook_active: false })).not.toBeNull();
});

test("a draft without a row is sent back too; an id of nobody is not", () => {
  using world = scriptedWorld();
  const { draft_id } = initDraft(world, { agent_id: null, draft_id: null });
  expect(gate(world, draft_id)).toMatchObject({ contract_id: draft_id, count: 1 });
  expect(gate(world, "a00000000000000ff.1")).toBeNull();
});

test("the live link of a chain is gated, and is a turn of its own", () => {
  using world = scriptedWorld();
  const id = born(world);
  gate(world, id);
  fill(world, id, closing("BLOCKED"));
  finalize(world, id);
  const next = add(world, id, "evidence_report.key_outputs", "x").draft_id;
  expect(gate(world, id)).toMatchObject({ contract_id: next, count: 1 });
});

test("an agent that goes on because of a stop hook cannot open contracts to be sent back for ever", () => {
  using world = scriptedWorld();
  const id = born(world);
  expect(gate(world, id, { limit: 2 })?.count).toBe(1);
  for (let link = 0; link < 3; link += 1) {
    fill(world, id, closing("BLOCKED"));
    finalize(world, id);
    add(world, id, "evidence_report.key_outputs", "x");
    const sent = gate(world, id, { limit: 2, stop_hook_active: true });
    expect(sent?.count ?? null).toBe(link === 0 ? 2 : null);
  }
});

test("a store that lost its count takes the harness's word for one", () => {
  using world = scriptedWorld();
  const id = born(world);
  expect(gate(world, id, { stop_hook_active: true })).toBeNull();
  expect(gate(world, id, { limit: 2, stop_hook_active: true })?.count).toBe(2);
});

test("a count that cannot be stored sends nobody back", () => {
  using world = scriptedWorld();
  const id = born(world);
  world.sql("CREATE TRIGGER fails BEFORE INSERT ON send_backs BEGIN SELECT RAISE(ABORT, 'no'); END");
  expect(() => gate(world, id)).toThrow("no");
  expect(counts(world)).toEqual([]);
});

test("a defect while the contract is judged is thrown, and counts nothing", () => {
  using world = scriptedWorld();
  const id = born(world);
  const broken = {
    ...world,
    drafts: {
      ...world.drafts,
      read: () => {
        throw new TypeError("kaput");
      },
    },
  };
  expect(() => gateStop(broken, { contract_id: id, limit: 1, stop_hook_active: false })).toThrow("kaput");
  expect(counts(world)).toEqual([]);
});

test("a turn that was cut before the gate was there is sent back as well", () => {
  using world = scriptedWorld();
  const id = born(world);
  stopTurn(world, {
    contract_id: id,
    transcript: null,
    stop_reason: null,
    session_id: null,
    redactCommand: (text) => text,
  });
  expect(gate(world, id)).not.toBeNull();
});
