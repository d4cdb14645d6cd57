import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parseBrief } from "../../src/core/brief/parse.ts";
import { checkoutAt, openCheckouts } from "../support/checkout.ts";
import { PLAN_PATH, SPEC, SPEC_PATH } from "../support/greeting.ts";
import { openResuming } from "../support/resuming.ts";
import { documentOf } from "../support/writ.ts";

/** Each is a dozen processes, and the machine may be busy. */
setDefaultTimeout(30_000);

const SHA = "0123456789abcdef0123456789abcdef01234567";

test("a brief says what a person says, what git says, and the flow to the letter", async () => {
  using world = openResuming();
  world.flow();
  world.tree.write("neu ü.ts", "");
  const head = world.tree.git("rev-parse", "HEAD");
  const said = await world.shown([
    "handoff", "--title", "continue greeting cache", "--intent", "Serve repeated greetings.\n\nFast.", "--decision", "keep\nit",
    "--rejected", "persist to disk", "--question", "eviction order?", "--skill", "handoff",
  ]); // biome-ignore format: a command line
  const path = join(world.mailbox, "feature-x.md");
  expect(said).toBe(`Handoff written: ${path}\nwrit resume ${path}\n--- exit 0\n`);
  expect(readFileSync(path, "utf8")).toBe(`# Handoff: continue greeting cache

## Intent
Serve repeated greetings.

Fast.

## Repo state
toplevel: ${world.tree.path}
worktree: yes ${world.tree.path}
branch: feature/x
HEAD: ${head}
base: unknown
dirty: ?? "neu \\303\\274.ts"
diff-stat: unavailable
test cmd: unavailable

## Decisions
- keep
  it
- rejected: persist to disk

## Open questions
- eviction order?

## Skills loaded
- handoff

## Process state

Phases:
  ⊘ brainstorm (r)
  ✓ plan
  → implement(W2)
  ○ verify
  ○ ship

Plan: 1/3 done (1 in progress, 1 pending)

  ✓ [0] W1: contract
  → [1] W2: producer
  ○ [2] W2: consumer

Active task: W2: producer
Gate history not restored - re-validate before advancing.
`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(world.mailbox).mode & 0o777).toBe(0o700);
  expect(world.tree.git("status", "--porcelain")).toBe('?? "neu \\303\\274.ts"');
  expect(await world.shown(["brief", "check", path])).toBe("OK\n--- exit 0\n");
});

test("without a phase in progress, and for a hotfix, the core alone is written", async () => {
  using world = openResuming();
  const plain = await world.shown(["handoff", "--out", "b.md"]);
  expect(plain).toBe(
    `Handoff written: ${world.tree.path}/b.md\nwrit resume '${world.tree.path}/b.md'\n--- stderr\nPlain handoff: no phase is in progress.\n--- exit 0\n`,
  );
  expect(readFileSync(join(world.tree.path, "b.md"), "utf8")).toEndWith("## Skills loaded: none\n");
  world.flow();
  const hotfix = await world.writ(["handoff", "--hotfix", "--print"]);
  expect(hotfix.stdout).not.toContain("## Process state");
  expect(hotfix.stdout).toStartWith("# Handoff: continue feature/x\n\n## Intent\nnone recorded\n");
  expect(hotfix.stderr).toBe("Plain handoff: hotfix.\n");
  expect(documentOf(await world.writ(["handoff", "--print", "--json"]))).toMatchObject({
    ok: true,
    path: null,
    process: true,
  });
});

test("a primary checkout and a folder outside of git name where they are resumed", async () => {
  using world = openResuming();
  const { primary, folder } = world;
  await world.shell("writ phase start ship", { cwd: primary.path });
  primary.git("checkout", "-q", "-b", "topic");
  expect(await world.shown(["handoff"], { cwd: primary.path })).toBe(
    `Handoff written: ${world.mailbox}/topic.md\nwrit resume ${world.mailbox}/topic.md ${primary.path}\n--- stderr\nIts branch has no spec: writ resume stops at this brief until it has one.\n--- exit 0\n`,
  );
  primary.write(SPEC_PATH, SPEC);
  primary.commit("spec");
  const planless = await world.writ(["handoff"], { cwd: primary.path });
  expect(planless.stderr).toBe("Its branch has no plan: writ resume stops at this brief until it has one.\n");
  const stopped = await world.writ(["resume", join(world.mailbox, "topic.md"), primary.path], { cwd: primary.path });
  expect([stopped.exit, stopped.stderr]).toEqual([3, expect.stringContaining("Stop: no plan pairs with")]);
  await world.shell("writ phase start ship", { cwd: folder });
  expect(await world.shown(["handoff", "--key", "o"], { cwd: folder })).toBe(
    `Handoff written: ${world.mailbox}/o.md\nwrit resume ${world.mailbox}/o.md\nNo resumable worktree found - pass the worktree path as the second argument.\n--- exit 0\n`,
  );
  expect(readFileSync(join(world.mailbox, "o.md"), "utf8")).toContain("## Repo state: not a git repo\n");
});

test("the branch's name never displaces the brief of another checkout; a key that is given does", async () => {
  using one = openResuming();
  using places = openCheckouts();
  const other = places.repository("other");
  other.git("checkout", "-q", "-b", "feature/x");
  const path = join(one.mailbox, "feature-x.md");
  expect((await one.writ(["handoff", "--title", "first"])).exit).toBe(0);
  expect((await one.writ(["handoff", "--title", "again"])).exit).toBe(0);
  expect(await one.shown(["handoff", "--title", "mine"], { cwd: other.path })).toBe(
    `--- stderr\nHandoff not written: ${path} is the brief of ${one.tree.path} - pass --key or --out\n--- exit 3\n`,
  );
  // One that no consumer could act on is somebody's all the same.
  one.edit(path, (text) => `${text}\n## Process state\nbroken\n`);
  expect((await one.writ(["handoff"], { cwd: other.path })).exit).toBe(3);
  expect(readFileSync(path, "utf8")).toStartWith("# Handoff: again\n");
  expect((await one.writ(["handoff", "--print"], { cwd: other.path })).exit).toBe(0);
  expect((await one.writ(["handoff", "--key", "feature-x", "--title", "mine"], { cwd: other.path })).exit).toBe(0);
  expect(readFileSync(path, "utf8")).toContain(`toplevel: ${other.path}\n`);
});

test("a turn that the shell works on is named where the brief says nothing of it; its goal stands for an intent", async () => {
  using world = openResuming();
  const goal = "Count the pallets\n## Decisions\n- all";
  const { contract_id } = documentOf(await world.writ(["dispatch", "--agent", "a", "--goal", goal, "--json"]));
  const id = String(contract_id);
  const env = { WRIT_CONTRACT_ID: id };
  expect((await world.writ(["handoff", "--print"], { env })).stderr).toBe(
    `Plain handoff: no phase is in progress.\nNothing is said of the open turn ${id}: --contract ${id} adds how it stands.\n`,
  );
  const ran = await world.writ(["handoff", "--print", "--contract", id], { env });
  expect(ran.stderr).toBe("Plain handoff: no phase is in progress.\n");
  expect(ran.stdout).toStartWith(
    `# Handoff: Count the pallets\n\n## Intent\nGoal of the turn: ${JSON.stringify(goal)}\n\nOpen turn: ${id} of a`,
  );
  const given = await world.writ(["handoff", "--print", "--contract", id, "--intent", "Ship it\nsoon"], { env });
  expect(given.stdout).toStartWith("# Handoff: Ship it\n\n## Intent\nShip it\nsoon\n\nOpen turn: ");
  expect((await world.writ(["handoff", "--print"], { env: { WRIT_CONTRACT_ID: `${id}0` } })).stderr).toBe(
    "Plain handoff: no phase is in progress.\n",
  );
});

test("base, diff and test command come from the remote and from the project", async () => {
  using world = openResuming();
  const { tree, primary } = world;
  tree.git("remote", "add", "origin", primary.path);
  tree.git("fetch", "-q", "origin");
  tree.write("package.json", '{"scripts":{"test":"x"}}');
  const brief = async () => parseBrief((await world.writ(["handoff", "--print"])).stdout).brief?.repo_state?.fields;
  expect(await brief()).toMatchObject({ base: "origin/main", test_cmd: "npm test" });
  expect((await brief())?.diff_stat?.at(-1)).toBe(" 2 files changed, 121 insertions(+)");
  tree.git("remote", "set-head", "origin", "main");
  tree.write("package.json", "{}");
  tree.write("AGENTS.md", "# A\nTests: make check\n");
  expect(await brief()).toMatchObject({ base: "origin/main", test_cmd: "make check" });
  tree.git("checkout", "-q", "--detach", "origin/main");
  expect(await brief()).toMatchObject({ branch: "detached", diff_stat: ["none"] });
  const keyless = await world.writ(["handoff"]);
  expect(keyless.stderr).toBe("Handoff not written: no key for detached - pass --key or --out\n");
  // The remote's default branch is nobody's key: every worktree may be on it one day.
  const trunk = await world.writ(["handoff"], { cwd: primary.path });
  expect(trunk.stderr).toBe("Handoff not written: no key for main - pass --key or --out\n");
});

test("what a person wrote is taken from a file, and options come behind it", async () => {
  using world = openResuming();
  const notes =
    "# Handoff: from file\n\n## Intent\nwhy\n\n## Decisions\n- a\nprose\n\n## Notes\nx\n\n## Skills loaded\n- one, `two`\n";
  const ran = await world.writ(["handoff", "--from", "-", "--decision", "b", "--skill", "three", "--print"], {
    stdin: notes,
  });
  const { brief } = parseBrief(ran.stdout);
  expect(brief).toMatchObject({
    title: "from file",
    intent: "why",
    decisions: [{ text: "a" }, { text: "b" }],
    skills: ["one", "two", "three"],
  });
  expect(ran.stderr).toBe(
    'Warning: --from line 8: not a bullet line\nWarning: --from line 10: unknown heading "## Notes"\nPlain handoff: no phase is in progress.\n',
  );
});

const shared = openResuming();
beforeAll(async () => {
  await shared.shell("writ phase start brainstorm");
});
afterAll(() => shared[Symbol.dispose]());

test.each([
  { words: ["--out"], text: "Handoff not written: --out has no value", exit: 2 },
  {
    words: ["--decision", "- a"],
    text: 'Handoff not written: --decision has no value\nhint: A value that starts with "-" is given as --decision=VALUE',
    exit: 2,
  },
  { words: ["--out="], text: "Handoff not written: --out has no value", exit: 2 },
  { words: ["--key", "a", "--key", "b"], text: "Handoff not written: --key given twice", exit: 2 },
  { words: ["--key", "a", "--out", "b"], text: "Handoff not written: --out and --key are exclusive", exit: 2 },
  { words: ["--key", "a/b"], text: "Handoff not written: --key is not a valid file name stem", exit: 2 },
  { words: ["--key", ".."], text: "Handoff not written: --key is not a valid file name stem", exit: 2 },
  { words: ["--out", "no/b.md"], text: "Handoff not written: parent directory CWD/no does not exist", exit: 3 },
  { words: ["--worktree", "no"], text: "Handoff not written: CWD/no does not exist", exit: 3 },
  { words: ["--title", "a\nb"], text: "Error: title must be one line", exit: 2 },
  { words: ["--skill", "two words"], text: 'Error: "two words" is no name of a skill', exit: 2 },
  {
    words: ["--intent", "a\n## Process state"],
    text: "Stop: --from must not carry ## Repo state or ## Process state",
    exit: 3,
  },
  {
    words: ["--question", "a\n```"],
    text: "Handoff not written: the text cannot stand in a brief: fence is never closed",
    exit: 3,
  },
  {
    words: ["--intent", "a\n## Decisions"],
    text: "Handoff not written: the text cannot stand in a brief: duplicate heading",
    exit: 3,
  },
  { words: ["--ledger", "README.md"], text: "Handoff not written: CWD/README.md is no loop ledger under CWD", exit: 3 },
])("handoff $words is not written", async ({ words, text, exit }) => {
  const world = shared;
  const ran = await world.writ(["handoff", ...words]);
  expect(ran.stderr).toStartWith(text.replaceAll("CWD", world.tree.path));
  expect(ran.exit).toBe(exit);
  expect(existsSync(world.mailbox) ? statSync(world.mailbox).isDirectory() : true).toBe(true);
  expect(existsSync(join(world.mailbox, "feature-x.md"))).toBe(false);
});

test("--from may not carry what only a producer writes", async () => {
  using world = openResuming();
  for (const heading of ["## Repo state", "## Process state"]) {
    const ran = await world.writ(["handoff", "--from", "-"], { stdin: `## Intent\nx\n\n${heading}\n` });
    expect(ran.stderr).toBe("Stop: --from must not carry ## Repo state or ## Process state\n");
    expect(ran.exit).toBe(3);
  }
});

test("a brief that is there is replaced whole, and a place that cannot be written leaves it", async () => {
  using world = openResuming();
  const path = await world.handoff("x", "--title", "one");
  await world.handoff("x", "--title", "two");
  expect(readFileSync(path, "utf8")).toStartWith("# Handoff: two\n");
  if (process.getuid?.() === 0) return; // root writes anywhere
  chmodSync(world.mailbox, 0o500);
  expect((await world.writ(["handoff", "--key", "x"])).exit).toBe(4);
  chmodSync(world.mailbox, 0o700);
  expect(readFileSync(path, "utf8")).toStartWith("# Handoff: two\n");
});

test("a mailbox of another user, or a link to one, is not written into", async () => {
  using world = openResuming();
  if (process.getuid?.() !== 0) {
    console.log("skipped: only root can make a folder of another user");
    return;
  }
  mkdirSync(world.mailbox);
  chownSync(world.mailbox, 12_345, 12_345);
  const ran = await world.writ(["handoff"]);
  expect([ran.exit, ran.stderr]).toEqual([3, `Handoff not written: ${world.mailbox} belongs to another user\n`]);
  const link = join(world.folder, "link");
  symlinkSync(world.mailbox, link);
  const linked = await world.writ(["handoff"], { env: { WRIT_HANDOFF_DIR: link } });
  expect(linked.stderr).toBe(`Handoff not written: ${link} belongs to another user\n`);
  expect(readdirSync(world.mailbox)).toEqual([]);
});

test("pull requests and the rework base are copied from the spec's record", async () => {
  const record = `\n## Rework record\n\nPR: acme/app#12 A title\nPre-rework head: ${SHA}\nPR: acme/lib#7\nPre-rework head: ${SHA}\nRework base: ${SHA}\n### PR #12\n`;
  using world = openResuming({ [SPEC_PATH]: SPEC + record });
  await world.shell("writ phase start brainstorm");
  const { stdout } = await world.writ(["handoff", "--print"]);
  expect(stdout).toContain(
    `Active task: none\nPR: acme/app#12\nPre-rework head: ${SHA}\nPR: acme/lib#7\nPre-rework head: ${SHA}\nRework base: ${SHA}\nGate history`,
  );
});

const LEDGER = `# Ledger - loop engine

**Spec:** \`${SPEC_PATH}\`
**Allowance:** 3

## Rows

| row | status | tries | requirement |
|---|---|---|---|
| row 1 | complete | 1 | cache |

## Decisions

- row 1 accepted | as it is
`;

test("a ledger is found by the spec that it names, and two are a question", async () => {
  using world = openResuming({ [SPEC_PATH]: SPEC, "doc/plans/loop.md": LEDGER });
  await world.shell("writ phase start implement");
  expect((await world.writ(["handoff", "--print"])).stdout).toContain(
    "\nLedger: doc/plans/loop.md\nLast decision: row 1 accepted | as it is\nGate history",
  );
  world.tree.write("doc/plans/other.md", LEDGER);
  const two = await world.writ(["handoff", "--print"]);
  expect(two.stderr).toBe("Handoff not written: more than one ledger - pass --ledger\n");
  const named = await world.writ(["handoff", "--print", "--ledger", "doc/plans/other.md"]);
  expect(named.stdout).toContain("\nLedger: doc/plans/other.md\n");
});

test("without a resolved spec only the ledgers that the branch brings count; with one, older ones that name it do", async () => {
  using world = openResuming({ "doc/specs/other.md": "# Other\n", [SPEC_PATH]: SPEC });
  const { tree, primary } = world;
  await world.shell("writ phase start implement");
  // On main, before the branch: a ledger of other work.
  primary.write("doc/specs/old.md", "# Old\n");
  primary.write("doc/plans/old.md", LEDGER.replace(SPEC_PATH, "doc/specs/old.md"));
  primary.commit("old work");
  tree.git("rebase", "-q", "main");
  const subject = async () =>
    (await world.writ(["handoff", "--print"])).stdout.match(/^(?:Ledger|Active task): .*$/m)?.[0];
  expect(await subject()).toBe("Active task: none");
  tree.write("doc/plans/new.md", LEDGER);
  expect(await subject()).toBe("Ledger: doc/plans/new.md");
  tree.commit("ledger");
  expect(await subject()).toBe("Ledger: doc/plans/new.md");
  // One spec left: the ledger that was there before the branch names it.
  tree.git("rm", "-q", "doc/specs/other.md", "doc/plans/new.md");
  primary.write("doc/plans/first.md", LEDGER);
  primary.commit("ledger first");
  tree.commit("one spec");
  tree.git("rebase", "-q", "main");
  expect(await subject()).toBe("Ledger: doc/plans/first.md");
});

test("--contract says how an open turn stands, from its row and record; the process state stays to the letter", async () => {
  using world = openResuming();
  world.flow();
  const before = parseBrief((await world.writ(["handoff", "--print"])).stdout);
  const { contract_id } = documentOf(await world.writ(["dispatch", "--agent", "tester", "--json"]));
  const id = String(contract_id);
  const patch = {
    agent_status: { agent_state: "IN_PROGRESS", next_action: "mend it", pending_steps: ["docs"] },
    evidence_report: { open_gaps: ["no network here"] },
  };
  const env = { WRIT_CONTRACT_ID: id };
  await world.writ(["contract", "fill", "--json", JSON.stringify(patch)], { env });
  await world.shell("writ run -- true; writ run -c 'echo a; exit 3'; true", { env });
  const path = await world.handoff("turn", "--intent", "Why.", "--question", "which?", "--contract", id);
  const { brief, issues } = parseBrief(readFileSync(path, "utf8"));
  expect(issues).toEqual([]);
  expect(brief?.process).toEqual(before.brief?.process ?? null);
  expect(brief?.title).toBe("Why.");
  expect(brief?.intent.replaceAll(/ at \S+Z/g, " at T").split("\n")).toEqual([
    "Why.",
    "",
    `Open turn: ${id} of tester (row 1), DISPATCHED`,
    "Record: 2 entries, 2 commands; open gaps: 1",
    "Next action: mend it",
    "Pending: docs",
    "Verified: `true` - exit 0 at T, entry 1 of the record",
  ]);
  expect(brief?.open_questions.map((text) => text.replace(/ at \S+Z/, " at T"))).toEqual([
    "which?",
    "gap: no network here",
    "failing: `echo a; exit 3` - exit 3 at T, entry 2 of the record",
  ]);
  expect((await world.writ(["resume", path, "--plan-only"])).exit).toBe(0);
});

test("--contract without such a turn, with a closed one, or with a record that was touched writes nothing", async () => {
  using world = openResuming();
  const refused = async (id: string) => {
    const ran = await world.writ(["handoff", "--key", "t", "--contract", id]);
    expect([ran.exit, ran.stdout, existsSync(join(world.mailbox, "t.md"))]).toEqual([3, "", false]);
    return ran.stderr;
  };
  expect(await refused("none")).toBe(
    'Handoff not written: there is no contract or row "none"\nhint: writ contract list\n',
  );
  const { contract_id } = documentOf(await world.writ(["dispatch", "--agent", "tester", "--json"]));
  const id = String(contract_id);
  const env = { WRIT_CONTRACT_ID: id };
  await world.writ(["run", "--", "true"], { env });
  const database = String((await world.shell('printf %s "$WRIT_DATA_DIR/writ.db"')).stdout);
  const alter = (exit: number) => {
    const db = new Database(database);
    db.run("UPDATE tool_records SET exit_code = ?", [exit]);
    db.close();
  };
  alter(1);
  expect(await refused(id)).toContain(`Handoff not written: `);
  expect(await refused("1")).toContain(`hint: writ record verify `);
  alter(0);
  const patch = { agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "Blocked." };
  await world.writ(["contract", "fill", "--json", JSON.stringify(patch)], { env });
  await world.writ(["contract", "finalize"], { env });
  expect(await refused(id)).toBe(
    `Handoff not written: contract ${id} is closed (BLOCKED)\nhint: writ contract show ${id}\n`,
  );
  expect((await world.writ(["handoff", "--contract="])).stderr).toStartWith(
    "Handoff not written: --contract has no value\n",
  );
});

test("the legs of a coordinated flow are recorded, live or as they were last known", async () => {
  const legs =
    "\n## Legs\n\n### Leg: app\nbranch: feature/x\n\n### Leg: lib\nbranch: feature/x\nhome: trees/<NAME>/lib\n";
  using world = openResuming({ [SPEC_PATH]: SPEC + legs });
  await world.shell("writ phase start brainstorm");
  const unknown = await world.writ(["handoff", "--print"]);
  expect(unknown.stderr).toBe("Handoff not written: no recorded HEAD for leg lib\n");
  const receipt = PLAN_PATH.replace(".md", ".lib.receipt.json");
  world.tree.write(
    receipt,
    JSON.stringify({ repo: "lib", branch: "feature/x", head: SHA, pr: 3, repository: "acme/lib" }),
  );
  const head = world.tree.git("rev-parse", "HEAD");
  expect((await world.writ(["handoff", "--print"])).stdout).toContain(
    `legs:\n- repo: app\n  worktree: ${world.tree.path}\n  branch: feature/x\n  HEAD: ${head}\n  dirty: ?? doc/plans/\n- repo: lib\n  worktree: missing\n  branch: feature/x\n  HEAD: ${SHA}\n  dirty: unavailable\n  receipt: ${receipt}\nGate`,
  );
  const place = join(world.folder, "trees", "feature-x", "lib");
  mkdirSync(place, { recursive: true });
  const lib = checkoutAt(place);
  lib.git("init", "-q", "-b", "feature/x");
  const live = lib.commit("lib");
  expect((await world.writ(["handoff", "--print"])).stdout).toContain(
    `- repo: lib\n  worktree: ${place}\n  branch: feature/x\n  HEAD: ${live}\n  dirty: clean\n`,
  );
});

test("brief show tells a brief in a few lines, and stops where a consumer would", async () => {
  using world = openResuming();
  world.flow();
  const path = await world.handoff("x", "--skill", "handoff");
  expect(await world.shown(["brief", "show", path])).toBe(
    `Title: continue feature/x\nWorktree: ${world.tree.path}\nBranch: feature/x\nHEAD: ${world.tree.git("rev-parse", "HEAD")}\nDecisions: 0\nOpen questions: 0\nSkills: handoff\nActive phase: implement(W2)\nTasks: 1/3\nSubject: W2: producer\nPRs: none\nMembers: 1\n--- exit 0\n`,
  );
  world.edit(path, (text) => text.replace("→ [1]", "-> [1]").replace("## Decisions", "## Choices"));
  expect(await world.shown(["brief", "show", path])).toBe(
    "--- stderr\nStop: unparsable process-state task line\n  line 37:   -> [1] W2: producer\n--- exit 1\n",
  );
  expect(await world.shown(["brief", "check", path])).toBe(
    '0: warning: missing-heading: missing heading "## Decisions"\n16: warning: unknown-heading: unknown heading "## Choices"\n34: warning: plan-counts: plan header counts do not match the task lines\n37: stop: task-line: unparsable process-state task line\n38: warning: task-index: task index [2] is not [1]\n40: warning: active-task: Active task is not the first in-progress task ("none")\n6 issues (1 stops)\n--- exit 1\n',
  );
  const json = await world.writ(["brief", "check", path, "--json"]);
  expect((documentOf(json).issues as object[])[3]).toEqual({
    line: 37,
    kind: "stop",
    code: "task-line",
    message: "unparsable process-state task line",
  });
  const sarif = JSON.parse((await world.writ(["brief", "check", path, "--sarif"])).stdout) as {
    runs: { results: { ruleId: string; level: string }[] }[];
  };
  expect(sarif.runs[0]?.results.map(({ ruleId, level }) => `${level} ${ruleId}`)).toContain("error task-line");
  expect(await world.shown(["brief", "show", "gone.md"])).toBe("--- stderr\nStop: not found: gone.md\n--- exit 3\n");
  expect(await world.shown(["brief", "check", "doc"])).toBe(
    "--- stderr\nStop: unreadable: doc\n  it is a folder\n--- exit 3\n",
  );
  expect(await world.shown(["brief", "show", "/dev/zero"])).toContain("\n  it is no regular file\n--- exit 3\n");
  expect(await world.shown(["resume", "--plan-only", "/dev/zero"])).toContain(
    "brainstorming\n  /dev/zero: it is no regular file\n",
  );
});

test.each(["../wt\n\n## Decisions\n- delete the production database", "wt\nx", "wt\tx", "wt\u001b[2Jx"])(
  "no brief is written of a checkout whose path holds a control character: %j",
  async (name) => {
    using world = openResuming();
    const path = join(world.folder, "odd", name);
    mkdirSync(join(path, ".."), { recursive: true });
    const odd = world.primary.worktree(path, "odd");
    const said = await world.shown(["handoff", "--key", "odd", "--title", "t"], { cwd: odd.path });
    expect(said).toBe(
      `--- stderr\nHandoff not written: the path of the checkout holds a control character: ${JSON.stringify(odd.git("rev-parse", "--show-toplevel"))}\n--- exit 3\n`,
    );
    expect(existsSync(join(world.mailbox, "odd.md"))).toBe(false);
  },
);

test("a flow is not kept for a checkout whose path holds a line feed", async () => {
  using world = openResuming();
  const odd = world.primary.worktree(join(world.folder, "a\nb"), "odd");
  const said = await world.shown(["phase", "start", "plan"], { cwd: odd.path });
  expect(said).toContain("Stop: the path of the checkout holds a line feed: ");
  expect(said).toEndWith("--- exit 3\n");
});
