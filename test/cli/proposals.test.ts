/**
 * `update_contracts` on the real executable: corrections that apply by themselves and those that do not, evidence that
 * is deposited, `writ contract proposals list`, and what `finalize`, `show` and the hook say.
 */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
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
import { documentOf, type LivingWorld, livingWorld, type Ran, shown, type Turn } from "../support/writ.ts";

let world: LivingWorld;
beforeEach(() => {
  world = livingWorld();
});
afterEach(() => world[Symbol.dispose]());

function rows(query: string): readonly JsonObject[] {
  using db = new Database(join(world.data, "writ.db"), { readonly: true });
  return db.query<JsonObject, []>(query).all();
}

async function put(section: string, payload: JsonObject): Promise<void> {
  const ran = await world.writ(["context", "set", section, "--json", JSON.stringify(payload)]);
  if (ran.exit !== 0) throw new Error(shown(ran));
}

async function get(section: string): Promise<JsonValue> {
  return JSON.parse((await world.writ(["context", "get", section])).stdout) as JsonValue;
}

async function fill(turn: Turn, updates: JsonValue, state = "BLOCKED"): Promise<void> {
  const patch = {
    agent_status: { agent_state: state, next_action: "wait" },
    conclusion: "It holds.",
    update_contracts: updates,
  };
  const ran = await turn.writ(["contract", "fill", "-"], { stdin: JSON.stringify(patch) });
  if (ran.exit !== 0) throw new Error(shown(ran));
}

const finalize = (turn: Turn, ...more: string[]): Promise<Ran> => turn.writ(["contract", "finalize", ...more]);

/** A turn that closed with these updates, and what the close printed. */
async function closed(updates: JsonValue, ...args: string[]): Promise<{ readonly turn: Turn; readonly ran: Ran }> {
  const turn = await world.turn(...args);
  await fill(turn, updates);
  const ran = await finalize(turn, "--json");
  if (ran.exit !== 0) throw new Error(shown(ran));
  return { turn, ran };
}

async function proposals(...words: string[]): Promise<readonly JsonObject[]> {
  const ran = await world.writ(["contract", "proposals", "list", "--json", ...words]);
  return documentOf(ran).proposals as JsonObject[];
}

const STACK_ENTRY = { contract: "stack", payload: { api: { port: 8080 } } };
const APPS_ENTRY = { contract: "apps", payload: { shop: "web" } };

describe("a correction of project context", () => {
  /** Puts an executable named kubectl on PATH. */
  function kubectl(script: string): void {
    writeFileSync(join(world.folder, "bin", "kubectl"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  const PRINTS = `printf '%s' '${OUTPUT}'`;
  const DISPATCH = ["--project", PROJECT, "--goal", GOAL];

  beforeEach(async () => {
    kubectl(PRINTS);
    await put("project_identity", IDENTITY);
    await put("stack", STACK);
  });

  const underWrit = (turn: Turn, command = COMMAND) => turn.shell(`writ run -- ${command}`);

  /** The run of a harness that reports it with its hook. */
  async function underHook(turn: Turn, command = COMMAND): Promise<Ran> {
    const { stdout, stderr } = await turn.shell(command);
    const event = {
      hook_event_name: "PostToolUse",
      tool_name: "Bash",
      tool_use_id: "toolu_1",
      tool_input: { command },
      tool_response: { stdout, stderr },
      cwd: world.folder,
    };
    return await turn.writ(["record"], { stdin: JSON.stringify(event) });
  }

  test.each([
    { by: "writ run", report: underWrit },
    { by: "the hook", report: underHook },
  ])("applies at the close when a run that $by reported shows it", async ({ report }) => {
    const turn = await world.turn(...DISPATCH);
    expect((await report(turn)).exit).toBe(0);
    await fill(turn, [correction(), STACK_ENTRY]);
    const ran = await finalize(turn);
    const notices = [
      `1 project-context update proposed for storefront — contract ${turn.id}`,
      "changed: project context storefront/stack.api.image",
    ];
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toStartWith(`OK: draft ${turn.id} finalized (handoff_id=1).\n`);
    expect(ran.stdout).toEndWith(`\n${notices.join("\n")}\n`);
    expect(await get("stack")).toEqual(CORRECTED);

    const by = `auto:${turn.id.split(".", 1)[0]}`;
    const [applied] = await proposals("--status", "accepted");
    expect(applied).toMatchObject({ section: "stack", project: PROJECT, decided_by: by, failed_guards: null });
    const { ran_at, ...note } = JSON.parse(String(applied?.decision_note)) as JsonObject;
    expect(note).toEqual({ command: COMMAND, exit_code: 0, output: OUTPUT });
    expect(ran_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    expect(rows("SELECT * FROM context_history").at(-1)).toMatchObject({
      workspace: "me",
      section: "stack",
      before: JSON.stringify(STACK),
      after: JSON.stringify(CORRECTED),
      proposal_id: applied?.id ?? null,
      changed_by: by,
    });

    // What the orchestrator reads first says it too, and so does the hook when the turn stops.
    const { result, proposals: listed } = documentOf(await world.writ(["contract", "show", turn.id, "--json"]));
    expect(result).toEqual(["tester BLOCKED (handoff_id=1): It holds.", ...notices]);
    expect((listed as JsonObject[]).map((one) => one.status)).toEqual(["accepted", "pending"]);
    expect((await world.writ(["contract", "show", "1"])).stdout.split("\n").slice(0, 4)).toEqual([
      "tester BLOCKED (handoff_id=1): It holds.",
      ...notices,
      "",
    ]);
    const stopped = await turn.writ(["record", "--stop"], { stdin: "{}" });
    expect(shown(stopped)).toBe(`--- stderr\n${notices.join("\n")}\n--- exit 0\n`);
  });

  test("is one of the close's products under --json", async () => {
    const turn = await world.turn(...DISPATCH);
    await underWrit(turn);
    await fill(turn, [correction()]);
    expect(documentOf(await finalize(turn, "--json"))).toMatchObject({
      ok: true,
      proposals: { stored: 1, refused: [], applied: [{ project: PROJECT, section: "stack", key_path: "api.image" }] },
      notices: ["changed: project context storefront/stack.api.image"],
      evidence_ids: [],
    });
  });

  type Broken = {
    readonly what: string;
    readonly guards: readonly string[];
    readonly dispatch?: readonly string[];
    readonly entry?: JsonObject;
    readonly program?: string;
    /** What is run; null: nothing. */
    readonly command?: string | null;
    readonly before?: () => Promise<void>;
  };
  const broken: readonly Broken[] = [
    { what: "no project", guards: ["project_resolved"], dispatch: ["--goal", `${GOAL} of ${PROJECT}`] },
    {
      what: "a goal that names no namespace",
      guards: ["target_in_goal"],
      dispatch: ["--project", PROJECT, "--goal", "Look at prod-eu"],
    },
    {
      what: "a goal that names a longer context",
      guards: ["target_in_goal"],
      dispatch: ["--project", PROJECT, "--goal", "Look at prod-eu-2, namespace shop"],
    },
    { what: "another output", guards: ["value_shown"], program: "echo image: api-server-v70" },
    { what: "a program that fails", guards: ["run_recorded", "value_shown"], program: `${PRINTS}; exit 1` },
    { what: "a command that was not run", guards: ["run_recorded", "value_shown"], command: null },
    { what: "a command inside of another", guards: ["run_recorded", "value_shown"], command: `sh -c "${COMMAND}"` },
    {
      what: "the value beyond the first 500 characters",
      guards: ["value_shown"],
      program: `printf '%0600d\\n' 0; ${PRINTS}`,
    },
    {
      what: "a secret in its place",
      guards: ["value_shown"],
      program: "echo image: ghp_0123456789abcdefghijklmnopqrstuvwxyzAB",
      entry: correctionOf("api.image", "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"),
    },
    { what: "a stored value", guards: ["nothing_lost"], before: () => put("stack", { api: { image: "pinned" } }) },
    { what: "another section", guards: ["section_exact"], entry: correctionOf("api.image", "api-server-v7", "STACK") },
    { what: "a key that says where", guards: ["how_keys"], entry: correctionOf("api.clusterName", "api-server-v7") },
    {
      what: "a second change",
      guards: ["payload_matches"],
      entry: { ...correction(), payload: { api: { image: "api-server-v7", kind: "image" } } },
    },
  ];
  test.each(broken)("stays pending for $what: $guards", async (one) => {
    if (one.program !== undefined) kubectl(one.program);
    await one.before?.();
    const before = await get("stack");
    const turn = await world.turn(...(one.dispatch ?? DISPATCH));
    if (one.command !== null) await underWrit(turn, one.command);
    await fill(turn, [one.entry ?? correction()]);
    const ran = await finalize(turn);
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toEndWith(`\n1 project-context update proposed for ${PROJECT} — contract ${turn.id}\n`);
    expect(await get("stack")).toEqual(before);
    expect(await proposals()).toMatchObject([{ status: "pending", failed_guards: one.guards, decided_by: null }]);
    const { stdout } = await world.writ(["contract", "proposals", "list"]);
    expect(stdout.split("\n")[1]).toEndWith(`  ${one.guards.join(" ")}`);
  });

  test("that stayed pending is the orchestrator's to accept", async () => {
    const turn = await world.turn(...DISPATCH);
    await fill(turn, [correction()]);
    await finalize(turn);
    expect((await world.writ(["context", "accept", turn.id, "--by", "ada"])).exit).toBe(0);
    expect(await get("stack")).toEqual(CORRECTED);
    expect(await proposals("--status", "accepted")).toMatchObject([
      { decided_by: "ada", failed_guards: ["run_recorded", "value_shown"] },
    ]);
    // Nothing changed by itself.
    const { result } = documentOf(await world.writ(["contract", "show", "1", "--json"]));
    expect(result).toHaveLength(1);
  });

  test("is applied by finalize alone: not by a write, a checkpoint or the hook of a turn that stops", async () => {
    const turn = await world.turn(...DISPATCH);
    await underWrit(turn);
    await fill(turn, [correction(), 5], "IN_PROGRESS");
    expect((await finalize(turn)).stdout).toContain("checkpointed");
    await fill(turn, [correction(), 5], "BLOCKED");
    expect((await turn.writ(["record", "--stop"], { stdin: "{}" })).exit).toBe(0);
    expect(await get("stack")).toEqual(STACK);
    expect(await proposals("--status", "all")).toEqual([]);
    const shownRow = documentOf(await world.writ(["contract", "show", "1", "--json"]));
    expect(shownRow.update_contracts_refused).toMatchObject([{ index: 1, code: "entry_not_object" }]);
    expect((await finalize(turn)).stdout).toContain("changed: project context");
  });
});

describe("evidence in update_contracts", () => {
  beforeEach(async () => {
    await world.writ(["task", "brief", "add", "my-brief"]);
  });

  const deposit = (more: JsonObject = {}): JsonObject => ({
    contract: "evidence",
    payload: { brief_id: 1, ac_id: "AC-1", type: "text", text: "3 pass", ...more },
  });
  const artifact = (path: string) => deposit({ type: "file", text: null, artifact_path: path });
  const evidenceFolder = () => join(world.data, "evidence");
  const listed = async () =>
    documentOf(await world.writ(["evidence", "list", "--brief", "my-brief", "--json"])).evidence as JsonObject[];

  /** A file, with the folders above it. */
  function file(path: string): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "seen");
    return path;
  }

  test("is deposited by the close, is named in its answer, and can be shown and cited", async () => {
    const { turn, ran } = await closed([deposit()]);
    expect(documentOf(ran)).toMatchObject({ evidence_ids: [1], proposals: { stored: 0 }, notices: [] });
    expect(documentOf(await world.writ(["evidence", "show", "1", "--json"]))).toMatchObject({
      text: "3 pass",
      created_by_agent: "tester",
      source_contract_id: turn.id,
      polarity: "positive",
    });
    expect(documentOf(await finalize(turn, "--json"))).toMatchObject({ evidence_ids: [], created: true });
    expect(await listed()).toHaveLength(1);
    const next = await world.turn("--brief-id", "1");
    const claim = { evidence_report: { verification: { result: "pass", evidence_ids: [1] } } };
    await next.writ(["contract", "fill", "-"], { stdin: JSON.stringify(claim) });
    await fill(next, []);
    expect((await finalize(next)).exit).toBe(0);
  });

  test("may be a file below the evidence folder, by its path, by a link to it, or under ~", async () => {
    const inside = file(join(evidenceFolder(), "me", "my-brief", "AC-1", "a.png"));
    const link = join(world.folder, "link.png");
    symlinkSync(inside, link);
    const { ran } = await closed([artifact(inside), artifact(link)]);
    expect(documentOf(ran).evidence_ids).toEqual([1, 2]);
    const real = realpathSync(inside);
    expect((await listed()).map((one) => one.artifact_path)).toEqual([real, real]);
  });

  test("may be named from the home folder, where the data folder is below it", async () => {
    using home = livingWorld({ WRIT_DATA_DIR: undefined });
    await home.writ(["task", "brief", "add", "my-brief"]);
    const path = file(join(home.folder, "home", ".writ", "evidence", "a.png"));
    const turn = await home.turn();
    await fill(turn, [artifact("~/.writ/evidence/a.png")]);
    expect(documentOf(await finalize(turn, "--json")).evidence_ids).toEqual([1]);
    expect(documentOf(await home.writ(["evidence", "show", "1", "--json"])).artifact_path).toBe(realpathSync(path));
  });

  test.each([
    { what: "outside", path: () => file(join(world.folder, "a.png")) },
    { what: "relative to the work tree", path: () => relative(world.folder, file(join(world.folder, "a.png"))) },
    { what: "in /tmp", path: () => "/tmp/writ-no-such-artifact.png" },
    { what: "missing", path: () => join(evidenceFolder(), "missing.png") },
    { what: "the folder itself", path: () => dirname(file(join(evidenceFolder(), "a.png"))) },
    { what: "a folder in it", path: () => dirname(file(join(evidenceFolder(), "me", "a.png"))) },
    { what: "beside it, of a like name", path: () => file(join(world.data, "evidence-2", "a.png")) },
    {
      what: "out of it by ..",
      path: () => {
        file(join(world.data, "b.png"));
        mkdirSync(evidenceFolder());
        return `${evidenceFolder()}/../b.png`;
      },
    },
    {
      what: "out of it by a link",
      path: () => {
        mkdirSync(evidenceFolder());
        symlinkSync(file(join(world.folder, "a.png")), join(evidenceFolder(), "link.png"));
        return join(evidenceFolder(), "link.png");
      },
    },
    {
      what: "out of it by a folder that is a link",
      path: () => {
        mkdirSync(evidenceFolder());
        file(join(world.folder, "elsewhere", "a.png"));
        symlinkSync(join(world.folder, "elsewhere"), join(evidenceFolder(), "me"));
        return join(evidenceFolder(), "me", "a.png");
      },
    },
  ])(
    "is refused by name where the artifact lies $what, and so is its batch; the rest goes through",
    async ({ path }) => {
      const named = path();
      const { turn, ran } = await closed([deposit(), STACK_ENTRY, artifact(named)]);
      const document = documentOf(ran);
      const { refused } = document.proposals as { refused: JsonObject[] };
      expect(refused.map((one) => [one.index, one.code])).toEqual([
        [0, "evidence_rejected"],
        [2, "evidence_rejected"],
      ]);
      expect(String(refused[1]?.reason)).toStartWith("evidence[1]: artifact_path ");
      expect(String(refused[1]?.reason)).toContain(named);
      expect(document.evidence_ids).toEqual([]);
      expect(document.notices).toHaveLength(3);
      expect(await listed()).toEqual([]);
      expect(await proposals("--contract-id", turn.id)).toMatchObject([{ section: "stack" }]);
    },
  );
});

describe("writ contract proposals list", () => {
  test("shows one line a proposal: whose it is, where it stands, what decided it", async () => {
    await put("project_identity", IDENTITY);
    const { turn } = await closed([STACK_ENTRY, APPS_ENTRY], "--project", PROJECT);
    await world.writ(["context", "accept", turn.id, "--entry", "0", "--by", "ada"]);
    const ran = await world.writ(["contract", "proposals", "list", "--status", "all"]);
    const pad = "contract_id".padEnd(turn.id.length);
    expect(shown(ran)).toBe(
      [
        `proposal  handoff  ${pad}  entry  section  status    project     decided_by  failed guards`,
        `2         1        ${turn.id}  1      apps     pending   storefront  -           -`,
        `1         1        ${turn.id}  0      stack    accepted  storefront  ada         -`,
        "--- exit 0",
        "",
      ].join("\n"),
    );
  });

  test("gives every column with --json, newest first", async () => {
    const { turn } = await closed([STACK_ENTRY]);
    await closed([APPS_ENTRY]);
    const [newest, first] = await proposals();
    expect(newest).toMatchObject({ id: 2, section: "apps" });
    const { entry_hash, created_at, ...rest } = first ?? {};
    expect(entry_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(created_at).toMatch(/Z$/);
    expect(rest).toEqual({
      id: 1,
      handoff_id: 1,
      contract_id: turn.id,
      entry_index: 0,
      section: "stack",
      payload: { api: { port: 8080 } },
      drift: null,
      workspace: "me",
      project: null,
      goal_project_token: null,
      status: "pending",
      failed_guards: null,
      decided_by: null,
      decided_at: null,
      decision_note: null,
    });
  });

  test("names the goal's project where the dispatch resolved none", async () => {
    await put("project_identity", IDENTITY);
    await closed([STACK_ENTRY], "--goal", "Fix storefront today");
    expect(await proposals()).toMatchObject([{ project: null, goal_project_token: "storefront" }]);
    expect((await world.writ(["contract", "proposals", "list"])).stdout).toContain("  storefront  ");
  });

  test("filters by status and by contract, under both names; pending is the default", async () => {
    const first = (await closed([STACK_ENTRY, APPS_ENTRY])).turn.id;
    const second = (await closed([STACK_ENTRY])).turn.id;
    await world.writ(["context", "accept", first, "--entry", "0"]);
    await world.writ(["context", "reject", second]);
    const ids = async (...words: string[]) => (await proposals(...words)).map((one) => one.id);
    expect(await ids()).toEqual([2]);
    expect(await ids("--status", "pending")).toEqual([2]);
    expect(await ids("--status", "accepted")).toEqual([1]);
    expect(await ids("--status", "rejected")).toEqual([3]);
    expect(await ids("--status", "superseded")).toEqual([]);
    expect(await ids("--status", "all")).toEqual([3, 2, 1]);
    expect(await ids("--status", "all", "--contract-id", first)).toEqual([2, 1]);
    expect(await ids("--status", "all", "--draft-id", second)).toEqual([3]);
    expect(await ids("--contract-id", "a0123456789abcdef.1")).toEqual([]);
  });

  test("finds nothing with status 0, and makes no store for it", async () => {
    expect(shown(await world.writ(["contract", "proposals", "list"]))).toBe("No proposals matched.\n--- exit 0\n");
    expect(documentOf(await world.writ(["contract", "proposals", "list", "--json"]))).toEqual({
      ok: true,
      count: 0,
      proposals: [],
    });
    expect(existsSync(world.data)).toBe(false);
  });

  test("may be called inside a turn: it reads", async () => {
    const { turn } = await closed([STACK_ENTRY]);
    expect((await turn.writ(["contract", "proposals", "list"])).exit).toBe(0);
  });

  test.each([
    { words: ["--status", "open"], near: "" },
    { words: ["--state", "all"], near: "--status" },
    { words: ["operand"], near: "" },
  ])("$words makes no sense: status 2", async ({ words, near }) => {
    const plain = await world.writ(["contract", "proposals", "list", ...words]);
    expect([plain.exit, plain.stdout]).toEqual([2, ""]);
    expect(plain.stderr).toContain(near);
    const json = await world.writ(["contract", "proposals", "list", "--json", ...words]);
    expect([json.exit, documentOf(json).code]).toEqual([2, "usage"]);
  });

  test("ends in 4 when the store is none", async () => {
    const database = join(world.folder, "broken.db");
    writeFileSync(database, "this is no database, and it is long enough to be looked at as one\n".repeat(200));
    const ran = await world.writ(["contract", "proposals", "list", "--json"], { env: { WRIT_DB: database } });
    expect([ran.exit, documentOf(ran).code]).toEqual([4, "store_failed"]);
  });

  test("never lets a hostile section, project or name reach a person as it came; JSON keeps it", async () => {
    const hostile = "start \x1b[31mred\x1b]0;t\x07\r\x9b1m \u202eturned\u2028\nchanged: project context a/b.c";
    const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
    const updates = [
      { contract: hostile, payload: { [hostile]: 1 } },
      { contract: hostile },
      { contract: "project_identity", payload: { [hostile]: {} } },
    ];
    const turn = await world.turn("--project", hostile);
    await fill(turn, updates);
    await turn.writ(["contract", "set", "conclusion", hostile]);
    await finalize(turn);
    await world.writ(["context", "accept", turn.id, "--by", hostile]);
    const plain = [
      await world.writ(["contract", "proposals", "list", "--status", "all"]),
      await world.writ(["contract", "show", turn.id]),
      await finalize(turn),
      await turn.writ(["record", "--stop"], { stdin: "{}" }),
      await world.writ(["contract", "proposals", "list", "--contract-id", hostile]),
    ];
    for (const ran of plain) {
      expect(`${ran.stdout}${ran.stderr}`).not.toMatch(unsafe);
      expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/^changed: /m); // no line of the agent's own making
    }
    expect(plain[0]?.stdout.split("\n")).toHaveLength(4);
    expect((await proposals("--status", "all")).map((one) => one.section)).toEqual(["project_identity", hostile]);
  });
});
