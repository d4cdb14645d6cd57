import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json/value.ts";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

let world: LivingWorld;
const ids: string[] = [];

/** Three turns: open, blocked, and reaped; the last two of their own session, workspace, harness id and name. */
beforeAll(async () => {
  world = livingWorld();
  const open = await world.turn();
  const blocked = await world.turn("--session-id", "s2", "--workspace", "w2", "--harness-id", "h2");
  const { contract_id } = documentOf(await world.writ(["dispatch", "--agent", "other name é", "--json"]));
  const reaped = String(contract_id);
  const patch = { agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "x" };
  await blocked.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
  await blocked.writ(["contract", "finalize"]);
  await world.writ(["record", "--stop", "--contract-id", reaped], { stdin: "{}" });
  ids.push(open.id, blocked.id, reaped);
});
afterAll(() => world[Symbol.dispose]());

async function listed(...args: string[]): Promise<readonly string[]> {
  const { ok, count, handoffs } = documentOf(await world.writ(["contract", "list", "--json", ...args]));
  const found = (handoffs as JsonObject[]).map((row) => String(row.contract_id));
  expect({ ok, count }).toEqual({ ok: true, count: found.length });
  return found;
}

describe("writ contract list", () => {
  test("lists turns newest first, as a table and as a document", async () => {
    expect(await listed()).toEqual(ids.toReversed());
    const { stdout } = await world.writ(["contract", "list"]);
    const lines = stdout.split("\n");
    expect(lines[0]).toMatch(
      /^id +created_at +agent_id +agent_name +agent_state +cut_reason +kind +session_id +plan_task_id +parent_handoff_id +contract_id$/,
    );
    expect(lines.slice(1, 4).map((line) => line.split(/ {2,}/).filter((_, at) => at !== 1 && at !== 2))).toEqual([
      ["3", "other name é", "IN_PROGRESS", "reaped", "investigation", "-", "-", "-", ids[2] ?? ""],
      ["2", "tester", "BLOCKED", "-", "investigation", "s2", "-", "-", ids[1] ?? ""],
      ["1", "tester", "DISPATCHED", "never_finalized", "investigation", "-", "-", "-", ids[0] ?? ""],
    ]);
    expect(lines.slice(4)).toEqual(["3 handoff(s).", ""]);
  });

  test.each([
    { args: ["--state", "BLOCKED"], wanted: [1] },
    { args: ["--state", "DISPATCHED"], wanted: [0] },
    { args: ["--cut", "reaped"], wanted: [2] },
    { args: ["--cut", "any"], wanted: [2, 0] },
    { args: ["--session", "s2"], wanted: [1] },
    { args: ["--workspace", "w2"], wanted: [1] },
    { args: ["--harness-id", "h2"], wanted: [1] },
    { args: ["--agent", "other name é"], wanted: [2] },
    { args: ["--limit", "2"], wanted: [2, 1] },
    { args: ["--since", "2020-01-01"], wanted: [2, 1, 0] },
    { args: ["--since", "2100-01-01T00:00:00+02:00"], wanted: [] },
    { args: ["--until", "2020-01-01"], wanted: [] },
    { args: ["--until", new Date().toISOString().slice(0, 10)], wanted: [2, 1, 0] }, // the whole day
    { args: ["--state", "BLOCKED", "--workspace", "me"], wanted: [] },
  ])("filters by $args", async ({ args, wanted }) => {
    expect(await listed(...args)).toEqual(wanted.map((at) => ids[at] ?? ""));
  });

  test("filters by the ids of a turn", async () => {
    const [id = ""] = ids;
    expect(await listed("--contract-id", id)).toEqual([id]);
    expect(await listed("--draft-id", id)).toEqual([id]);
    expect(await listed("--agent-id", id.split(".")[0] ?? "")).toEqual([id]);
  });

  test.each([
    { args: ["--limit", "1"], says: "2 more; all of them: --limit 3\n" },
    { args: ["--limit", "1", "--workspace", "me"], says: "1 more; all of them: --limit 2\n" },
    { args: ["--limit", "3"], says: "" },
    { args: [], says: "" },
  ])("says how many $args left out, and how to see them", async ({ args, says }) => {
    expect((await world.writ(["contract", "list", ...args])).stderr).toBe(says);
    expect((await world.writ(["contract", "list", "--json", ...args])).stderr).toBe("");
  });

  test("says of an agent id that is a name how turns are found by name", async () => {
    const ran = await world.writ(["contract", "list", "--agent-id", "other name é"]);
    expect(ran).toMatchObject({ exit: 0, stdout: "No handoffs matched.\n" });
    expect(ran.stderr).toContain("writ contract list --agent 'other name é'");
    const known = await world.writ(["contract", "list", "--agent-id", "a0123456789abcdef"]);
    expect(known.stderr).toBe("");
  });

  test("ends in 0 where nothing matched", async () => {
    expect(shown(await world.writ(["contract", "list", "--session", "nobody"]))).toBe(
      "No handoffs matched.\n--- exit 0\n",
    );
  });

  test.each([
    { args: ["--state", "FINISHED"] },
    { args: ["--since", "yesterday"] },
    { args: ["--until", "2026-13-01"] },
    { args: ["--limit", "-1"] },
    { args: ["--limit", "many"] },
    { args: ["--sesion", "x"] },
  ])("refuses $args in 2", async ({ args }) => {
    const ran = await world.writ(["contract", "list", ...args, "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 2, ok: false, code: "usage" });
  });

  test("is as wide as what it lists, whatever COLUMNS says", async () => {
    const narrow = await world.writ(["contract", "list"], { env: { COLUMNS: "40" } });
    expect(narrow).toEqual(await world.writ(["contract", "list"]));
  });
});
