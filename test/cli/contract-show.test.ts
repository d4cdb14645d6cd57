import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json/value.ts";
import { documentOf, type LivingWorld, livingWorld, type Turn } from "../support/writ.ts";

let world: LivingWorld;
let turn: Turn;
beforeAll(async () => {
  world = livingWorld();
  turn = await world.turn("--goal", "look at it");
  await turn.shell("writ run -- sh -c 'echo 3 pass; exit 1'; writ run -- sh -c 'kill -9 $$'; true");
  await turn.writ(["record", "--harness", "generic"], {
    stdin:
      '[{"tool":"read","path":"/src/a.ts"},{"tool":"bash","command":"make"},{"tool":"bash","command":"ci","failed":true}]',
  });
  const patch = {
    agent_status: { agent_state: "BLOCKED", next_action: "wait" },
    conclusion: "Blocked by the network.",
  };
  await turn.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
  await turn.writ(["contract", "finalize"]);
});
afterAll(() => world[Symbol.dispose]());

describe("writ contract show", () => {
  test("begins with what an orchestrator reads first, and ends with the record", async () => {
    const { exit, stdout, stderr } = await world.writ(["contract", "show", turn.id]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("tester BLOCKED (handoff_id=1): Blocked by the network.");
    expect(stdout).toMatch(/^goal +look at it$/m);
    expect(stdout).toMatch(/^record \(bound, 5 entries\)$/m);
    const rows = lines.filter((line) => /^ {2}\d /.test(line)).map((line) => line.trim().split(/ {2,}/));
    expect(rows.map(([seq, , tool, exit, what]) => [seq, tool, exit, what])).toEqual([
      ["1", "bash", "1", "sh -c 'echo 3 pass; exit 1'"],
      ["2", "bash", "SIGKILL", "sh -c 'kill -9 $$'"],
      ["3", "read", "-", "/src/a.ts"],
      ["4", "bash", "unknown", "make"],
      ["5", "bash", "failed", "ci"],
    ]);
  });

  test("is one document with the row, the envelope, the checks and the record under --json", async () => {
    const answer = documentOf(await world.writ(["contract", "show", "1", "--json"]));
    expect(answer).toMatchObject({
      ok: true,
      result: ["tester BLOCKED (handoff_id=1): Blocked by the network."],
      handoff: { id: 1, contract_id: turn.id, goal: "look at it", agent_state: "BLOCKED", cut_reason: null },
      envelope: { conclusion: "Blocked by the network." },
      content_checks: { version: 1, bound: true, runs: 5 },
      record: { bound: true },
    });
    expect((answer.record as { runs: JsonObject[] }).runs).toHaveLength(5);
  });

  test("says how a turn was cut that did not close itself", async () => {
    const id = await world.born();
    const { stdout } = await world.writ(["contract", "show", id]);
    expect(stdout).toStartWith("tester never_finalized (handoff_id=2): no conclusion\n");
    expect(stdout).toContain("record (not bound, 0 entries)\n");
  });

  test("shows of a turn that is not closed the conclusion that its envelope has so far", async () => {
    const open = await world.turn();
    await open.writ(["contract", "set", "conclusion", "half\nof it"]);
    await open.writ(["contract", "finalize"]);
    const { stdout } = await world.writ(["contract", "show", open.id]);
    expect(stdout).toMatch(
      /^tester never_finalized \(handoff_id=\d+\): no conclusion of a close; so far: half of it\n/,
    );
  });

  test.each(["99", "0", "-1", "1.0", "01", "nobody", "../x", "99999999999999999999"])(
    "is refused in 3 for %s",
    async (id) => {
      const ran = await world.writ(["contract", "show", id, "--json"]);
      expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 3, ok: false, code: "no_row" });
    },
  );

  test("needs one id", async () => {
    for (const args of [[], ["1", "2"]]) {
      const ran = await world.writ(["contract", "show", ...args, "--json"]);
      expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 2, code: "usage" });
    }
  });
});
