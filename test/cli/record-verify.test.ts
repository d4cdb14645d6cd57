import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, shown, type Turn } from "../support/writ.ts";

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

async function ranThree(): Promise<Turn> {
  const turn = await world.turn();
  await turn.shell("writ run -- true; writ run -- echo two; writ run -- false");
  return turn;
}

function edit(sql: string): void {
  const db = new Database(join(world.data, "writ.db"), { readwrite: true });
  // What is appended to is kept from being edited by triggers; a hand that edits takes them away first.
  for (const { name } of db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all()) {
    db.run(`DROP TRIGGER "${name}"`);
  }
  db.run(sql);
  db.close();
}

describe("writ record verify", () => {
  test("says that a record is whole, with its head", async () => {
    const turn = await ranThree();
    const answer = documentOf(await turn.writ(["record", "verify", "--json"]));
    expect(answer).toEqual({
      ok: true,
      status: "ok",
      contract_id: turn.id,
      count: 3,
      head: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const plain = `OK: the record of ${turn.id} is whole (3 entries, head ${answer.head}).\n--- exit 0\n`;
    expect(shown(await world.writ(["record", "verify", turn.id]))).toBe(plain);
    expect(shown(await world.writ(["record", "verify", "--contract-id", turn.id]))).toBe(plain);
  });

  test("says the same of a record of nothing", async () => {
    const id = await world.born();
    const answer = documentOf(await world.writ(["record", "verify", id, "--json"]));
    expect(answer).toMatchObject({ ok: true, count: 0, head: null });
  });

  test.each([
    {
      what: "changed",
      sql: (id: string) => `UPDATE tool_records SET exit_code = 0 WHERE contract_id = '${id}' AND seq = 3`,
      seq: 3,
    },
    {
      what: "removed",
      sql: (id: string) => `DELETE FROM tool_records WHERE contract_id = '${id}' AND seq = 2`,
      seq: 3,
    },
  ])("ends in 1 at the first entry that does not fit: one was $what", async ({ sql, seq }) => {
    const turn = await ranThree();
    edit(sql(turn.id));
    const ran = await turn.writ(["record", "verify", "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({
      exit: 1,
      ok: false,
      status: "broken",
      code: "record_broken",
      path: "tool_record",
      contract_id: turn.id,
      seq,
    });
    const plain = await turn.writ(["record", "verify"]);
    expect({ exit: plain.exit, stdout: plain.stdout }).toEqual({ exit: 1, stdout: "" });
    expect(plain.stderr).toStartWith(`Broken: The record of "${turn.id}" does not fit at ${seq}: expected `);
  });

  test("ends in 3 for a turn that is not there, and in 2 for an id that cannot be one", async () => {
    const missing = await world.writ(["record", "verify", "a0123456789abcdef.00", "--json"]);
    expect({ exit: missing.exit, ...documentOf(missing) }).toMatchObject({ exit: 3, code: "no_row" });
    const odd = await world.writ(["record", "verify", "../x", "--json"]);
    expect({ exit: odd.exit, ...documentOf(odd) }).toMatchObject({ exit: 2, code: "invalid_draft_id" });
  });
});
