/** Every command that prints a document, played on the real executable, so that each kind of document comes. */
import { Database } from "bun:sqlite";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Brief } from "../../src/core/brief/brief.ts";
import { renderBrief } from "../../src/core/brief/render.ts";
import { isObject, type JsonObject, type JsonValue } from "../../src/core/json/value.ts";
import { PHASE_NAMES } from "../../src/core/tracker/phase.ts";
import { openQuarantine } from "../../src/host/quarantine-file.ts";
import { stateFolder } from "../../src/host/state-folder.ts";
import { startBoard } from "./board.ts";
import { COMMAND, correction, GOAL, IDENTITY, OUTPUT, PROJECT, STACK } from "./correction.ts";
import { delegator, STUCK, TOKEN, tagged, willing } from "./fleet.ts";
import { until } from "./fleet-stage.ts";
import { SHA } from "./flow.ts";
import { startMcp } from "./mcp.ts";
import { configureNode, startNode } from "./node-command.ts";
import { openResuming } from "./resuming.ts";
import { startScriptedSeat, startSeatCommand } from "./scripted-seat.ts";
import { doneResult } from "./wire-result.ts";
import { documentOf, type LivingWorld, livingWorld, type Setting, shown } from "./writ.ts";

const ROOT = join(import.meta.dir, "..", "..");

/** A document as it came: the command or tool, what was typed, and the status. */
export type Played = {
  readonly name: string;
  readonly line: string;
  readonly exit: number;
  readonly document: JsonObject;
};

type Player = {
  /** Types a call with `--json` and keeps its document, which it answers. */
  play(words: readonly string[], setting?: Setting): Promise<JsonObject>;
  /** Keeps a document that came in another way. */
  keep(name: string, line: string, exit: number, document: JsonValue): void;
};

/** @param names of all commands: the longest that a line begins with is its own */
export async function playDocuments(names: readonly string[]): Promise<readonly Played[]> {
  const played: Played[] = [];
  const player = (writ: LivingWorld["writ"]): Player => {
    const keep: Player["keep"] = (name, line, exit, document) => {
      if (!isObject(document)) throw new Error(`${line}: no object`);
      played.push({ name, line, exit, document });
    };
    return {
      keep,
      async play(words, setting) {
        const ran = await writ([...words, "--json"], setting);
        const [name] = names
          .filter((each) => `${words.join(" ")} `.startsWith(`${each} `))
          .toSorted((left, right) => right.length - left.length);
        if (name === undefined) throw new Error(`no command: ${words.join(" ")}`);
        keep(name, words.join(" "), ran.exit, documentOf(ran));
        return documentOf(ran);
      },
    };
  };
  await Promise.all([
    turns(player),
    acceptance(player),
    delegations(player),
    killed(player),
    gates(player),
    flows(player),
  ]);
  return played;
}

type MakePlayer = (writ: LivingWorld["writ"]) => Player;

async function turns(make: MakePlayer): Promise<void> {
  using world = livingWorld();
  const { play, keep } = make(world.writ);
  const { contract_id: bound } = await play(["dispatch", "--agent", "x", "--goal", "g"]);
  await play(["dispatch", "--agent", "x", "--plan-task-id", "99"]);
  await play(["contract", "finalize"]); // two open turns: which one is meant?
  const id = String(bound);
  const own: Setting = { env: { WRIT_CONTRACT_ID: id } };
  const here = (...words: string[]) => play(words, own);
  await world.writ(["run", "-c", "echo printed; ls | cat"], own);
  await world.writ(["run", "-c", "seq 1 900"], own);
  for (const [payload, ...more] of [
    [{ tool: "bash", command: "make", exit_code: 0, output: "made\n" }],
    [{ hook_event_name: "PreToolUse" }],
    [{ tool: "bash", command: "make", exit_code: 0 }, "--contract-id", "a0123456789abcdef.0000000000ff"],
    [{}, "--stop", "--gate", "1"],
  ] as const) {
    await play(["record", ...more], { ...own, stdin: JSON.stringify(payload) });
  }
  await play(["record"], { ...own, stdin: "rubbish" });
  await here("contract", "set", "conclusion", "x");
  await here("contract", "set", "conclusion", "x"); // changes nothing
  await here("contract", "set", "agent_status.agent_stat", "BLOCKED");
  await here("contract", "add", "evidence_report.key_outputs", "one");
  const fill = async (body: string) => {
    const ran = await world.writ(["contract", "fill", "--json", body], own);
    keep("contract fill", `contract fill ${body.slice(0, 40)}`, ran.exit, documentOf(ran));
  };
  await fill('{"evidence_report":{"key_outputs":["two"]}}');
  await fill("conclusion: x\nkey: y\n");
  const claims = {
    evidence_report: {
      verification: { type: "command", command: "echo printed; ls | cat", result: "pass" },
      verbatim_outputs: [
        { command: "seq 1 900", excerpt: "450" },
        { excerpt: 7, command: "seq 1 900", odd: 1 },
      ],
    },
    update_contracts: [{ contract: "stack", payload: { api: 1 } }, 7],
  };
  await fill(JSON.stringify(claims));
  await here("contract", "validate");
  await here("contract", "validate", "--close");
  await here("contract", "finalize");
  await here("contract", "validate", "--close", "--strict");
  await fill('{"agent_status":{"agent_state":"COMPLETE","next_action":"done"}}');
  await here("contract", "set", "evidence_report.verification.command", "never");
  await here("contract", "finalize");
  await here("contract", "undo");
  await here("contract", "finalize", "--strict");
  await here("contract", "finalize");
  await here("contract", "show", id);
  await here("contract", "list");
  await here("contract", "add", "evidence_report.open_gaps", "late");
  await here("contract", "chain");
  await here("contract", "log");
  await here("contract", "diff");
  await here("record", "verify", id);
  await here("contract", "proposals", "list");
  await here("contract", "init");
  await here("contract", "init", "--agent-id", "x");
  await play(["contract", "attest", id, "--out", "statement.json"]);
  await play(["contract", "attest", "--verify", "statement.json"]);
  const statement = readFileSync(join(world.folder, "statement.json"), "utf8");
  writeFileSync(join(world.folder, "forged.json"), statement.replace('"conclusion":"x"', '"conclusion":"y"'));
  await play(["contract", "attest", "--verify", "forged.json"]);
  await play(["key", "new"]);
  await play(["contract", "finalize", "--plan-task-id", "9"], { env: { WRIT_CONTRACT_ID: await world.born() } });
  const prover = await world.turn();
  writeFileSync(join(world.folder, "check.sh"), "test ! -e gone\n");
  await prover.writ(["run", "--", "sh", "check.sh"]);
  const claim = { type: "command", command: "sh check.sh", result: "pass" };
  const status = { agent_state: "COMPLETE", next_action: "done" };
  const patch = { conclusion: "It passes.", evidence_report: { verification: claim }, agent_status: status };
  await prover.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
  await prover.writ(["contract", "finalize"]);
  await play(["contract", "prove", prover.id]);
  writeFileSync(join(world.folder, "gone"), "");
  await play(["contract", "prove", prover.id]);
  breakChain(world, id);
  await play(["record", "verify", id]);
  const board = await startBoard(world, "--json", "--port", "0");
  keep("board", "board", 0, JSON.parse(board.printed));
  await board.stop();
  const stopped = await world.born();
  await play(["record", "--stop", "--contract-id", stopped], { stdin: "{}" });
}

/** As somebody would who can write the store. */
function breakChain(world: LivingWorld, id: string): void {
  using db = new Database(join(world.data, "writ.db"));
  db.query("UPDATE tool_records SET exit_code = 9 WHERE contract_id = ? AND seq = 2").run(id);
}

async function acceptance(make: MakePlayer): Promise<void> {
  using world = livingWorld();
  const { play } = make(world.writ);
  for (const [section, value] of [
    ["project_identity", IDENTITY],
    ["stack", STACK],
  ] as const) {
    const ran = await world.writ(["context", "set", section, "--json", JSON.stringify(value)]);
    if (ran.exit !== 0) throw new Error(shown(ran));
    make(world.writ).keep("context set", `context set ${section}`, ran.exit, documentOf(ran));
  }
  await play(["context", "list"]);
  const turn = await world.turn("--goal", GOAL, "--project", PROJECT);
  const record = { tool: "bash", command: COMMAND, exit_code: 0, output: OUTPUT };
  await turn.writ(["record"], { stdin: JSON.stringify(record) });
  const updates = [
    correction(),
    { contract: "stack", payload: { web: "edge" } },
    { contract: "notes", payload: { a: 1 } },
    { contract: "stack", payload: { api: { port: 1 } }, drift: { key_path: "api.port", old: 5, new: 1 } },
  ];
  const blocked = { agent_state: "BLOCKED", next_action: "wait" };
  const fill = { agent_status: blocked, conclusion: "It holds.", update_contracts: updates };
  await turn.writ(["contract", "fill", "-"], { stdin: JSON.stringify(fill) });
  await turn.writ(["contract", "finalize", "--json"]).then((ran) => {
    make(world.writ).keep("contract finalize", "contract finalize", ran.exit, documentOf(ran));
  });
  await play(["contract", "proposals", "list"]);
  await play(["contract", "show", turn.id]);
  await play(["context", "accept", turn.id, "--entry", "1"]);
  await play(["context", "reject", turn.id]);
  await play(["task", "brief", "add", "b"]);
  await play(["task", "brief", "add", "b"]);
  await play(["task", "brief", "list"]);
  await play(["task", "add", "--brief", "b", "--goal", "g"]);
  await play(["task", "gate", "add", "1", "--type", "command", "--evidence-shape", "x"]);
  await play(["task", "gate", "set", "1", "pass"]);
  await play(["task", "gate", "list", "1"]);
  await play(["task", "list", "--brief", "b"]);
  await play(["task", "set", "1", "skipped"]);
  await play(["task", "set", "99", "done"]);
  await play(["evidence", "add", "--brief", "b", "--ac", "AC-1", "--type", "text", "--text", "x"]);
  await play(["evidence", "list", "--brief", "b"]);
  await play(["evidence", "show", "1"]);
  const { approval_id } = await play(["approvals", "request", "--command", "npm publish"]);
  await play(["approvals", "list"]);
  await play(["approvals", "grant", String(approval_id)]);
  await play(["approvals", "deny", String(approval_id)]);
  const other = await play(["approvals", "request", "--command", "git push"]);
  await play(["approvals", "deny", String(other.approval_id), "--reason", "no"]);
  await play(["hooks", "install", "claude-code"]);
  await play(["hooks", "uninstall", "claude-code"]);
  await play(["completions", "bash"]);
  await play(["version"]);
  await play(["docs"]);
  await play(["docs", "errors"]);
  await play(["docs", "schema"]);
  await play(["template", "list"]);
  await play(["template", "new", "schema-extraction"]);
  await play(["help", "evidence"]);
  await play(["doctor"]);
  await play(["config", "init"], { env: { WRIT_SEAT_URL: undefined } });
  await play(["config", "show"], { env: { WRIT_AGENT_ALLOW_WRITE: "true" } });
  writeFileSync(join(world.folder, "bad.json"), '{\n"seat": [],\n"limits": {"width": 99}}');
  await play(["config", "check", "--config", "bad.json"]);
  await play(["config", "show", "--config", "bad.json"]);
}

const SAY = { id: "say", reply: { content: "Bay QX-9 holds 412 pallets." } };
const MUCH = {
  id: "much",
  when: { goal_contains: "much" },
  reply: { content: [{ repeat: "0123456789abcdé", count: 20_000 }], chunk: { by: "all" } },
};
const FORM = { id: "form", when: { constraint: "any" }, reply: { json: { bay: "QX-9" } } };
const BAY = {
  goal: "Say how many pallets bay QX-9 holds.",
  context: [{ name: "bay.md", text: "Bay QX-9 holds 412 pallets." }],
  output_schema: { type: "object", properties: { bay: { type: "string" } }, required: ["bay"] },
};

async function delegations(make: MakePlayer): Promise<void> {
  await using seat = await startScriptedSeat({ turns: [MUCH, FORM, SAY], slots: 4 });
  using place = livingWorld({ WRIT_NODE_TOKEN: TOKEN });
  configureNode(place, { url: seat.url });
  await using node = await startNode(place, {}, "--json");
  using world = livingWorld({ WRIT_NODE_TOKEN: TOKEN });
  const { play, keep } = make(world.writ);
  keep("node serve", "node serve", 0, JSON.parse(node.printed));
  const config = {
    remotes: [{ url: node.url }],
    seats: [{ name: "s", base_url: seat.url, model: "scripted/test", engine: "llama.cpp" }],
  };
  writeFileSync(join(world.folder, "config.json"), JSON.stringify(config));
  const write = (name: string, value: unknown) => writeFileSync(join(world.folder, name), JSON.stringify(value));
  write("legs.json", [
    { ...BAY, acceptance: ["contains:@grounded:412"] },
    { ...BAY, acceptance: ["contains:QX", "contains:walrus"] },
  ]);
  write("bad.json", [{ goal: "", acceptance: ["min_items:x"] }]);
  write("one.json", { ...BAY, acceptance: ["contains:@grounded:412"] });
  const configured = { env: { WRIT_CONFIG: join(world.folder, "config.json") } };
  const here = (...words: string[]) => play(words, configured);
  const result = await here("delegate", "--contract", "legs.json", "--route", "spread");
  write("result.json", result);
  await here("delegate", "--contract", "one.json", "--remote", "http://127.0.0.1:1", "--route", "remote");
  await here("delegate", "--contract", "bad.json", "--contract", "one.json");
  await here("delegate", "--contract", "one.json", "--route", "local", "--pin-reason", "measurement");
  await here("runs", "list");
  const run = String(result.run_id);
  await here("runs", "show", run);
  await here("runs", "show", run, "--index", "0");
  await here("runs", "show", run, "--index", "0", "--field", "structured");
  await here("lint", "legs.json");
  await here("lint", "bad.json");
  await here("grade", "legs.json", "--result", "result.json");
  await here("node", "status", node.url);
  const mark = { strikes: [Date.now()], until: Date.now() + 60_000 };
  openQuarantine(stateFolder(world.data)).change((marks) => ({ ...marks, far: mark }));
  await here("node", "quarantine", "list");
  await here("node", "quarantine", "clear");
  await here("doctor");
  write("far.json", { ...config, remotes: [...config.remotes, { url: "http://127.0.0.1:1" }] });
  await using mcp = await startMcp(world, { env: { WRIT_CONFIG: join(world.folder, "far.json") } });
  const call = async (tool: string, args: Readonly<Record<string, unknown>>, name = tool) => {
    const { document, isError } = await mcp.call(tool, args);
    keep(name, `${tool} ${JSON.stringify(args).slice(0, 60)}`, isError ? 1 : 0, document);
    return document as JsonObject;
  };
  const subtasks = [{ ...BAY, acceptance: ["contains:@grounded:412"] }];
  await call("agent_delegate", { subtasks: Array(2).fill({ goal: "Say much." }), wait_sec: 50 });
  const { run_id } = await call("agent_delegate", { subtasks, wait_sec: 0 });
  await call("fleet_status", {});
  await call("delegation_result", { run_id, wait_sec: 50 }, "agent_delegate");
  await call("delegation_result", { run_id, index: 0, field: "output" }, "delegation_result with field");
  await call("delegation_result", { run_id, index: 0 }, "delegation_result with index");
  await call("delegation_cancel", { run_id }, "agent_delegate");
  await call("delegation_lint", { subtasks: [{ goal: "Say QX", acceptance: ["contains:QX"] }, { goal: "" }] });
  await call("delegation_template", { name: "schema-extraction" });
  await call("delegation_template", {}, "template list");
  await call("delegation_grade", { contract: subtasks[0], output: "none" }, "grade");
  await using played = await startSeatCommand(world, { turns: [SAY] }, "--json");
  keep("seat serve", "seat serve", 0, JSON.parse(played.printed));
  const script = JSON.stringify({ schema_version: 1, name: "t", turns: [SAY] });
  await play(["seat", "serve", "--script", "-", "--check"], { stdin: script });
  await play(["seat", "serve", "--script", "-", "--check"], { stdin: '{"schema_version": 1, "turn": []}' });
}

/** A delegation that was killed while its leg was at a node. */
async function killed(make: MakePlayer): Promise<void> {
  const stuck = { ...STUCK(), when: { goal_contains: "stuck" } };
  await using seat = await startScriptedSeat(willing(0, [stuck]));
  using place = livingWorld({ WRIT_NODE_TOKEN: TOKEN });
  configureNode(place, { url: seat.url });
  await using node = await startNode(place);
  using from = delegator([node.url]);
  const call = from.call([tagged("a"), tagged("stuck")]);
  await call.says(/succeeded/);
  // The other one is at work there, too: it is what the call leaves behind.
  await until(async () => (await seat.log()).filter(({ tools }) => tools.length > 0).length === 2);
  call.kill("SIGKILL");
  await call.ended;
  const { play } = make(from.world.writ);
  const config = ["--config", join(from.world.folder, "config.json")];
  const { runs } = await play(["runs", "list"]);
  await play(["runs", "show", String((runs as JsonObject[])[0]?.run_id)]);
  await play(["runs", "recover", ...config]);
  mkdirSync(join(from.world.data, "run", "intents-1.jsonl"));
  await play(["runs", "recover", ...config]);
}

const DIFF = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";

async function gates(make: MakePlayer): Promise<void> {
  const script = JSON.parse(readFileSync(join(ROOT, "fixtures/write-door/right.json"), "utf8"));
  await using seat = await startScriptedSeat(script);
  using world = livingWorld({ WRIT_SEAT_URL: seat.url, WRIT_AGENT_ALLOW_WRITE: "true" });
  const { play } = make(world.writ);
  await play(["gate", "write-door", "--only", "t4"]);
  const door = join(ROOT, "contracts/write-door/t4");
  await play(["delegate", "--contract", join(door, "contract.json"), "--read-root", door]);
  await using waiting = await startScriptedSeat({
    slots: 1,
    turns: [
      { id: "fields", when: { constraint: "any" }, reply: { json: {} } },
      { id: "all", reply: { content: "nothing" } },
    ],
  });
  await play(["gate", "parallel", "-k", "2", "--no-peer"], { env: { WRIT_SEAT_URL: waiting.url } });
  mkdirSync(join(world.folder, "tree"));
  writeFileSync(join(world.folder, "tree", "a.ts"), "one\ntwo\nthree\n");
  writeFileSync(join(world.folder, "a.patch"), DIFF);
  await play(["gate", "apply", "a.patch", "--to", "tree"]);
  const recovered = doneResult({ job_id: "wrt-1", contract_sha256: "s" }, { diff: DIFF, diff_files: ["a.ts"] });
  writeFileSync(join(world.folder, "r.json"), JSON.stringify(recovered));
  const shout = { goal: "Shout.", context_paths: ["a.ts"], write_root: ".", acceptance: ["diff_touches:a.ts"] };
  writeFileSync(join(world.folder, "c.json"), JSON.stringify(shout));
  await play(["gate", "apply", "r.json", "--contract", "c.json", "--read-root", "tree", "--to", "tree"]);
  writeFileSync(join(world.folder, "tree", "a.ts"), "one\n2\nthree\n");
  await play(["gate", "apply", "a.patch", "--to", "tree"]);
  writeFileSync(join(world.folder, "tree", "a.ts"), "one\nTWO\nthree\n");
  writeFileSync(join(world.folder, "tree", "b.ts"), "one\ntwo\nthree\n");
  writeFileSync(join(world.folder, "b.patch"), `${DIFF}${DIFF.replaceAll("a.ts", "b.ts")}`);
  await play(["gate", "apply", "b.patch", "--to", "tree"]);
  writeFileSync(join(world.folder, "gate.json"), '{"schema_version": 1, "nam": "x"}');
  await play(["gate", "check", "gate.json"]);
  await play(["gate", "run", "gate.json", "--yes"]);
  await play(["gate", "run", join(ROOT, "contracts/write-door/gate.json"), "--only", "t4", "--yes"]);
  await play(["gate", "fixtures"]);
  writeFileSync(join(world.folder, "old.json"), JSON.stringify(namedSet("p.md", "contains:x")));
  writeFileSync(join(world.folder, "new.json"), JSON.stringify(namedSet("q.md", "contains:x")));
  writeFileSync(join(world.folder, "more.json"), JSON.stringify(namedSet("q.md", "contains:y")));
  await play(["gate", "fixtures", "--name-only", "old.json", "new.json"]);
  await play(["gate", "fixtures", "--name-only", "old.json", "more.json"]);
  cpSync(join(ROOT, "contracts"), join(world.folder, "set"), { recursive: true });
  await world.shell("chmod -R u+w set && echo '{' > set/templates/broken.json");
  await play(["gate", "fixtures", "--dir", "set"]);
  await play(["gate", "pin", "--dir", "set", "--check"]);
  await world.shell("rm set/templates/broken.json");
  await play(["gate", "pin", "--dir", "set", "--check"]);
}

const namedSet = (name: string, check: string) => [
  { goal: `Read ${name}`, context: [{ name, text: "x" }], acceptance: [check] },
];

async function flows(make: MakePlayer): Promise<void> {
  using flow = openResuming();
  const { play } = make((words, setting) => flow.writ(words, setting));
  await play(["phase", "start", "brainstorm"]);
  await play(["phase", "substep", "brainstorm", "asking"]);
  await play(["phase", "complete", "brainstorm"]);
  await play(["phase", "skip", "plan", "--reason", "r"]);
  await play(["phase", "start", "implement"]);
  await play(["plan", "init", "W1: cache", "W2: command"]);
  await play(["plan", "add", "W3: more"]);
  await play(["plan", "update", "0", "in_progress"]);
  await play(["plan", "update", "9", "complete"]);
  await play(["plan", "status"]);
  await play(["plan", "check", flow.plan]);
  await play(["phase", "observe", "conformance-reviewer"]);
  await play(["phase", "status"]);
  await play(["plan", "clear"]);
  await play(["phase", "reset"]);
  const plan = readFileSync(flow.plan, "utf8");
  writeFileSync(flow.plan, plan.replace("L15-L15", "L15-L99"));
  await play(["plan", "check", flow.plan]);
  await play(["plan", "repair", flow.plan]);
  writeFileSync(flow.plan, `${plan}\n- TODO\n`.replace("- none", "- who?"));
  await play(["plan", "repair", flow.plan]);
  writeFileSync(flow.plan, plan);
  flow.flow();
  await play(["handoff", "--print", "--decision", "d", "--rejected", "r"]);
  const brief = await flow.handoff("x", "--title", "t", "--decision", "d", "--question", "q");
  await play(["brief", "show", brief]);
  await play(["resume", "--plan-only", brief]);
  await play(["resume", brief]);
  await play(["phase", "status", "--archived"]);
  const text = readFileSync(brief, "utf8");
  const odd = join(flow.folder, "odd.md");
  writeFileSync(odd, text.replace("## Intent", "## Intents").replace("Phases:", "Phases"));
  await play(["brief", "check", odd]);
  await play(["brief", "show", odd]);
  writeFileSync(odd, renderBrief(COORDINATED));
  await play(["brief", "show", odd]);
  writeFileSync(odd, text.replace("## Open questions", "```\n## Open questions"));
  await play(["brief", "check", odd]);
  await play(["brief", "show", odd]);
}

/** What a flow of one checkout does not have. */
const COORDINATED: Brief = {
  title: "t",
  intent: "i",
  repo_state: { kind: "unavailable", reason: "r", fields: null },
  decisions: [],
  open_questions: [],
  skills: [],
  process: {
    phases: PHASE_NAMES.map((name) => ({ name, status: name === "implement" ? "in_progress" : "pending" })),
    active: "implement",
    substep: null,
    plan: null,
    subject: { kind: "ledger", path: "doc/ledger.md", last_decision: null },
    prs: [{ repo: "acme/app", number: 1, pre_rework_head: SHA }],
    rework_base: null,
    legs: ["app", "lib"].map((name) => ({
      repo: `acme/${name}`,
      worktree: `/w/${name}`,
      branch: "x",
      head: SHA,
      dirty: "clean",
      receipt: null,
    })),
  },
};
