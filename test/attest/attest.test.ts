import { describe, expect, test } from "bun:test";
import { attestTurn } from "../../src/attest/attest.ts";
import { canonicalJson, type JsonObject } from "../../src/core/json/value.ts";
import { closedWithRuns, statementText } from "../support/attested.ts";
import { born, closed, everything, ran, refusalOf, rowJson, rowOf } from "../support/turn.ts";
import { scriptedWorld } from "../support/world.ts";

describe("attestTurn()", () => {
  test("exports the row, its envelope, its checks and its record as an in-toto Statement v1", () => {
    using world = scriptedWorld();
    const id = closedWithRuns(world);
    const { contract_id, handoff_id, statement } = attestTurn(world, id);
    const row = rowOf(world, id);
    const { raw_handoff_json, content_checks, ...columns } = row;
    const runs = world.store.read((tables) => tables.records.list(id));
    expect({ contract_id, handoff_id }).toEqual({ contract_id: id, handoff_id: row.id });
    expect(statement as unknown).toEqual({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ name: id, digest: { sha256: world.sha256(canonicalJson(rowJson(world, id))) } }],
      predicateType: "urn:writ:turn:v1",
      predicate: {
        handoff: columns,
        envelope: JSON.parse(raw_handoff_json),
        content_checks: JSON.parse(content_checks ?? ""),
        record: { head: row.record_head, count: 3, runs },
      },
    });
  });

  test("is the same text each time, by contract id and by handoff id, also when a record came after the close", () => {
    using world = scriptedWorld();
    const id = closedWithRuns(world);
    const text = statementText(world, id);
    world.advance(3600);
    ran(world, id, "bun test late");
    expect(world.store.read((tables) => tables.records.list(id)).length).toBe(4);
    expect(statementText(world, id)).toBe(text);
    expect(statementText(world, String(rowOf(world, id).id))).toBe(text);
  });

  test("exports a turn without a record with an empty one", () => {
    using world = scriptedWorld();
    const { statement } = attestTurn(world, closed(world));
    expect((statement.predicate as JsonObject).record).toEqual({ head: null, count: 0, runs: [] });
  });

  test("exports no turn whose stored head and checks were taken away", () => {
    using world = scriptedWorld();
    const id = closedWithRuns(world);
    world.sql("UPDATE handoffs SET record_head = NULL, record_count = NULL, content_checks = NULL");
    expect(refusalOf(() => attestTurn(world, id))).toMatchObject({
      code: "record_broken",
      details: { seq: "content_checks" },
    });
  });

  test("changes nothing", () => {
    using world = scriptedWorld();
    const id = closedWithRuns(world);
    const before = everything(world);
    attestTurn(world, id);
    expect(everything(world)).toEqual(before);
  });

  test.each([
    { what: "an id that is unknown", sql: null, code: "no_row" },
    { what: "a turn that is open", sql: "UPDATE handoffs SET agent_state = 'IN_PROGRESS'", code: "not_closed" },
    { what: "a turn that is only born", sql: "UPDATE handoffs SET agent_state = 'DISPATCHED'", code: "not_closed" },
    {
      what: "an envelope that is no object",
      sql: "UPDATE handoffs SET raw_handoff_json = '[]'",
      code: "nothing_recoverable",
    },
    {
      what: "a record that was edited",
      sql: "UPDATE tool_records SET exit_code = 1 WHERE seq = 3",
      code: "record_broken",
    },
    { what: "a record that lost its end", sql: "DELETE FROM tool_records WHERE seq = 3", code: "record_broken" },
    { what: "another head", sql: "UPDATE handoffs SET record_head = 'x'", code: "record_broken" },
  ])("refuses $what as $code", ({ sql, code }) => {
    using world = scriptedWorld();
    const id = closedWithRuns(world);
    if (sql !== null) world.sql(sql);
    expect<string>(refusalOf(() => attestTurn(world, sql === null ? "9" : id)).code).toBe(code);
  });

  test("refuses where there is no store", () => {
    using world = scriptedWorld();
    expect(refusalOf(() => attestTurn({ ...world, store: null }, "1")).code).toBe("no_row");
  });

  test("a dispatched turn is not exported", () => {
    using world = scriptedWorld();
    expect(refusalOf(() => attestTurn(world, born(world))).code).toBe("not_closed");
  });
});
