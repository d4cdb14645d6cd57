import { expect, test } from "bun:test";
import { acceptProposals, previewAccept, rejectProposals } from "../../src/context/decide.ts";
import { setSection } from "../../src/context/sections.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { showHandoff } from "../../src/editor/look.ts";
import { born, cleanRefusalOf, closing, everything, fill, finalize, rowOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const STACK = { contract: "stack", payload: { api: { port: 8080 }, list: [3], gone: null } };
const APPS = { contract: "apps", payload: { shop: "web" } };

function put(world: ScriptedWorld, workspace: string, section: string, payload: JsonObject): void {
  setSection(world, { workspace, section, payload, by: null });
}

function sectionOf(world: ScriptedWorld, workspace: string, section: string): JsonValue | undefined {
  return world.store.read(({ context }) => context.find(workspace, section));
}

/** A closed turn with these proposals. */
function proposed(world: ScriptedWorld, updates: JsonValue, workspace = "me"): string {
  const id = born(world, { workspace });
  fill(world, id, closing("COMPLETE", { update_contracts: updates }));
  finalize(world, id);
  return id;
}

const request = (id: string, entry: number | null = null) => ({ id, entry, by: "ada" });
const rejection = (id: string, entry: number | null = null) => ({ ...request(id, entry), reason: "not now" });

function statusesOf(world: ScriptedWorld, id: string): readonly string[] {
  return world.store.read(({ proposals }) => proposals.listOf(id).map((one) => one.status));
}

function refusedOf(world: ScriptedWorld, id: string): readonly JsonObject[] {
  return JSON.parse(rowOf(world, id).update_contracts_refused ?? "[]") as JsonObject[];
}

function historyOf(world: ScriptedWorld): readonly JsonObject[] {
  return world.sql<JsonObject>(
    "SELECT workspace, section, before, after, proposal_id, changed_by FROM context_history WHERE proposal_id IS NOT NULL",
  );
}

// Accepting

test("accepting merges every pending proposal into the row's workspace, and keeps what it replaced", () => {
  using world = scriptedWorld({ workspace: "elsewhere" });
  const stored = { api: { port: 80, host: "a" }, list: [1, 2], gone: { x: 1 }, kept: true };
  put(world, "w", "stack", stored);
  const id = proposed(world, [STACK, APPS], "w");
  world.advance(60);
  const outcome = { key: null, workspace: "w", code: null, reason: null };
  expect(acceptProposals(world, request(id))).toEqual({
    contract_id: id,
    handoff_id: 1,
    dry_run: false,
    accepted: 2,
    outcomes: [
      { ...outcome, proposal_id: 1, entry: 0, section: "stack", action: "merge" },
      { ...outcome, proposal_id: 2, entry: 1, section: "apps", action: "insert" },
    ],
  });
  const after = { api: { port: 8080, host: "a" }, list: [3], gone: null, kept: true };
  expect([sectionOf(world, "w", "stack"), sectionOf(world, "w", "apps")]).toEqual([after, { shop: "web" }]);
  expect(sectionOf(world, "elsewhere", "stack")).toBeUndefined();
  const common = { workspace: "w", changed_by: "ada" };
  expect(historyOf(world)).toEqual([
    { ...common, section: "stack", before: JSON.stringify(stored), after: JSON.stringify(after), proposal_id: 1 },
    { ...common, section: "apps", before: null, after: '{"shop":"web"}', proposal_id: 2 },
  ]);
  const decision = { status: "accepted", decided_by: "ada", decided_at: "2026-01-01T00:01:00Z", decision_note: null };
  expect(showHandoff(world, id).proposals).toMatchObject([decision, decision]);
  expect(rowOf(world, id).update_contracts_refused).toBeNull();
});

test("a turn is named by its contract or by its number", () => {
  using world = scriptedWorld();
  const [first, second] = [proposed(world, [STACK]), proposed(world, [APPS])];
  expect(acceptProposals(world, request("2"))).toMatchObject({ contract_id: second, handoff_id: 2 });
  expect(statusesOf(world, first)).toEqual(["pending"]);
  expect(rejectProposals(world, rejection("1"))).toEqual({ contract_id: first, handoff_id: 1, rejected: [0] });
});

test("--entry takes the one proposal of that place", () => {
  using world = scriptedWorld();
  const id = proposed(world, [STACK, 5, APPS]);
  expect(acceptProposals(world, request(id, 2)).outcomes).toMatchObject([{ entry: 2, section: "apps" }]);
  expect(statusesOf(world, id)).toEqual(["pending", "accepted"]);
  expect(sectionOf(world, "me", "stack")).toBeUndefined();
  for (const entry of [1, 2, 7]) {
    const error = cleanRefusalOf(world, () => acceptProposals(world, request(id, entry)));
    expect(error).toMatchObject({ code: "nothing_pending", message: expect.stringContaining(`entry ${entry}`) });
  }
});

test("a stored section that is no object is replaced", () => {
  using world = scriptedWorld();
  put(world, "me", "apps", {});
  world.sql("UPDATE context_sections SET payload = '[1]'");
  acceptProposals(world, request(proposed(world, [APPS])));
  expect(sectionOf(world, "me", "apps")).toEqual({ shop: "web" });
});

const DECIDED = [
  { what: "accepted", decide: (world: ScriptedWorld, id: string) => void acceptProposals(world, request(id)) },
  { what: "rejected", decide: (world: ScriptedWorld, id: string) => void rejectProposals(world, rejection(id)) },
  {
    what: "superseded",
    decide: (world: ScriptedWorld) => void world.sql("UPDATE proposals SET status = 'superseded'"),
  },
];
test.each(DECIDED)("a proposal that was $what is no longer pending, for no verb", ({ decide }) => {
  using world = scriptedWorld();
  const id = proposed(world, [STACK]);
  decide(world, id);
  for (const act of [
    () => acceptProposals(world, request(id)),
    () => previewAccept(world, request(id)),
    () => rejectProposals(world, rejection(id)),
  ]) {
    const error = cleanRefusalOf(world, act);
    expect(error.code).toBe("nothing_pending");
    expect(error.hint).toContain(id);
  }
});

test("a turn without proposals has nothing pending; an unknown one has no row", () => {
  using world = scriptedWorld();
  const id = proposed(world, []);
  expect(cleanRefusalOf(world, () => acceptProposals(world, request(id))).code).toBe("nothing_pending");
  for (const unknown of ["a00000000000000ff.1", "0", "99", "01", "-1", "1e3", "9".repeat(30), ""]) {
    for (const act of [acceptProposals, previewAccept]) {
      expect(cleanRefusalOf(world, () => act(world, request(unknown))).code).toBe("no_row");
    }
    expect(cleanRefusalOf(world, () => rejectProposals(world, rejection(unknown))).code).toBe("no_row");
  }
});

test("a turn decides on no proposal, not even to look at it", () => {
  using world = scriptedWorld();
  const id = proposed(world, [STACK]);
  const inside = { ...world, contractId: id };
  expect(cleanRefusalOf(world, () => acceptProposals(inside, request(id))).code).toBe("not_inside_a_turn");
  expect(cleanRefusalOf(world, () => previewAccept(inside, request(id))).code).toBe("not_inside_a_turn");
  expect(cleanRefusalOf(world, () => rejectProposals(inside, rejection(id))).code).toBe("not_inside_a_turn");
});

test("an accept that cannot be stored merges nothing", () => {
  using world = scriptedWorld();
  put(world, "me", "project_identity", { shop: {} });
  const id = proposed(world, [STACK, { contract: "project_identity", payload: { shop: { a: 1 }, gone: {} } }, APPS]);
  world.sql(
    "CREATE TRIGGER fails BEFORE INSERT ON context_history WHEN new.section = 'apps' BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  const before = everything(world);
  expect(() => acceptProposals(world, request(id))).toThrow("no");
  expect(everything(world)).toEqual(before);
});

// project_identity

function identities(world: ScriptedWorld): void {
  put(world, "shops", "project_identity", { shop_front: { path: "/srv/shop" }, both: {}, "a-b": {}, a_b: {} });
  put(world, "bills", "project_identity", { billing: {}, both: { x: 1 } });
}

function identity(world: ScriptedWorld, payload: JsonObject): string {
  return proposed(world, [{ contract: "project_identity", payload }]);
}

test("a payload of project_identity is split by owner, under the stored spelling", () => {
  using world = scriptedWorld();
  identities(world);
  const id = identity(world, { "shop-front": { workflow: "trunk" }, billing: { path: "/srv/bills" } });
  const outcome = {
    proposal_id: 1,
    entry: 0,
    section: "project_identity",
    action: "merge",
    code: null,
    reason: null,
  } as const;
  expect(acceptProposals(world, request(id)).outcomes).toEqual([
    { ...outcome, key: "shop_front", workspace: "shops" },
    { ...outcome, key: "billing", workspace: "bills" },
  ]);
  expect(sectionOf(world, "shops", "project_identity")).toEqual({
    shop_front: { path: "/srv/shop", workflow: "trunk" },
    both: {},
    "a-b": {},
    a_b: {},
  });
  expect(sectionOf(world, "bills", "project_identity")).toEqual({ billing: { path: "/srv/bills" }, both: { x: 1 } });
  expect(sectionOf(world, "me", "project_identity")).toBeUndefined(); // never the row's own
  expect(historyOf(world).map((one) => [one.workspace, one.proposal_id])).toEqual([
    ["shops", 1],
    ["bills", 1],
  ]);
  expect(statusesOf(world, id)).toEqual(["accepted"]);
});

test("a key without exactly one owner is refused and stamped, and the other keys go through", () => {
  using world = scriptedWorld();
  identities(world);
  const id = proposed(world, [
    5,
    { contract: "project_identity", payload: { nowhere: {}, billing: { a: 1 }, both: {}, "a-b": { c: 1 } } },
  ]);
  const done = acceptProposals(world, request(id));
  expect(done.accepted).toBe(1);
  expect(done.outcomes.map((one) => [one.key, one.workspace, one.action, one.code])).toEqual([
    ["billing", "bills", "merge", null],
    ["a-b", "shops", "merge", null],
    ["nowhere", null, "refuse", "project_unowned"],
    ["both", null, "refuse", "project_ambiguous"],
  ]);
  expect(refusedOf(world, id).map((one) => [one.index, one.contract, one.key, one.code])).toEqual([
    [0, null, null, "entry_not_object"], // the close's own
    [1, "project_identity", "nowhere", "project_unowned"],
    [1, "project_identity", "both", "project_ambiguous"],
  ]);
  expect(String(refusedOf(world, id)[2]?.reason)).toContain('"bills"');
  expect(statusesOf(world, id)).toEqual(["accepted"]);
  expect(showHandoff(world, id).notices.map((line) => line.replace(/ --.*/, ""))).toEqual([
    "refused: update_contracts[0]: entry_not_object",
    'refused: update_contracts[1] "project_identity" key "nowhere": project_unowned',
    'refused: update_contracts[1] "project_identity" key "both": project_ambiguous',
  ]);
});

test("the workspace of the row owns no project by being it", () => {
  using world = scriptedWorld();
  put(world, "me", "project_identity", { other: {} });
  const id = identity(world, { shop: {} });
  expect(acceptProposals(world, request(id))).toMatchObject({ accepted: 0, outcomes: [{ code: "project_unowned" }] });
  expect(sectionOf(world, "me", "project_identity")).toEqual({ other: {} });
});

test("what nobody owns stays pending, is stamped once however often it is tried, and goes through when it is owned", () => {
  using world = scriptedWorld();
  const id = identity(world, { shop: { a: 1 } });
  for (const _ of [1, 2]) expect(acceptProposals(world, request(id)).accepted).toBe(0);
  expect(statusesOf(world, id)).toEqual(["pending"]);
  expect(refusedOf(world, id)).toHaveLength(1);
  put(world, "w", "project_identity", { shop: {} });
  expect(acceptProposals(world, request(id)).accepted).toBe(1);
  expect(sectionOf(world, "w", "project_identity")).toEqual({ shop: { a: 1 } });
});

test("refusals that somebody broke by hand are replaced by those of the accept", () => {
  using world = scriptedWorld();
  const id = identity(world, { shop: {} });
  world.sql("UPDATE handoffs SET update_contracts_refused = '{'");
  acceptProposals(world, request(id));
  expect(refusedOf(world, id)).toMatchObject([{ code: "project_unowned" }]);
});

// Looking first

test("a preview says exactly what accepting then does, and writes nothing", () => {
  using world = scriptedWorld();
  identities(world);
  put(world, "me", "apps", { a: 1 });
  const twice = { contract: "stack", payload: { more: 1 } };
  const split = { contract: "project_identity", payload: { billing: {}, nowhere: {}, both: {} } };
  const id = proposed(world, [STACK, twice, APPS, split]);
  const before = everything(world);
  const preview = previewAccept(world, request(id));
  expect(everything(world)).toEqual(before);
  expect(preview.outcomes.map((one) => [one.section, one.key, one.workspace, one.action])).toEqual([
    ["stack", null, "me", "insert"],
    ["stack", null, "me", "merge"],
    ["apps", null, "me", "merge"],
    ["project_identity", "billing", "bills", "merge"],
    ["project_identity", "nowhere", null, "refuse"],
    ["project_identity", "both", null, "refuse"],
  ]);
  expect({ ...preview, dry_run: false }).toEqual(acceptProposals(world, request(id)));
  expect(sectionOf(world, "me", "stack")).toEqual({ ...STACK.payload, more: 1 });
});

test("without a store there is no turn to preview", () => {
  using world = scriptedWorld();
  expect(cleanRefusalOf(world, () => previewAccept({ ...world, store: null }, request("1"))).code).toBe("no_row");
});

// Rejecting

test("rejecting marks the pending proposals, keeps the reason, and changes nothing else", () => {
  using world = scriptedWorld();
  put(world, "me", "stack", { kept: 1 });
  const id = proposed(world, [STACK, 5, APPS, { contract: "docs", payload: {} }]);
  acceptProposals(world, request(id, 3));
  const before = everything(world).tables;
  world.advance(60);
  expect(rejectProposals(world, rejection(id))).toEqual({ contract_id: id, handoff_id: 1, rejected: [0, 2] });
  const decision = {
    status: "rejected",
    decided_by: "ada",
    decided_at: "2026-01-01T00:01:00Z",
    decision_note: "not now",
  };
  expect(showHandoff(world, id).proposals).toMatchObject([decision, decision, { status: "accepted" }]);
  const { proposals: _, ...others } = everything(world).tables;
  const { proposals: __, ...untouched } = before;
  expect(others).toEqual(untouched);
});

test("one entry is rejected alone, with or without a reason", () => {
  using world = scriptedWorld();
  const id = proposed(world, [STACK, APPS]);
  expect(rejectProposals(world, { ...request(id, 1), reason: null }).rejected).toEqual([1]);
  expect(showHandoff(world, id).proposals).toMatchObject([
    { status: "pending" },
    { status: "rejected", decision_note: null },
  ]);
});

test("the first id of a chain names the link whose proposals wait", () => {
  using world = scriptedWorld();
  const first = born(world);
  fill(world, first, closing("BLOCKED"));
  finalize(world, first);
  fill(world, first, closing("BLOCKED", { update_contracts: [STACK] }));
  const { draft_id: second } = finalize(world, first);
  const refusal = cleanRefusalOf(world, () => acceptProposals(world, request(first)));
  expect(refusal).toMatchObject({ code: "nothing_pending" });
  expect(refusal.hint).toContain(`It is continued by ${second}, which has 1`);
});
