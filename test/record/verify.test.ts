import { expect, test } from "bun:test";
import { verifyRecord } from "../../src/record/verify.ts";
import { born, cleanRefusalOf, closing, fill, finalize, ran, refusalOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

function turnOf(world: ScriptedWorld, commands: readonly string[], isClosed: boolean): string {
  const id = born(world);
  for (const command of commands) ran(world, id, command);
  if (isClosed) {
    fill(world, id, closing("BLOCKED"));
    finalize(world, id);
  }
  return id;
}

function headOf(world: ScriptedWorld, seq: number): string {
  return world.sql<{ digest: string }>("SELECT digest FROM tool_records WHERE seq = ?", seq)[0]?.digest ?? "";
}

test.each([true, false])("a whole record is told with its count and its head, closed: %s", (isClosed) => {
  using world = scriptedWorld();
  const id = turnOf(world, ["a", "b"], isClosed);
  expect(verifyRecord(world, id)).toEqual({ contract_id: id, count: 2, head: headOf(world, 2) });
});

test.each([true, false])("a turn that ran nothing fits, closed: %s", (isClosed) => {
  using world = scriptedWorld();
  const id = turnOf(world, [], isClosed);
  expect(verifyRecord(world, id)).toEqual({ contract_id: id, count: 0, head: null });
});

test("a turn that is closed twice within one second is whole", () => {
  using world = scriptedWorld();
  const id = turnOf(world, ["a"], true);
  finalize(world, id);
  expect(verifyRecord(world, id).count).toBe(1);
  world.advance(1);
  finalize(world, id);
  expect(verifyRecord(world, id).count).toBe(1);
});

test("a record before its row is checked too; an id of nobody is no record", () => {
  using world = scriptedWorld();
  ran(world, "a0123456789abcdef.1", "a");
  expect(verifyRecord(world, "a0123456789abcdef.1").count).toBe(1);
  expect(refusalOf(() => verifyRecord(world, "a0123456789abcdef.2")).code).toBe("no_row");
  expect(refusalOf(() => verifyRecord({ ...world, store: null }, "a0123456789abcdef.1")).code).toBe("no_row");
});

const columns = [
  "argv",
  "command",
  "cwd",
  "ended_at",
  "exit_code",
  "exit_note",
  "failed",
  "harness",
  "ordered",
  "output",
  "output_bytes",
  "output_sha256",
  "path",
  "signal",
  "started_at",
  "tail",
  "tool_use_id",
  "truncated",
] as const;

test.each(columns)("a changed %s breaks the record where it stands", (column) => {
  using world = scriptedWorld();
  const id = turnOf(world, ["a", "b", "c"], false);
  const isNumber = ["exit_code", "failed", "ordered", "output_bytes", "truncated"].includes(column);
  const changed = column === "argv" ? '["x"]' : isNumber ? (column === "ordered" ? 0 : 9) : "changed";
  world.sql(`UPDATE tool_records SET ${column} = ? WHERE seq = 2`, changed);
  const error = cleanRefusalOf(world, () => verifyRecord(world, id));
  expect(error).toMatchObject({ code: "record_broken", status: "broken", path: "tool_record" });
  expect(error.details).toMatchObject({ contract_id: id, seq: 2, found: headOf(world, 2) });
  expect(error.details.expected).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  { what: "its digest was made to fit", edit: "UPDATE tool_records SET prev_digest = 'x' WHERE seq = 2", seq: 2 },
  { what: "one was taken out", edit: "DELETE FROM tool_records WHERE seq = 2", seq: 3 },
  { what: "the first was taken out", edit: "DELETE FROM tool_records WHERE seq = 1", seq: 2 },
  { what: "two changed places", edit: "UPDATE tool_records SET seq = 5 - seq + 10 WHERE seq IN (2, 3)", seq: 12 },
])("$what: the first that does not fit is $seq", ({ edit, seq }) => {
  using world = scriptedWorld();
  const id = turnOf(world, ["a", "b", "c"], false);
  world.sql(edit);
  expect(cleanRefusalOf(world, () => verifyRecord(world, id)).details.seq).toBe(seq);
});

test("the end of an open record can be cut off unseen; that of a closed one cannot", () => {
  using world = scriptedWorld();
  const open = turnOf(world, ["a", "b"], false);
  const done = turnOf(world, ["a", "b"], true);
  world.sql("DELETE FROM tool_records WHERE seq = 2");
  expect(verifyRecord(world, open).count).toBe(1);
  const error = cleanRefusalOf(world, () => verifyRecord(world, done));
  expect(error.details).toMatchObject({ seq: "record_head", found: "nothing" });
  expect(String(error.details.expected)).toMatch(/^[0-9a-f]{64}$/);
});

test("a closed turn whose whole record was taken out does not fit", () => {
  using world = scriptedWorld();
  const id = turnOf(world, ["a"], true);
  world.sql("DELETE FROM tool_records");
  expect(cleanRefusalOf(world, () => verifyRecord(world, id)).details.seq).toBe("record_head");
});

test("a head that was changed in the row does not fit", () => {
  using world = scriptedWorld();
  const id = turnOf(world, ["a"], true);
  world.sql("UPDATE handoffs SET record_head = 'x'");
  expect(cleanRefusalOf(world, () => verifyRecord(world, id)).details).toMatchObject({
    seq: "record_head",
    expected: "x",
    found: headOf(world, 1),
  });
});

test("records that came after the close stand behind the stored head", () => {
  using world = scriptedWorld();
  const id = turnOf(world, ["a"], true);
  ran(world, id, "b");
  expect(verifyRecord(world, id)).toEqual({ contract_id: id, count: 2, head: headOf(world, 2) });
  const empty = turnOf(world, [], true);
  ran(world, empty, "b");
  expect(verifyRecord(world, empty).count).toBe(1);
});
