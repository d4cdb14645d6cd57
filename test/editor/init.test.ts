import { expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { initialEnvelope } from "../../src/core/contract/envelope.ts";
import { initDraft } from "../../src/editor/init.ts";
import { undoChange } from "../../src/editor/undo.ts";
import {
  at,
  born,
  cleanRefusalOf,
  draftOf,
  everything,
  fileOf,
  fill,
  journalOf,
  refusalOf,
  verbsOf,
} from "../support/turn.ts";
import { scriptedWorld } from "../support/world.ts";

const AGENT = "a0123456789abcdef";
const NONE = { agent_id: null, draft_id: null };

test("init mints both ids, writes the initial draft, and makes no row", () => {
  using world = scriptedWorld();
  const done = initDraft(world, NONE);
  expect(done).toMatchObject({
    agent_id: "a0000000000000001",
    draft_id: "a0000000000000001.000000000002",
    agent_id_minted: true,
    change_id: 1,
    warnings: [],
  });
  expect(JSON.stringify(draftOf(world, done.draft_id))).toBe(JSON.stringify(initialEnvelope(done.agent_id)));
  expect(world.sql("SELECT * FROM handoffs")).toEqual([]);
  expect(journalOf(world, done.draft_id)[0]).toMatchObject({ verb: "init", changes: [{ path: "" }] });
});

test.each([
  { given: { agent_id: AGENT, draft_id: null }, draft: `${AGENT}.000000000001` },
  { given: { agent_id: null, draft_id: `${AGENT}.x` }, draft: `${AGENT}.x` },
  { given: { agent_id: AGENT, draft_id: `${AGENT}.x.y` }, draft: `${AGENT}.x.y` },
  { given: { agent_id: null, draft_id: AGENT }, draft: AGENT },
])("init of $given makes $draft", ({ given, draft }) => {
  using world = scriptedWorld();
  expect(initDraft(world, given)).toMatchObject({ agent_id: AGENT, draft_id: draft, agent_id_minted: false });
  expect(draftOf(world, draft).agent_status).toMatchObject({ agent_id: AGENT });
});

test.each(["A0123456789abcdef", "a0123456789abcde", `${AGENT}\n`, `${AGENT}g`, `${AGENT}.x`, "x/y", ""])(
  "a malformed agent id %j is an AGENT_ID_FORMAT or missing, and no file is made",
  (agent_id) => {
    using world = scriptedWorld();
    const error = refusalOf(() => initDraft(world, { agent_id, draft_id: null }));
    expect(error).toMatchObject({ code: "validation", status: "rejected" });
    expect(error.details.codes).toEqual([agent_id === "" ? "MISSING_FIELD" : "AGENT_ID_FORMAT"]);
    expect(existsSync(world.draftsPath)).toBe(false);
    expect(world.sql("SELECT * FROM journal")).toEqual([]);
  },
);

test("a draft id whose agent part is malformed is an AGENT_ID_FORMAT too", () => {
  using world = scriptedWorld();
  expect(refusalOf(() => initDraft(world, { agent_id: null, draft_id: "b.1" })).details.codes).toEqual([
    "AGENT_ID_FORMAT",
  ]);
});

test("two ids of two agents make no sense together", () => {
  using world = scriptedWorld();
  const error = refusalOf(() => initDraft(world, { agent_id: AGENT, draft_id: "a0123456789abcdee.1" }));
  expect(error.code).toBe("usage");
});

test("a draft id that is no file name is refused first", () => {
  using world = scriptedWorld();
  expect(refusalOf(() => initDraft(world, { agent_id: AGENT, draft_id: "../x" })).code).toBe("invalid_draft_id");
});

test("an existing draft is not overwritten", () => {
  using world = scriptedWorld();
  const { draft_id } = initDraft(world, NONE);
  fill(world, draft_id, { conclusion: "kept" });
  expect(cleanRefusalOf(world, () => initDraft(world, { agent_id: null, draft_id })).code).toBe("draft_exists");
});

test("nor is the contract of a row, whose file is lost: its evidence is adopted, never blanked", () => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, { conclusion: "kept" });
  rmSync(fileOf(world, id));
  expect(cleanRefusalOf(world, () => initDraft(world, { agent_id: null, draft_id: id })).code).toBe("draft_exists");
});

test("a draft that housekeeping took is begun anew, and what it held can be brought back", () => {
  using world = scriptedWorld();
  const { draft_id } = initDraft(world, NONE);
  fill(world, draft_id, { conclusion: "kept" });
  rmSync(fileOf(world, draft_id));
  initDraft(world, { agent_id: null, draft_id });
  expect(draftOf(world, draft_id).conclusion).toBeNull();
  expect(verbsOf(world, draft_id)).toEqual(["init", "fill", "init"]);
  undoChange(world, at(draft_id), null);
  expect(draftOf(world, draft_id).conclusion).toBe("kept");
});

test("two inits of one id at once make one draft", () => {
  using one = scriptedWorld();
  using two = scriptedWorld({ folder: one.folder });
  initDraft(one, { agent_id: null, draft_id: `${AGENT}.1` });
  const before = everything(one);
  expect(refusalOf(() => initDraft(two, { agent_id: null, draft_id: `${AGENT}.1` })).code).toBe("draft_exists");
  expect(everything(one)).toEqual(before);
});
