/** What the closes, the stop lane and `show` do with `update_contracts`. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { setSection } from "../../src/context/sections.ts";
import type { ProposalRow } from "../../src/core/context/repository.ts";
import { WritError } from "../../src/core/error.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import type { Capture } from "../../src/core/record/tool-record.ts";
import type { Dispatch } from "../../src/editor/dispatch.ts";
import type { Closing } from "../../src/editor/finalize.ts";
import { initDraft } from "../../src/editor/init.ts";
import { showHandoff } from "../../src/editor/look.ts";
import { stopTurn } from "../../src/editor/stop.ts";
import {
  COMMAND,
  CORRECTED,
  correction,
  correctionOf,
  GOAL,
  IDENTITY,
  OUTPUT,
  PROJECT,
  STACK,
} from "../support/correction.ts";
import {
  born,
  cleanRefusalOf,
  closing,
  draftOf,
  everything,
  fileOf,
  fill,
  finalize,
  ran,
  rowJson,
  rowOf,
  task,
} from "../support/turn.ts";
import { type Script, type ScriptedWorld, scriptedWorld } from "../support/world.ts";

function proposalsOf(world: ScriptedWorld, contractId: string): readonly ProposalRow[] {
  return world.store.read(({ proposals }) => proposals.listOf(contractId));
}

function refusedOf(world: ScriptedWorld, contractId: string): readonly JsonObject[] | null {
  const text = rowOf(world, contractId).update_contracts_refused;
  return text === null ? null : (JSON.parse(text) as JsonObject[]);
}

function sectionOf(world: ScriptedWorld, section: string, workspace = "me"): JsonValue | undefined {
  return world.store.read(({ context }) => context.find(workspace, section));
}

function put(world: ScriptedWorld, section: string, payload: JsonObject, workspace = "me"): void {
  setSection({ ...world, contractId: null }, { workspace, section, payload, by: "ada" });
}

/** A turn ready to close BLOCKED with these updates. */
function proposing(world: ScriptedWorld, updates: JsonValue, more: Partial<Dispatch> = {}): string {
  const id = born(world, more);
  fill(world, id, closing("BLOCKED", { update_contracts: updates }));
  return id;
}

/** Edits the draft by hand, which is how a contract that is closed and not final comes to another verdict. */
function edit(world: ScriptedWorld, draftId: string, more: JsonObject): void {
  writeFileSync(fileOf(world, draftId), JSON.stringify({ ...draftOf(world, draftId), ...more }));
}

function stop(world: ScriptedWorld, contract_id: string) {
  const rest = { transcript: null, stop_reason: null, session_id: null, redactCommand: (text: string) => text };
  return stopTurn(world, { contract_id, ...rest });
}

const STACK_ENTRY = { contract: "stack", payload: { api: { port: 8080 } } };
const APPS_ENTRY = { contract: "apps", payload: { shop: null } };

// Proposals

test("every valid entry becomes a pending proposal of its row, its place and its words", () => {
  using world = scriptedWorld();
  put(world, "project_identity", IDENTITY);
  const id = proposing(world, [STACK_ENTRY, APPS_ENTRY], { project: PROJECT });
  world.advance(5);
  const done = finalize(world, id);
  expect(done).toMatchObject({
    proposals: { stored: 2, refused: [], applied: [] },
    notices: [`2 project-context updates proposed for storefront — contract ${id}`],
    evidence_ids: [],
  });
  const common = {
    handoff_id: done.handoff_id,
    contract_id: id,
    drift: null,
    workspace: "me",
    project: "storefront",
    goal_project_token: null,
    status: "pending",
    failed_guards: null,
    decided_by: null,
    decided_at: null,
    decision_note: null,
    created_at: "2026-01-01T00:00:05Z",
  };
  expect(proposalsOf(world, id)).toEqual([
    {
      ...common,
      id: 1,
      entry_index: 0,
      entry_hash: world.sha256('{"contract":"stack","payload":{"api":{"port":8080}}}'),
      section: "stack",
      payload: { api: { port: 8080 } },
    },
    {
      ...common,
      id: 2,
      entry_index: 1,
      entry_hash: world.sha256('{"contract":"apps","payload":{"shop":null}}'),
      section: "apps",
      payload: { shop: null },
    },
  ]);
  expect(rowOf(world, id).update_contracts_refused).toBeNull();
  expect([sectionOf(world, "stack"), sectionOf(world, "apps")]).toEqual([undefined, undefined]);
});

test("a proposal may be of any section: can_write does not gate it", () => {
  using world = scriptedWorld();
  const id = proposing(world, [STACK_ENTRY], { can_write: ["apps"], can_read: [] });
  expect(finalize(world, id).proposals).toEqual({ stored: 1, refused: [], applied: [] });
});

test.each([
  { given: { project: "storefront" }, row: { project: null, goal_project_token: "storefront" }, named: "storefront" },
  {
    given: { goal: "Fix storefront now" },
    row: { project: null, goal_project_token: "storefront" },
    named: "storefront",
  },
  { given: {}, row: { project: null, goal_project_token: null }, named: "an unresolved project" },
])("a dispatch of $given leaves its proposals to $named", ({ given, row, named }) => {
  using world = scriptedWorld();
  put(world, "project_identity", IDENTITY, "other");
  const id = proposing(world, [STACK_ENTRY], given);
  expect(finalize(world, id).notices).toEqual([`1 project-context update proposed for ${named} — contract ${id}`]);
  expect(proposalsOf(world, id)).toMatchObject([row]);
});

test.each([
  { what: "one entry", value: { ...STACK_ENTRY }, sections: ["stack"] },
  { what: "an object of sections", value: { stack: { a: 1 }, apps: { b: 2 } }, sections: ["stack", "apps"] },
  { what: "null", value: null, sections: [] },
  { what: "an empty list", value: [], sections: [] },
] as { what: string; value: JsonValue; sections: string[] }[])(
  "$what is read as the list that it abbreviates",
  ({ value, sections }) => {
    using world = scriptedWorld();
    const id = proposing(world, value);
    finalize(world, id);
    expect(proposalsOf(world, id).map((one) => one.section)).toEqual(sections);
    expect(refusedOf(world, id)).toBeNull();
  },
);

test.each([
  { entry: 5, code: "entry_not_object", contract: null },
  { entry: [], code: "entry_not_object", contract: null },
  { entry: { payload: {} }, code: "contract_missing", contract: null },
  { entry: { contract: " ", payload: {} }, code: "contract_missing", contract: " " },
  { entry: { contract: "stack" }, code: "payload_missing", contract: "stack" },
  { entry: { contract: "stack", payload: null }, code: "payload_not_object", contract: "stack" },
  { entry: { contract: "stack", payload: ["a"] }, code: "payload_not_object", contract: "stack" },
])("$entry is stamped as $code, and neither blocks the close nor its siblings", ({ entry, code, contract }) => {
  using world = scriptedWorld();
  const id = proposing(world, [APPS_ENTRY, entry, STACK_ENTRY]);
  const done = finalize(world, id);
  expect(done.status).toBe("finalized");
  const [refusal, ...more] = refusedOf(world, id) ?? [];
  expect(more).toEqual([]);
  expect(Object.keys(refusal ?? {}).toSorted()).toEqual(["code", "contract", "hint", "index", "key", "reason"]);
  expect(refusal).toMatchObject({ index: 1, contract, key: null, code });
  expect(String(refusal?.hint)).toContain('"payload":{');
  expect(done.proposals.refused as unknown).toEqual([refusal]);
  expect(done.notices).toHaveLength(2);
  expect(done.notices[1]).toStartWith("refused: update_contracts[1]");
  expect(done.notices[1]).toContain(code);
  expect(proposalsOf(world, id).map((one) => [one.entry_index, one.section])).toEqual([
    [0, "apps"],
    [2, "stack"],
  ]);
});

test.each(["text", 5, true])("%p is no list: it is refused whole, and the turn closes", (value) => {
  using world = scriptedWorld();
  const id = born(world);
  fill(world, id, closing("BLOCKED"));
  edit(world, id, { update_contracts: value });
  expect(finalize(world, id).status).toBe("finalized");
  expect(refusedOf(world, id)).toMatchObject([{ index: 0, contract: null, key: null, code: "not_an_array" }]);
  expect(proposalsOf(world, id)).toEqual([]);
});

test("the same entry twice is one proposal; a key that an entry does not have is dropped", () => {
  using world = scriptedWorld();
  const id = proposing(world, [STACK_ENTRY, { ...STACK_ENTRY, note: "mine" }, STACK_ENTRY]);
  expect(finalize(world, id).proposals.stored).toBe(1);
  expect(proposalsOf(world, id)).toHaveLength(1);
});

test("a checkpoint settles nothing: no proposal, no evidence, no refusal, no correction", () => {
  using world = scriptedWorld();
  const id = correcting(world, [STACK_ENTRY, 5, correction(), deposit(task(world, "b").brief_id)], {
    state: "IN_PROGRESS",
  });
  expect(finalize(world, id)).toMatchObject({
    status: "checkpointed",
    proposals: { stored: 0, refused: [], applied: [] },
    notices: [],
    evidence_ids: [],
  });
  expect(proposalsOf(world, id)).toEqual([]);
  expect(refusedOf(world, id)).toBeNull();
  expect(world.sql("SELECT * FROM evidence")).toEqual([]);
  expect(sectionOf(world, "stack")).toEqual(STACK);
});

test("a close that is refused settles nothing", () => {
  using world = scriptedWorld();
  const id = correcting(world, [STACK_ENTRY, 5, correction(), deposit(task(world, "b").brief_id)], {
    state: "COMPLETE",
    more: { evidence_report: { verification: { type: "command", command: "bun test", result: "pass" } } },
  });
  expect(cleanRefusalOf(world, () => finalize(world, id)).code).toBe("content_unverified");
});

test("a turn that was never dispatched proposes for the workspace of its close", () => {
  using world = scriptedWorld();
  const { draft_id } = initDraft(world, { agent_id: "a00000000000000aa", draft_id: null });
  fill(world, draft_id, closing("BLOCKED", { update_contracts: [STACK_ENTRY] }));
  finalize(world, draft_id, { workspace: "w" });
  expect(proposalsOf(world, draft_id)).toMatchObject([{ workspace: "w", project: null }]);
});

// Finalizing again

test("a proposal that is still made is left alone, whatever was decided; the order of the list does not matter", () => {
  using world = scriptedWorld();
  const third = { contract: "docs", payload: {} };
  const id = proposing(world, [STACK_ENTRY, APPS_ENTRY, third]);
  finalize(world, id);
  for (const [number, status] of [
    [1, "accepted"],
    [2, "rejected"],
  ] as const) {
    const decision = { status, decided_by: "ada", decided_at: "2026-01-02T00:00:00Z", decision_note: null };
    world.store.write(({ proposals }) => proposals.decide(number, decision));
  }
  const before = proposalsOf(world, id);
  edit(world, id, { update_contracts: [third, APPS_ENTRY, STACK_ENTRY] });
  expect(finalize(world, id)).toMatchObject({
    proposals: { stored: 3 },
    notices: [`1 project-context update proposed for an unresolved project — contract ${id}`],
  });
  expect(proposalsOf(world, id)).toEqual(before);
});

test("a pending proposal that is no longer made is superseded; a decided one stays decided; a new one is stored", () => {
  using world = scriptedWorld();
  const id = proposing(world, [STACK_ENTRY, APPS_ENTRY]);
  finalize(world, id);
  const decision = {
    status: "accepted",
    decided_by: "ada",
    decided_at: "2026-01-02T00:00:00Z",
    decision_note: null,
  } as const;
  world.store.write(({ proposals }) => proposals.decide(2, decision));
  world.advance(60);
  edit(world, id, { update_contracts: [{ contract: "stack", payload: { api: { port: 9090 } } }, 5] });
  expect(finalize(world, id).proposals).toMatchObject({ stored: 1, refused: [{ index: 1 }] });
  expect(proposalsOf(world, id)).toMatchObject([
    { id: 1, status: "superseded", decided_by: null, decided_at: "2026-01-01T00:01:00Z" },
    { id: 3, status: "pending", payload: { api: { port: 9090 } } },
    { id: 2, ...decision },
  ]);
  edit(world, id, { update_contracts: [] });
  expect(finalize(world, id).notices).toEqual([]);
  expect(refusedOf(world, id)).toBeNull(); // rewritten at each finalize
  expect(proposalsOf(world, id)[1]).toMatchObject({ id: 3, status: "superseded" });

  // Made once more, it waits for a decision once more.
  edit(world, id, { update_contracts: [{ contract: "stack", payload: { api: { port: 9090 } } }] });
  finalize(world, id);
  expect(proposalsOf(world, id)[1]).toMatchObject({ id: 3, status: "pending", decided_at: null });
});

test("a COMPLETE contract is announced again and changed no more", () => {
  using world = scriptedWorld();
  const id = correcting(world, [STACK_ENTRY, 5, correction()], { state: "COMPLETE" });
  const first = finalize(world, id);
  const before = everything(world);
  const again = finalize(world, id);
  expect(again.created).toBe(false);
  expect(again.notices).toEqual(first.notices);
  expect(again.proposals).toMatchObject({ stored: 2, refused: [{ index: 1 }], applied: [] });
  expect(everything(world)).toEqual(before);
});

// Evidence

function deposit(brief_id: JsonValue, more: JsonObject = {}): JsonObject {
  return { contract: "evidence", payload: { brief_id, ac_id: "AC-1", type: "text", text: "3 pass", ...more } };
}

function evidenceRows(world: ScriptedWorld): readonly JsonObject[] {
  return world.sql<JsonObject>("SELECT * FROM evidence ORDER BY id");
}

test("an evidence entry is deposited at the close, and proposes nothing", () => {
  using world = scriptedWorld();
  const { brief_id, task_id } = task(world, "b");
  const entry = deposit(String(brief_id), { task_id, polarity: "negative", size_bytes: 6 });
  const id = proposing(world, [entry]);
  world.advance(9);
  const done = finalize(world, id);
  expect(done).toMatchObject({ evidence_ids: [1], proposals: { stored: 0, refused: [] }, notices: [] });
  expect(evidenceRows(world)).toEqual([
    {
      id: 1,
      brief_id,
      ac_id: "AC-1",
      task_id,
      type: "text",
      polarity: "negative",
      text: "3 pass",
      artifact_path: null,
      size_bytes: 6,
      created_by_agent: "backend-dev",
      source_contract_id: id,
      source_entry_hash: world.sha256(JSON.stringify(entry)),
      created_at: "2026-01-01T00:00:09Z",
    },
  ]);
  expect(proposalsOf(world, id)).toEqual([]);
});

test("what the entry says of its maker wins; polarity is positive unless it says otherwise", () => {
  using world = scriptedWorld();
  const { brief_id } = task(world, "b");
  finalize(world, proposing(world, [deposit(brief_id, { created_by_agent: "qa" })]));
  expect(evidenceRows(world)).toMatchObject([{ created_by_agent: "qa", polarity: "positive", task_id: null }]);
});

test("an artifact is kept under the path that it resolves to", () => {
  const script: Script = { resolveArtifact: (path) => (path === "~/e/a.png" ? "/data/evidence/a.png" : null) };
  using world = scriptedWorld(script);
  const { brief_id } = task(world, "b");
  const shot = (path: string) => deposit(brief_id, { type: "screenshot", text: null, artifact_path: path });
  finalize(world, proposing(world, [shot("~/e/a.png")]));
  expect(evidenceRows(world)).toMatchObject([{ text: null, artifact_path: "/data/evidence/a.png" }]);
  const id = proposing(world, [shot("/tmp/a.png")]);
  finalize(world, id);
  expect(refusedOf(world, id)).toMatchObject([{ code: "evidence_rejected" }]);
  expect(String(refusedOf(world, id)?.[0]?.reason)).toContain('"/tmp/a.png"');
  expect(evidenceRows(world)).toHaveLength(1);
});

test("one defect fails the batch, each entry of it is stamped, and the other entries go through", () => {
  using world = scriptedWorld();
  const { brief_id } = task(world, "b");
  const id = proposing(world, [
    deposit(brief_id),
    STACK_ENTRY,
    deposit(99, { ac_id: " " }),
    { contract: "apps" },
    deposit(brief_id, { text: "other" }),
  ]);
  const done = finalize(world, id);
  expect(evidenceRows(world)).toEqual([]);
  expect(done).toMatchObject({ status: "finalized", evidence_ids: [], proposals: { stored: 1 } });
  const refused = refusedOf(world, id) ?? [];
  expect(refused.map((one) => [one.index, one.code, one.key])).toEqual([
    [0, "evidence_rejected", null],
    [2, "evidence_rejected", null],
    [3, "payload_missing", null],
    [4, "evidence_rejected", null],
  ]);
  // The place counts evidence entries alone.
  expect(refused[1]?.reason).toBe("evidence[1]: brief_id 99 names no brief; evidence[1]: ac_id is missing");
  for (const sibling of [0, 3]) expect(String(refused[sibling]?.reason)).toContain("evidence[1]: brief_id 99");
  expect(proposalsOf(world, id).map((one) => one.section)).toEqual(["stack"]);
});

test("a task of another brief is a defect", () => {
  using world = scriptedWorld();
  const [one, other] = [task(world, "b"), task(world, "c")];
  const id = proposing(world, [deposit(one.brief_id, { task_id: other.task_id })]);
  finalize(world, id);
  expect(refusedOf(world, id)).toMatchObject([{ code: "evidence_rejected" }]);
  expect(evidenceRows(world)).toEqual([]);
});

test("nothing is deposited twice: not within a list, not by finalizing again; what is new is", () => {
  using world = scriptedWorld();
  const { brief_id } = task(world, "b");
  const id = proposing(world, [deposit(brief_id), deposit(brief_id)]);
  expect(finalize(world, id).evidence_ids).toEqual([1]);
  expect(finalize(world, id).evidence_ids).toEqual([]);
  edit(world, id, { update_contracts: [deposit(brief_id, { text: "later" }), deposit(brief_id)] });
  expect(finalize(world, id).evidence_ids).toEqual([2]);
  edit(world, id, { update_contracts: [] }); // what was deposited stays
  finalize(world, id);
  expect(evidenceRows(world).map((row) => row.text)).toEqual(["3 pass", "later"]);
  const other = proposing(world, [deposit(brief_id)]);
  expect(finalize(world, other).evidence_ids).toEqual([3]);
});

test("a batch that failed is deposited by the finalize that mends it, once", () => {
  using world = scriptedWorld();
  const { brief_id } = task(world, "b");
  const id = proposing(world, [deposit(brief_id), deposit(99)]);
  expect(finalize(world, id).evidence_ids).toEqual([]);
  edit(world, id, { update_contracts: [deposit(brief_id), deposit(brief_id, { text: "mended" })] });
  expect(finalize(world, id)).toMatchObject({ evidence_ids: [1, 2], proposals: { refused: [] } });
  expect(refusedOf(world, id)).toBeNull();
});

// Corrections

type Correcting = {
  readonly turn?: Partial<Dispatch>;
  readonly state?: string;
  readonly more?: JsonObject;
  /** Null: nothing was run. */
  readonly run?: Partial<Capture> | null;
  readonly stored?: JsonObject;
};

/** A turn of which every guard holds, but for what is given, ready to close. */
function correcting(world: ScriptedWorld, updates: readonly JsonValue[], given: Correcting = {}): string {
  put(world, "project_identity", IDENTITY);
  put(world, "stack", given.stored ?? STACK);
  const id = born(world, { project: PROJECT, goal: GOAL, ...given.turn });
  const run = { output: OUTPUT, ended_at: "2026-01-01T00:00:42Z", ...given.run };
  if (given.run !== null) ran(world, id, given.run?.command ?? COMMAND, run);
  fill(world, id, closing(given.state ?? "BLOCKED", { update_contracts: updates, ...given.more }));
  return id;
}

function historyOf(world: ScriptedWorld): readonly JsonObject[] {
  return world.sql<JsonObject>("SELECT * FROM context_history WHERE section = 'stack' ORDER BY id");
}

/** The correction of this close stayed pending for these reasons, and touched nothing. */
function expectPending(world: ScriptedWorld, id: string, done: Closing, guards: readonly string[]): void {
  expect(done.proposals.applied).toEqual([]);
  expect(done.notices.join("\n")).not.toContain("changed:");
  expect(proposalsOf(world, id)).toMatchObject([
    { status: "pending", failed_guards: guards, decided_by: null, decision_note: null },
  ]);
  expect(historyOf(world)).toHaveLength(1);
}

test("a correction whose every guard holds is applied at the close, with its evidence", () => {
  using world = scriptedWorld();
  const id = correcting(world, [correction()]);
  world.advance(60);
  const done = finalize(world, id);
  expect(done).toMatchObject({
    proposals: { stored: 1, refused: [], applied: [{ project: PROJECT, section: "stack", key_path: "api.image" }] },
    notices: ["changed: project context storefront/stack.api.image"],
  });
  expect(sectionOf(world, "stack")).toEqual(CORRECTED);
  const by = `auto:${rowOf(world, id).agent_id}`;
  const [proposal] = proposalsOf(world, id);
  expect(proposal).toMatchObject({
    status: "accepted",
    decided_by: by,
    decided_at: "2026-01-01T00:01:00Z",
    failed_guards: null,
    drift: correction().drift as JsonObject,
  });
  expect(JSON.parse(proposal?.decision_note ?? "")).toEqual({
    command: COMMAND,
    exit_code: 0,
    ran_at: "2026-01-01T00:00:42Z",
    output: OUTPUT,
  });
  expect(historyOf(world).at(-1)).toEqual({
    id: 3,
    workspace: "me",
    section: "stack",
    before: JSON.stringify(STACK),
    after: JSON.stringify(CORRECTED),
    proposal_id: proposal?.id ?? 0,
    changed_by: by,
    changed_at: "2026-01-01T00:01:00Z",
  });
});

test.each(["APPROVAL_REQUEST", "NEEDS_INPUT", "COMPLETE"])("it is applied by a close as %s too", (state) => {
  using world = scriptedWorld();
  const more: JsonObject = state === "APPROVAL_REQUEST" ? { approval_request: { exact_content: "rm x" } } : {};
  const id = correcting(world, [correction()], { state, more });
  expect(finalize(world, id).proposals.applied).toHaveLength(1);
});

type Broken = { readonly what: string; readonly guards: readonly string[]; readonly entry?: JsonObject } & Correcting;

const broken: readonly Broken[] = [
  { what: "observed on a date alone", guards: ["drift_shape"], entry: correction({ observed_at: "2026-01-01" }) },
  {
    what: "a second change rides along",
    guards: ["payload_matches"],
    entry: { ...correction(), payload: { api: { image: "api-server-v7", spec: "image" } } },
  },
  { what: "no project", guards: ["project_resolved"], turn: { project: null } },
  { what: "a project that did not resolve", guards: ["project_resolved"], turn: { project: "nowhere" } },
  { what: "a section of another spelling", guards: ["section_exact"], entry: { ...correction(), contract: "Stack" } },
  {
    what: "a section that says where",
    guards: ["section_exact", "how_section"],
    entry: { ...correction(), contract: "clusters" },
  },
  {
    what: "a key that says where",
    guards: ["how_keys"],
    entry: correctionOf("api.kubeContext", "api-server-v7"),
  },
  {
    what: "a stored value that it would replace",
    guards: ["nothing_lost"],
    stored: { api: { image: "api-server-v6" } },
  },
  { what: "a stored null that it would replace", guards: ["nothing_lost"], stored: { api: { image: null } } },
  { what: "a command that did not run", guards: ["run_recorded", "value_shown"], run: null },
  { what: "another command that ran", guards: ["run_recorded", "value_shown"], run: { command: `${COMMAND} ` } },
  { what: "a run that failed", guards: ["run_recorded", "value_shown"], run: { exit_code: 1 } },
  { what: "a run of unknown outcome", guards: ["run_recorded", "value_shown"], run: { exit_code: null } },
  { what: "a value within a longer word", guards: ["value_shown"], run: { output: "image: api-server-v7.1\n" } },
  { what: "a value in the tail alone", guards: ["value_shown"], run: { output: "image:", tail: OUTPUT } },
  {
    what: "a short value",
    guards: ["value_long"],
    entry: correctionOf("api.image", "v71"),
    run: { output: "image: v71\n" },
  },
  {
    what: "a number",
    guards: ["value_not_numeric"],
    entry: correctionOf("api.port", "8080"),
    run: { output: "port: 8080\n" },
  },
  {
    what: "a redacted value",
    guards: ["value_clean"],
    entry: correctionOf("api.image", "[REDACTED]-v7"),
    run: { output: "image: [REDACTED]-v7\n" },
  },
  {
    what: "a value that the command says",
    guards: ["value_not_in_command"],
    entry: correctionOf("api.image", "deploy"),
    run: { output: "image: deploy\n" },
  },
  ...[
    {
      what: "two commands",
      guards: ["single_command", "allowlisted", "target_single", "target_in_goal"],
      command: `${COMMAND}; true`,
    },
    {
      what: "a word of planning",
      guards: ["tier_t0"],
      command: COMMAND.replace("get deploy api", "describe deploy lint"),
    },
    { what: "a verb that is not listed", guards: ["allowlisted"], command: COMMAND.replace("get", "logs") },
    { what: "no namespace", guards: ["target_single", "target_in_goal"], command: COMMAND.replace(" -n shop", "") },
    {
      what: "a context that the goal does not name",
      guards: ["target_in_goal"],
      command: COMMAND.replace("prod-eu", "prod"),
    },
  ].map(({ what, guards, command }) => ({ what, guards, entry: correction({ command }), run: { command } })),
];

test.each(broken)("$what keeps a correction pending: $guards", ({ guards, entry, ...given }) => {
  using world = scriptedWorld();
  const id = correcting(world, [entry ?? correction()], given);
  const done = finalize(world, id);
  expect(done.status).toBe("finalized");
  expectPending(world, id, done, guards);
  expect(sectionOf(world, "stack")).toEqual(given.stored ?? STACK);
});

test("every guard that fails is kept, not the first alone", () => {
  using world = scriptedWorld();
  const id = correcting(world, [correction({ command: "true" })], { turn: { project: null, goal: null } });
  expectPending(world, id, finalize(world, id), [
    "project_resolved",
    "run_recorded",
    "value_shown",
    "allowlisted",
    "target_single",
    "target_in_goal",
  ]);
});

test("what the envelope says ran is no record, and neither is what another turn ran", () => {
  using world = scriptedWorld();
  const said = {
    evidence_report: { commands_run: [COMMAND] },
    harness_record: [{ command: COMMAND, exit_code: 0, output: OUTPUT }],
  };
  const id = correcting(world, [correction()], { run: null, more: said });
  ran(world, born(world, { project: PROJECT, goal: GOAL }), COMMAND, { output: OUTPUT });
  expectPending(world, id, finalize(world, id), ["run_recorded", "value_shown"]);
});

test.each(["edit", "read"] as const)("an entry of the record that is a %s is no run, whatever it says", (tool) => {
  using world = scriptedWorld();
  const id = correcting(world, [correction()], { run: { tool, path: "/work/a" } });
  expectPending(world, id, finalize(world, id), ["run_recorded", "value_shown"]);
});

test("the last run of the command counts", () => {
  using world = scriptedWorld();
  const id = correcting(world, [correction()]);
  ran(world, id, COMMAND, { output: "image: api-server-v8\n" });
  expectPending(world, id, finalize(world, id), ["value_shown"]);
  const other = correcting(world, [correction()], { run: { exit_code: 1 } });
  ran(world, other, COMMAND, { output: OUTPUT });
  expect(finalize(world, other).proposals.applied).toHaveLength(1);
});

test("the section of the turn's own workspace is corrected, and no other", () => {
  using world = scriptedWorld();
  put(world, "project_identity", IDENTITY, "w");
  const here = correcting(world, [correction()], { turn: { workspace: "w" } });
  expect(finalize(world, here).proposals.applied).toEqual([]);
  expect(proposalsOf(world, here)).toMatchObject([{ failed_guards: ["section_exact"] }]);
  put(world, "stack", { api: {} }, "w");
  const there = correcting(world, [correction()], { turn: { workspace: "w" } });
  expect(finalize(world, there).proposals.applied).toHaveLength(1);
  expect(sectionOf(world, "stack", "w")).toEqual({ api: { image: "api-server-v7" } });
  expect(sectionOf(world, "stack", "me")).toEqual(STACK);
});

test("of two corrections the second is held against what the first one left", () => {
  using world = scriptedWorld();
  const output = "image: api-server-v7\nbase: alpine-3.19\n";
  const second = correctionOf("api.base", "alpine-3.19");
  const against = correctionOf("api.base", "api-server-v7");
  const id = correcting(world, [correction(), second, against, STACK_ENTRY], { run: { output } });
  const done = finalize(world, id);
  expect(done.proposals.applied.map((one) => one.key_path)).toEqual(["api.image", "api.base"]);
  expect(done.notices).toEqual([
    `2 project-context updates proposed for storefront — contract ${id}`,
    "changed: project context storefront/stack.api.image",
    "changed: project context storefront/stack.api.base",
  ]);
  expect(proposalsOf(world, id).map((one) => [one.status, one.failed_guards])).toEqual([
    ["accepted", null],
    ["accepted", null],
    ["pending", ["nothing_lost"]],
    ["pending", null],
  ]);
  expect(sectionOf(world, "stack")).toEqual({
    ...STACK,
    api: { language: "go", image: "api-server-v7", base: "alpine-3.19" },
  });
});

test.each([{ drift: null }, { drift: "text" }, { drift: [] }])(
  "a drift of $drift is one that fails, not one that is not there",
  ({ drift }) => {
    using world = scriptedWorld();
    const id = correcting(world, [{ ...correction(), drift }]);
    finalize(world, id);
    expect(proposalsOf(world, id)[0]).toMatchObject({ status: "pending" });
    expect(proposalsOf(world, id)[0]?.failed_guards).toContain("drift_shape");
  },
);

test("a correction that cannot be applied stays pending, and the close stands", () => {
  using world = scriptedWorld();
  const id = correcting(world, [correction(), STACK_ENTRY]);
  world.sql("CREATE TRIGGER fails BEFORE INSERT ON context_history BEGIN SELECT RAISE(ABORT, 'no history'); END");
  const done = finalize(world, id);
  expect(done).toMatchObject({ status: "finalized", proposals: { stored: 2, applied: [] } });
  expect(rowOf(world, id).agent_state).toBe("BLOCKED");
  expect(proposalsOf(world, id).map((one) => [one.status, one.decided_by, one.failed_guards])).toEqual([
    ["pending", null, ["apply_failed"]],
    ["pending", null, null],
  ]);
  expect(sectionOf(world, "stack")).toEqual(STACK); // its first half is undone too
});

test("a store that fails while applying fails the close: nothing stands on it", () => {
  using world = scriptedWorld();
  const id = correcting(world, [correction()]);
  const full = new WritError("store_failed", "The disk is full");
  const failing: ScriptedWorld = {
    ...world,
    store: {
      ...world.store,
      write: (unit) =>
        world.store.write((tables) =>
          unit({
            ...tables,
            nested: () => {
              throw full;
            },
          }),
        ),
    },
  };
  expect(cleanRefusalOf(world, () => finalize(failing, id))).toBe(full);
});

test.each(["UPDATE ON handoffs", "INSERT ON journal"])(
  "a close that fails after the correction was applied (%s) leaves project context as it was",
  (place) => {
    using world = scriptedWorld();
    const id = correcting(world, [correction(), STACK_ENTRY, deposit(task(world, "b").brief_id)]);
    world.sql(`CREATE TRIGGER fails BEFORE ${place} BEGIN SELECT RAISE(ABORT, 'the disk says no'); END`);
    const before = everything(world);
    expect(() => finalize(world, id)).toThrow("the disk says no");
    expect(everything(world)).toEqual(before);
    world.sql("DROP TRIGGER fails");
    expect(finalize(world, id).proposals.applied).toHaveLength(1);
  },
);

test("finalizing again applies nothing anew, and leaves alone what was pending", () => {
  using world = scriptedWorld();
  const id = correcting(world, [correction()]);
  finalize(world, id);
  put(world, "stack", { api: { image: "pinned" } });
  expect(finalize(world, id)).toMatchObject({
    proposals: { stored: 1, applied: [] },
    notices: ["changed: project context storefront/stack.api.image"],
  });
  expect(sectionOf(world, "stack")).toMatchObject({ api: { image: "pinned" } });

  put(world, "stack", { web: "static" });
  const late = correcting(world, [correctionOf("api.base", "api-server-v7")], { run: null });
  finalize(world, late);
  ran(world, late, COMMAND, { output: OUTPUT });
  expect(finalize(world, late).proposals.applied).toEqual([]);
  expect(proposalsOf(world, late)).toMatchObject([
    { status: "pending", failed_guards: ["run_recorded", "value_shown"] },
  ]);
});

// The stop lane

test("a turn that stops has its shape checked, and nothing is stored, deposited or applied", () => {
  using world = scriptedWorld();
  const id = correcting(world, [STACK_ENTRY, { contract: "stack" }, correction(), deposit(99), deposit(1)]);
  task(world, "b");
  expect(stop(world, id)).toMatchObject({ cut_reason: "reaped", notices: [] });
  expect(refusedOf(world, id)).toMatchObject([{ index: 1, code: "payload_missing" }]);
  expect(proposalsOf(world, id)).toEqual([]);
  expect(evidenceRows(world)).toEqual([]);
  expect(sectionOf(world, "stack")).toEqual(STACK);
  expect(showHandoff(world, id).notices).toEqual([
    expect.stringMatching(/^refused: update_contracts\[1\] "stack": payload_missing/),
  ]);
});

test("a turn that stops with nothing to refuse has nothing stamped", () => {
  using world = scriptedWorld();
  const id = proposing(world, [STACK_ENTRY]);
  stop(world, id);
  expect(rowOf(world, id).update_contracts_refused).toBeNull();
});

test("a turn that closed itself is announced when it stops, and nothing changes", () => {
  using world = scriptedWorld();
  const id = correcting(world, [STACK_ENTRY, 5, correction()]);
  const { notices } = finalize(world, id);
  expect(notices).toHaveLength(3);
  const before = everything(world);
  expect(stop(world, id)).toEqual({ contract_id: id, cut_reason: null, notices, warnings: [] });
  expect(everything(world)).toEqual(before);
});

test("a turn that was cut and then closes itself has its updates settled, once", () => {
  using world = scriptedWorld();
  const id = correcting(world, [STACK_ENTRY, correction(), deposit(task(world, "b").brief_id)]);
  stop(world, id);
  expect(finalize(world, id)).toMatchObject({ status: "finalized", evidence_ids: [1], proposals: { stored: 2 } });
  expect(sectionOf(world, "stack")).toEqual(CORRECTED);
});

// show

test("show says what is proposed, refused and changed, as the close did, and holds the proposals", () => {
  using world = scriptedWorld();
  const id = correcting(world, [STACK_ENTRY, { contract: "apps" }, correction()]);
  const { notices } = finalize(world, id);
  const shown = showHandoff(world, id);
  expect(shown.notices).toEqual(notices);
  expect(shown.notices.map((line) => line.split(/[:—]/, 1)[0])).toEqual([
    "1 project-context update proposed for storefront ",
    "refused",
    "changed",
  ]);
  expect(shown.proposals).toEqual(proposalsOf(world, id));
});

test("what the orchestrator decided is no longer announced: only a correction changed something by itself", () => {
  using world = scriptedWorld();
  const id = correcting(world, [STACK_ENTRY, correction({ observed_at: "" })]);
  finalize(world, id);
  expect(showHandoff(world, id).notices).toHaveLength(1);
  const decision = { status: "accepted", decided_by: "ada", decided_at: "", decision_note: null } as const;
  world.store.write(({ proposals }) => {
    for (const number of [1, 2]) proposals.decide(number, decision);
  });
  expect(showHandoff(world, id).notices).toEqual([]);
});

test("refusals that somebody broke by hand do not stop show", () => {
  using world = scriptedWorld();
  const id = proposing(world, [5]);
  finalize(world, id);
  for (const text of ["{", "{}", "null"]) {
    world.sql("UPDATE handoffs SET update_contracts_refused = ?", text);
    expect(showHandoff(world, id).notices).toEqual([]);
  }
});

test("the envelope keeps what the turn proposed, word for word", () => {
  using world = scriptedWorld();
  const updates = [STACK_ENTRY, 5, correction()];
  const id = correcting(world, updates);
  finalize(world, id);
  expect(rowJson(world, id).update_contracts).toEqual(updates);
});
