import { expect, test } from "bun:test";
import { getSection, listSections, setSection } from "../../src/context/sections.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { born, cleanRefusalOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

function set(world: ScriptedWorld, payload: JsonValue, more: { workspace?: string; section?: string } = {}) {
  return setSection(world, { workspace: "me", section: "stack", by: "ada", payload, ...more });
}

test("the first write makes the section, and the workspace where it is missing", () => {
  using world = scriptedWorld();
  expect(set(world, { a: 1 }, { workspace: "new" })).toEqual({ created: true });
  expect(getSection(world, "new", "stack")).toEqual({ a: 1 });
  expect(world.sql("SELECT * FROM workspaces")).toEqual([{ name: "new", created_at: "2026-01-01T00:00:00Z" }]);
});

const merges: readonly { what: string; stored: JsonValue; payload: JsonObject; result: JsonValue }[] = [
  { what: "adds absent keys", stored: { a: 1 }, payload: { b: 2 }, result: { a: 1, b: 2 } },
  { what: "merges objects", stored: { a: { x: 1 } }, payload: { a: { y: 2 } }, result: { a: { x: 1, y: 2 } } },
  { what: "replaces a list whole", stored: { a: [1, 2] }, payload: { a: [3] }, result: { a: [3] } },
  { what: "replaces a text with an object", stored: { a: "x" }, payload: { a: { y: 2 } }, result: { a: { y: 2 } } },
  { what: "replaces an object with a text", stored: { a: { x: 1 } }, payload: { a: "y" }, result: { a: "y" } },
  { what: "stores a null", stored: { a: 1, b: 2 }, payload: { a: null }, result: { a: null, b: 2 } },
  { what: "replaces what is no object", stored: [1], payload: { a: 1 }, result: { a: 1 } },
  { what: "changes nothing for nothing", stored: { a: 1 }, payload: {}, result: { a: 1 } },
];
test.each(merges)("a later write $what, and keeps what it replaced", ({ stored, payload, result }) => {
  using world = scriptedWorld();
  set(world, {});
  world.sql("UPDATE context_sections SET payload = ?", JSON.stringify(stored));
  world.advance(60);
  expect(set(world, payload)).toEqual({ created: false });
  expect(getSection(world, "me", "stack")).toEqual(result);
  expect(world.sql("SELECT before, after, changed_by, proposal_id FROM context_history WHERE id = 2")).toEqual([
    { before: JSON.stringify(stored), after: JSON.stringify(result), changed_by: "ada", proposal_id: null },
  ]);
  expect(listSections(world, "me")).toEqual({
    workspace: "me",
    sections: [{ section: "stack", updated_at: "2026-01-01T00:01:00Z", updated_by: "ada" }],
  });
});

test("sections of one name in two workspaces are two", () => {
  using world = scriptedWorld();
  set(world, { a: 1 });
  set(world, { b: 2 }, { workspace: "w" });
  expect([getSection(world, "me", "stack"), getSection(world, "w", "stack")]).toEqual([{ a: 1 }, { b: 2 }]);
});

test("a turn does not write, whatever it would write", () => {
  using world = scriptedWorld({ contractId: "a00000000000000aa.1" });
  const error = cleanRefusalOf(world, () => set(world, { a: 1 }));
  expect(error).toMatchObject({ code: "not_inside_a_turn" });
  expect(error.hint).toContain("update_contracts");
});

test.each([
  { what: "a blank name", section: " \t", payload: {}, code: "usage" },
  { what: "a list", section: "stack", payload: [1], code: "not_an_object" },
  { what: "null", section: "stack", payload: null, code: "not_an_object" },
])("$what is refused as $code, inside a turn and outside", ({ section, payload, code }) => {
  for (const contractId of [null, "a00000000000000aa.1"]) {
    using world = scriptedWorld({ contractId });
    expect(cleanRefusalOf(world, () => set(world, payload, { section })).code as string).toBe(code);
  }
});

test("a section that is not there is said to be none, also where there is no store; a list of none is empty", () => {
  using world = scriptedWorld();
  set(world, {}, { section: "apps" });
  for (const store of [world.store, null]) {
    const reading = { ...world, store };
    const error = cleanRefusalOf(world, () => getSection(reading, "me", "stack"));
    expect(error).toMatchObject({ code: "no_section", message: 'Workspace "me" has no section "stack"' });
    expect(listSections(reading, "w")).toEqual({ workspace: "w", sections: [] });
  }
});

test("a section may hold null and is there all the same", () => {
  using world = scriptedWorld();
  set(world, {});
  world.sql("UPDATE context_sections SET payload = 'null'");
  expect(getSection(world, "me", "stack")).toBeNull();
});

test.each([
  { option: "w", environment: "env", inTurn: true, workspace: "w" },
  { option: null, environment: "env", inTurn: true, workspace: "env" },
  { option: " ", environment: null, inTurn: true, workspace: "turn" },
  { option: null, environment: null, inTurn: false, workspace: "me" },
])("the workspace read is $workspace for $option, $environment, in a turn: $inTurn", (one) => {
  using world = scriptedWorld({ workspace: one.environment });
  for (const workspace of ["w", "env", "turn", "me"]) set(world, { workspace }, { workspace });
  const contractId = one.inTurn ? born(world, { workspace: "turn" }) : null;
  const reading = { ...world, contractId };
  expect(getSection(reading, one.option, "stack")).toEqual({ workspace: one.workspace });
  expect(listSections(reading, one.option).workspace).toBe(one.workspace);
  expect(listSections({ ...reading, store: null }, one.option).workspace).toBe(
    one.workspace === "turn" ? "me" : one.workspace,
  );
});
