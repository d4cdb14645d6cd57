import { expect, test } from "bun:test";
import type { ContextTable } from "../../src/core/context/repository.ts";
import { parseJson } from "../../src/core/json/parse.ts";
import type { JsonObject } from "../../src/core/json/value.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

/** The table of a world that knows the workspaces "v" and "w", inside one transaction. */
function within<T>(world: ScriptedWorld, act: (context: ContextTable) => T): T {
  return world.store.write((tables) => {
    for (const name of ["v", "w"]) tables.workspaces.ensure(name, "");
    return act(tables.context);
  });
}

function change(minute: number, more: { by?: string | null; proposal_id?: number | null } = {}) {
  return { at: `2026-01-01T00:0${minute}:00Z`, by: "ada", proposal_id: null, ...more };
}

test("a section is put whole, and found in its workspace under its exact name", () => {
  using world = scriptedWorld();
  within(world, (context) => {
    context.put("w", "stack", { a: 1, b: 2 }, change(0));
    context.put("w", "stack", { a: 3 }, change(1, { by: null }));
    expect(context.find("w", "stack")).toEqual({ a: 3 });
    for (const [workspace, section] of [
      ["v", "stack"],
      ["w", "Stack"],
      ["w", "stack "],
    ] as const)
      expect(context.find(workspace, section)).toBeUndefined();
    expect(context.list("w")).toEqual([{ section: "stack", updated_at: "2026-01-01T00:01:00Z", updated_by: null }]);
    expect(context.list("v")).toEqual([]);
  });
});

test("each change keeps what it replaced, who made it, and the proposal that it came by", () => {
  using world = scriptedWorld();
  within(world, (context) => {
    context.put("w", "stack", { a: 1 }, change(0));
    context.put("w", "stack", { a: 1, b: 2 }, change(1, { by: "auto:a1", proposal_id: 7 }));
  });
  const common = { workspace: "w", section: "stack" };
  expect(world.sql<JsonObject>("SELECT * FROM context_history ORDER BY id")).toEqual([
    {
      ...common,
      id: 1,
      before: null,
      after: '{"a":1}',
      proposal_id: null,
      changed_by: "ada",
      changed_at: "2026-01-01T00:00:00Z",
    },
    {
      ...common,
      id: 2,
      before: '{"a":1}',
      after: '{"a":1,"b":2}',
      proposal_id: 7,
      changed_by: "auto:a1",
      changed_at: "2026-01-01T00:01:00Z",
    },
  ]);
});

test("what is no object, or no JSON, is there and is no object; a put replaces it and keeps its text", () => {
  using world = scriptedWorld();
  within(world, (context) => {
    for (const section of ["list", "broken", "whole"]) context.put("w", section, { a: 1 }, change(0));
  });
  world.sql("UPDATE context_sections SET payload = '[1]' WHERE section = 'list'");
  world.sql("UPDATE context_sections SET payload = '{not' WHERE section = 'broken'");
  within(world, (context) => {
    expect([context.find("w", "list"), context.get("w", "list")]).toEqual([[1], null]);
    expect([context.find("w", "broken"), context.get("w", "broken")]).toEqual(["{not", null]);
    expect([context.find("w", "none"), context.get("w", "none")]).toEqual([undefined, null]);
    expect(context.get("w", "whole")).toEqual({ a: 1 });
    context.put("w", "broken", { b: 1 }, change(1));
    expect(context.find("w", "broken")).toEqual({ b: 1 });
  });
  expect(world.sql("SELECT before FROM context_history WHERE section = 'broken' ORDER BY id DESC LIMIT 1")).toEqual([
    { before: "{not" },
  ]);
});

test("sections are listed by name; workspaces with theirs of one name, where it is an object", () => {
  using world = scriptedWorld();
  within(world, (context) => {
    for (const section of ["stack", "apps", "project_identity"]) context.put("w", section, {}, change(0));
    context.put("v", "project_identity", { shop: {} }, change(0));
    expect(context.list("w").map((one) => one.section)).toEqual(["apps", "project_identity", "stack"]);
    expect(context.listWorkspaces("project_identity")).toEqual([
      { workspace: "v", payload: { shop: {} } },
      { workspace: "w", payload: {} },
    ]);
    expect(context.listWorkspaces("none")).toEqual([]);
  });
  world.sql("UPDATE context_sections SET payload = '[]' WHERE workspace = 'v'");
  within(world, (context) =>
    expect(context.listWorkspaces("project_identity").map((one) => one.workspace)).toEqual(["w"]),
  );
});

test("a key __proto__ comes back as the key that it is", () => {
  using world = scriptedWorld();
  const parsed = parseJson('{"__proto__":{"polluted":true},"constructor":1}');
  if (!parsed.ok) throw new Error("not JSON");
  within(world, (context) => {
    context.put("w", "__proto__", parsed.value as JsonObject, change(0));
    const found = context.find("w", "__proto__") as JsonObject;
    expect(Object.keys(found)).toEqual(["__proto__", "constructor"]);
    expect(JSON.stringify(found)).toBe('{"__proto__":{"polluted":true},"constructor":1}');
  });
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("a section belongs to a workspace that is there, and goes with it", () => {
  using world = scriptedWorld();
  expect(() => world.store.write(({ context }) => context.put("nowhere", "stack", {}, change(0)))).toThrow(
    "FOREIGN KEY",
  );
  expect(world.sql("SELECT * FROM context_history")).toEqual([]);
});
