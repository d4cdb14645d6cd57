import { expect, test } from "bun:test";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { WritError } from "../../src/core/error.ts";
import { resolveTarget } from "../../src/editor/target.ts";
import { at, fileOf, refusalOf } from "../support/turn.ts";
import { type Script, type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const A = "a00000000000000aa";
const B = "a00000000000000bb";

/** Draft files by id, with the age of each in minutes; those of `spent` have a closed row. */
function worldOf(
  drafts: Readonly<Record<string, number>>,
  spent: readonly string[] = [],
  script: Script = {},
): ScriptedWorld {
  const world = scriptedWorld(script);
  mkdirSync(world.draftsPath, { recursive: true });
  world.sql("INSERT INTO workspaces (name, created_at) VALUES ('me', '')");
  for (const [id, age] of Object.entries(drafts)) {
    writeFileSync(fileOf(world, id), "{}");
    const time = Date.parse("2026-01-01T12:00:00Z") / 1000 - age * 60;
    utimesSync(fileOf(world, id), time, time);
    world.sql(
      "INSERT INTO handoffs (contract_id, agent_id, workspace, agent_state, raw_handoff_json, created_at) VALUES (?, ?, 'me', ?, '{}', '')",
      id,
      id.split(".")[0] ?? "",
      spent.includes(id) ? "BLOCKED" : "DISPATCHED",
    );
  }
  return world;
}

const byAgent = (agent_id: string) => ({ draft_id: null, agent_id });

test("--draft-id wins over everything, and need not exist", () => {
  using world = worldOf({ [`${A}.1`]: 0 }, [], { contractId: `${B}.1` });
  const target = resolveTarget(world, { draft_id: `${A}.9`, agent_id: B });
  expect(target).toEqual({ draft_id: `${A}.9`, named: true });
});

test.each([
  { what: "empty", id: "" },
  { what: "hidden", id: ".x" },
  { what: "a path up", id: "../x" },
  { what: "with a backslash", id: "a\\b" },
  { what: "with a NUL", id: "a\0b" },
  { what: "with a newline", id: "a\n" },
  { what: "of 201 bytes", id: "a".repeat(201) },
  { what: "of 201 bytes in 101 letters", id: `${"é".repeat(100)}a` },
])("a draft id that is $what is refused before any file is looked at", ({ id }) => {
  using world = scriptedWorld({ contractId: id });
  const blind: ScriptedWorld = {
    ...world,
    get drafts(): never {
      throw new Error("a file was looked at");
    },
  };
  const error = refusalOf(() => resolveTarget(blind, at(id)));
  expect(error.code).toBe("invalid_draft_id");
  expect(refusalOf(() => resolveTarget(blind, at(null))).message).toContain("WRIT_CONTRACT_ID");
});

test("an id of 200 bytes is none too many", () => {
  using world = scriptedWorld();
  expect(resolveTarget(world, at("a".repeat(200))).named).toBe(true);
});

test("--agent-id without a draft is no_draft, also where the agent's name is the start of another's", () => {
  using world = worldOf({ [`${A}0.1`]: 0 });
  expect(refusalOf(() => resolveTarget(world, byAgent(A)))).toMatchObject({
    code: "no_draft",
    message: `No draft found for agent '${A}'. Run 'writ contract init' first.`,
  });
});

test.each([
  { what: "one draft", drafts: { [`${A}.1`]: 5, [`${B}.1`]: 0 }, spent: [], found: `${A}.1` },
  { what: "one live among spent ones", drafts: { [`${A}.1`]: 5, [`${A}.2`]: 0 }, spent: [`${A}.2`], found: `${A}.1` },
  {
    what: "all spent: the newest",
    drafts: { [`${A}.1`]: 5, [`${A}.2`]: 0, [`${A}.3`]: 9 },
    spent: [`${A}.1`, `${A}.2`, `${A}.3`],
    found: `${A}.2`,
  },
])("--agent-id with $what", ({ drafts, spent, found }) => {
  using world = worldOf(drafts as Record<string, number>, spent, { contractId: `${B}.1` });
  expect(resolveTarget(world, byAgent(A))).toEqual({ draft_id: found, named: false });
});

test("--agent-id with two live drafts is ambiguous, and the spent one is no candidate", () => {
  using world = worldOf({ [`${A}.1`]: 5, [`${A}.2`]: 0, [`${A}.3`]: 1 }, [`${A}.3`]);
  const error = refusalOf(() => resolveTarget(world, byAgent(A)));
  expect(error).toMatchObject({ code: "ambiguous_agent_draft", status: "error" });
  expect(error.details).toEqual({
    candidates: [
      { draft_id: `${A}.2`, modified_at: "2026-01-01T12:00:00Z", agent_state: "DISPATCHED" },
      { draft_id: `${A}.1`, modified_at: "2026-01-01T11:55:00Z", agent_state: "DISPATCHED" },
    ],
  });
  expect(error.lines).toEqual([
    `  --draft-id ${A}.2  2026-01-01T12:00:00Z  DISPATCHED`,
    `  --draft-id ${A}.1  2026-01-01T11:55:00Z  DISPATCHED`,
  ]);
});

test("WRIT_CONTRACT_ID comes after the flags and before the drafts that are there", () => {
  using world = worldOf({ [`${A}.1`]: 0 }, [], { contractId: `${B}.7` });
  expect(resolveTarget(world, at(null))).toEqual({ draft_id: `${B}.7`, named: true });
});

test.each([
  { what: "one draft", drafts: { [`${A}.1`]: 0 }, spent: [], found: `${A}.1` },
  { what: "two of one agent: the newest", drafts: { [`${A}.1`]: 0, [`${A}.2`]: 3 }, spent: [], found: `${A}.1` },
  { what: "a tie: the last by name", drafts: { [`${A}.1`]: 3, [`${A}.2`]: 3 }, spent: [], found: `${A}.2` },
  {
    what: "a live one older than a spent one",
    drafts: { [`${A}.1`]: 0, [`${B}.1`]: 3 },
    spent: [`${A}.1`],
    found: `${B}.1`,
  },
  {
    what: "spent ones of one agent",
    drafts: { [`${A}.1`]: 4, [`${A}.2`]: 3 },
    spent: [`${A}.1`, `${A}.2`],
    found: `${A}.2`,
  },
])("without any id, $what", ({ drafts, spent, found }) => {
  using world = worldOf(drafts as Record<string, number>, spent);
  expect(resolveTarget(world, at(null))).toEqual({ draft_id: found, named: false });
});

test("without any id and any draft there is none", () => {
  using world = scriptedWorld();
  expect(refusalOf(() => resolveTarget(world, at(null)))).toMatchObject({
    code: "no_draft",
    message: "No draft found. Run 'writ contract init' first.",
  });
});

test.each([
  { what: "live", spent: [] },
  { what: "spent", spent: [`${A}.1`, `${B}.1`] },
])("$what drafts of two agents are ambiguous", ({ spent }) => {
  using world = worldOf({ [`${A}.1`]: 0, [`${B}.1`]: 1 }, spent);
  const error = refusalOf(() => resolveTarget(world, at(null)));
  expect(error.code).toBe("ambiguous_draft");
  expect(error.message).toContain("2");
});

test("five candidates are printed, newest first, then how many more; the JSON has them all", () => {
  const ids = Array.from({ length: 7 }, (_, number) => `a00000000000000${number}0.1`);
  using world = worldOf(Object.fromEntries(ids.map((id, age) => [id, age])));
  const error = refusalOf(() => resolveTarget(world, at(null)));
  expect(error.lines.map((line) => line.split(/ {2}/)[1])).toEqual([
    ...ids.slice(0, 5).map((id) => `--draft-id ${id}`),
    "and 2 more",
  ]);
  expect((error.details.candidates as { draft_id: string }[]).map((one) => one.draft_id)).toEqual(ids);
});

test("five candidates are all printed, without a count", () => {
  const ids = Array.from({ length: 5 }, (_, number) => `a00000000000000${number}0.1`);
  using world = worldOf(Object.fromEntries(ids.map((id, age) => [id, age])));
  expect(refusalOf(() => resolveTarget(world, at(null))).lines).toHaveLength(5);
});

test("a candidate without a row says so", () => {
  using world = worldOf({ [`${A}.1`]: 0, [`${B}.1`]: 1 });
  world.sql("DELETE FROM handoffs");
  const error = refusalOf(() => resolveTarget(world, at(null)));
  expect(error.lines[0]).toEndWith("no row");
});

test("where the store cannot be read every draft is live", () => {
  using world = worldOf({ [`${A}.1`]: 0, [`${A}.2`]: 1, [`${B}.1`]: 1 }, [`${A}.1`, `${A}.2`]);
  const broken: ScriptedWorld = {
    ...world,
    store: {
      ...world.store,
      read() {
        throw new WritError("store_failed", "no");
      },
    },
  };
  for (const reading of [broken, { ...world, store: null }]) {
    expect(refusalOf(() => resolveTarget(reading, byAgent(A))).code).toBe("ambiguous_agent_draft");
    expect(refusalOf(() => resolveTarget(reading, at(null))).details.candidates).toHaveLength(3);
    expect(resolveTarget(reading, byAgent(B)).draft_id).toBe(`${B}.1`);
  }
});

test("a store that is busy is not a store that cannot be read", () => {
  using world = worldOf({ [`${A}.1`]: 0 });
  const busy: ScriptedWorld = {
    ...world,
    store: {
      ...world.store,
      read() {
        throw new WritError("store_busy", "later");
      },
    },
  };
  expect(refusalOf(() => resolveTarget(busy, byAgent(A))).code).toBe("store_busy");
});
