import { expect, test } from "bun:test";
import { prettyJson } from "../../../src/core/json/value.ts";
import { verifyRecord } from "../../../src/record/verify.ts";
import { born, closing, fill, finalize, ran, refusalOf, rowOf } from "../../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";

function closedTurn(world: ScriptedWorld): string {
  const id = born(world);
  ran(world, id, "bun test");
  fill(world, id, closing("BLOCKED"));
  finalize(world, id);
  return id;
}

test("a closed turn that nobody touched is whole, also after later records", () => {
  using world = scriptedWorld();
  const id = closedTurn(world);
  expect(verifyRecord(world, id)).toMatchObject({ contract_id: id, count: 1 });
  ran(world, id, "late");
  expect(verifyRecord(world, id)).toMatchObject({ contract_id: id, count: 2 });
});

test.each([
  {
    what: "the envelope",
    seq: "envelope",
    sql: `UPDATE handoffs SET raw_handoff_json = replace(raw_handoff_json, '"open_gaps":[]', '"open_gaps":["x"]')`,
  },
  { what: "the conclusion", seq: "conclusion", sql: "UPDATE handoffs SET conclusion = 'FORGED'" },
  { what: "the state", seq: "agent_state", sql: "UPDATE handoffs SET agent_state = 'NEEDS_INPUT'" },
  { what: "the agent's name", seq: "agent_name", sql: "UPDATE handoffs SET agent_name = 'mallory'" },
  { what: "the checks away", seq: "content_checks", sql: "UPDATE handoffs SET content_checks = NULL" },
  { what: "the stored head", seq: "record_head", sql: "UPDATE handoffs SET record_head = '00'" },
  {
    what: "the record and the stored head",
    seq: "record_head",
    sql: "DELETE FROM tool_records; UPDATE handoffs SET record_head = NULL, record_count = NULL",
  },
  {
    what: "the head in the checks",
    seq: "record_head",
    sql: `UPDATE handoffs SET content_checks = replace(content_checks, '"runs":1', '"runs":0')`,
  },
])("a closed turn shows that somebody changed $what", ({ seq, sql }) => {
  using world = scriptedWorld();
  const id = closedTurn(world);
  for (const statement of sql.split("; ")) world.sql(statement);
  expect(refusalOf(() => verifyRecord(world, id))).toMatchObject({ code: "record_broken", details: { seq } });
});

test("the row's envelope is what the journal saw last", () => {
  using world = scriptedWorld();
  const id = closedTurn(world);
  const digest = world.store.read((tables) => tables.journal.newestDigest(id));
  expect(world.sha256(`${prettyJson(JSON.parse(rowOf(world, id).raw_handoff_json))}\n`)).toBe(digest ?? "none");
});
