import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Checkout, checkoutAt, openCheckouts } from "../support/checkout.ts";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

/** Each is a dozen processes, and the machine may be busy. */
setDefaultTimeout(30_000);

/** Runs one command line a string, in a folder; shows the last. */
async function last(world: LivingWorld, cwd: string, ...lines: readonly string[]): Promise<string> {
  let text = "";
  for (const line of lines) text = shown(await world.shell(line, { cwd }));
  return text;
}

function around(work: (world: LivingWorld, checkout: Checkout, folder: string) => Promise<void>) {
  return async () => {
    using world = livingWorld();
    using places = openCheckouts();
    await work(world, places.repository("r"), places.folder);
  };
}

test(
  "a flow starts, and shows what it became",
  around(async (world, { path }) => {
    expect(await last(world, path, "writ phase start brainstorm", "writ phase substep brainstorm 'a b'")).toBe(
      'Phase "brainstorm" substep → a b\nPhases:\n  → brainstorm(a b)\n  ○ plan\n  ○ implement\n  ○ verify\n  ○ ship\n--- exit 0\n',
    );
    expect(await last(world, path, "writ phase skip ship --reason 'not ours'", "writ phase status")).toBe(
      "Phases:\n  → brainstorm(a b)\n  ○ plan\n  ○ implement\n  ○ verify\n  ⊘ ship (not ours)\n--- exit 0\n",
    );
  }),
);

test(
  "a refusal stands on standard error, with its hint, and changes nothing",
  around(async (world, { path }) => {
    await last(world, path, "writ phase start plan", "writ phase complete plan");
    expect(await last(world, path, "writ phase start plan")).toBe(
      "--- stderr\nError: phase_tracker start: phase 'plan' is already complete. Pass force: true to restart it intentionally.\nhint: writ phase start plan --force\n--- exit 3\n",
    );
    const refused = await world.shell("writ phase start plan --json", { cwd: path });
    expect(documentOf(refused)).toEqual({
      ok: false,
      status: "error",
      code: "phase_refused",
      path: null,
      message:
        "Error: phase_tracker start: phase 'plan' is already complete. Pass force: true to restart it intentionally.",
      hint: "writ phase start plan --force",
      error: "phase 'plan' is already complete",
      action: "start",
      armed: false,
      reviewed: false,
      stamp: null,
      phases: [
        { name: "brainstorm", status: "pending" },
        { name: "plan", status: "complete" },
        { name: "implement", status: "pending" },
        { name: "verify", status: "pending" },
        { name: "ship", status: "pending" },
      ],
    });
    expect(refused.exit).toBe(3);
  }),
);

test.each([
  { line: "writ phase start", text: "Error: phase required for start", exit: 2 },
  {
    line: "writ phase skip plan",
    text: "Error: phase_tracker skip requires a 'reason' string explaining why the phase is being skipped",
    exit: 2,
  },
  { line: "writ phase skip plan --reason $'a\\nb'", text: "Error: reason must be one line", exit: 2 },
  { line: "writ phase substep plan $'a\\rb'", text: "Error: substep must be one line", exit: 2 },
  { line: "writ phase start planning", text: "Error: PHASE is one of", exit: 2 },
  { line: "writ phase observe a --exit x", text: 'Error: --exit takes an exit status, not "x"', exit: 2 },
  { line: "writ plan init", text: "Error: tasks array required for init", exit: 2 },
  { line: "writ plan init $'a\\nb'", text: "Error: task name must be one line", exit: 2 },
  { line: "writ plan init a --tasks -", text: "Error: Names and --tasks cannot be given together", exit: 2 },
  { line: "echo '[1]' | writ plan init --tasks -", text: "Error: Cannot read the tasks, entry 0", exit: 2 },
  {
    line: 'echo \'[{"name":"a","name":"b"}]\' | writ plan init --tasks -',
    text: "Error: Cannot read the tasks: line 1",
    exit: 2,
  },
  { line: "echo '- a' | writ plan add --tasks -", text: "Error: Cannot read the tasks: line 1", exit: 2 },
  { line: "writ plan update 0", text: "Error: index and status required for update", exit: 2 },
  {
    line: "writ plan update 0 bogus",
    text: 'Error: STATUS is one of in_progress, complete, failed, skipped, not "bogus"',
    exit: 2,
  },
  { line: "writ plan update 0 pending", text: "Error: no plan active.", exit: 3 },
  { line: "writ plan update -1 failed", text: 'Error: INDEX takes the place of a task, not "-1"', exit: 2 },
  { line: "writ plan update 0 failed", text: "Error: no plan active. Use init first.\nhint: writ plan init", exit: 3 },
])("$line ends in $exit", ({ line, text, exit }) =>
  around(async (world, { path }) => {
    const ran = await world.shell(line, { cwd: path });
    expect(ran.stderr).toStartWith(text);
    expect({ exit: ran.exit, stdout: ran.stdout }).toEqual({ exit, stdout: "" });
    const told = await world.shell(`${line} --json`, { cwd: path });
    const { ok, status, code, path: where, message, hint } = documentOf(told);
    expect({ exit: told.exit, ok, status, where, stderr: told.stderr }).toEqual({
      exit,
      ok: false,
      status: "error",
      where: null,
      stderr: "",
    });
    expect(code).toBe(exit === 2 ? "usage" : "plan_refused");
    // The text of a tracker begins with the word; any other document leaves it to `status`.
    expect([`Error: ${message}`, `${message}`].some((each) => ran.stderr.startsWith(each))).toBe(true);
    expect(hint === null || ran.stderr.includes(`${hint}`)).toBe(true);
    expect(existsSync(join(path, ".git", "writ"))).toBe(false);
  })(),
);

test(
  "tasks are set from names and from a document, and settle implement",
  around(async (world, { path }) => {
    await last(world, path, "writ phase start implement");
    const document = `echo '["a", {"name": "b", "status": "pending"}]' | writ plan init --tasks -`;
    expect(await last(world, path, document, "writ plan add c", "writ plan update 0 skipped")).toBe(
      'Task 0 "a" → skipped\nPlan: 1/3 done (2 pending, 1 skipped)\n\n  ⊘ [0] a\n  ○ [1] b\n  ○ [2] c\n--- exit 0\n',
    );
    const done = await world.shell("writ plan update 1 complete && writ plan update 2 complete --json | tail -1", {
      cwd: path,
    });
    expect(done.stdout).toContain('{"ok":true,"action":"update","tasks":[{"name":"a","status":"skipped"}');
    expect(await last(world, path, "writ phase status")).toContain("✓ implement");
    expect(await last(world, path, "writ plan clear")).toBe("Plan cleared (3 tasks removed).\n--- exit 0\n");
  }),
);

test(
  "each worktree has a flow of its own, which no git status shows",
  around(async (world, main, folder) => {
    const linked = main.worktree(join(folder, "wört tree"), "feature/é");
    await last(world, linked.path, "writ phase start brainstorm");
    expect(await last(world, join(linked.path, "."), "writ phase status")).toContain("→ brainstorm");
    expect(await last(world, main.path, "writ phase status")).toContain("○ brainstorm");
    expect(linked.git("status", "--porcelain") + main.git("status", "--porcelain")).toBe("");
    main.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", linked.path, "sub");
    const inside = checkoutAt(join(main.path, "sub"));
    expect(await last(world, inside.path, "writ phase start ship", "writ phase status")).toContain("→ ship");
    expect(await last(world, main.path, "writ phase status")).toContain("○ ship");
  }),
);

test(
  "outside of git the store lies beside the work; --store and WRIT_STORE name another",
  around(async (world, { path }, folder) => {
    expect(await last(world, folder, "writ phase start plan")).toContain("→ plan");
    expect(existsSync(join(folder, ".writ", "store.sqlite"))).toBe(true);
    await last(world, path, "writ phase start ship --store ../s.db");
    expect(await last(world, path, "WRIT_STORE=../s.db writ phase status")).toContain("→ ship");
    expect(await last(world, path, "writ phase status")).toContain("○ ship");
  }),
);

test(
  "settings that cannot be read are warned of, and the guards stay on",
  around(async (world, checkout) => {
    checkout.write(".writ/settings.json", "{");
    const ran = await world.shell("writ phase start brainstorm", { cwd: checkout.path });
    expect(ran.stderr).toBe(`Warning: settings unreadable, using defaults: ${checkout.path}/.writ/settings.json\n`);
    expect(ran.exit).toBe(0);
    expect(await last(world, checkout.path, "writ phase complete verify")).toContain("--- exit 3");
    checkout.write(".writ/settings.json", '{"closureReview":{"enforce":false}}');
    expect(await last(world, checkout.path, "writ phase complete verify")).toContain("--- exit 0");
  }),
);

test("without git on PATH the tracker says so with status 4", async () => {
  using world = livingWorld();
  const ran = await world.writ(["phase", "status", "--json"], { env: { PATH: "/nowhere" } });
  expect(documentOf(ran)).toMatchObject({ ok: false, code: "git", message: "git: command not found" });
  expect(ran.exit).toBe(4);
});

test.each([
  ["HEAD is garbage", (path: string) => writeFileSync(join(path, ".git", "HEAD"), "garbage\n")],
  ["objects are gone", (path: string) => rmSync(join(path, ".git", "objects"), { recursive: true })],
  ["a file leads nowhere", (path: string) => {
    rmSync(join(path, ".git"), { recursive: true });
    writeFileSync(join(path, ".git"), "gitdir: /nowhere/at/all\n");
  }],
] as const)("a repository that git cannot read is not another flow, where its %s", async (_, harm) => {
  using world = livingWorld();
  using places = openCheckouts();
  const { path } = places.repository("r");
  await last(world, path, "writ phase start brainstorm");
  harm(path);
  const folder = join(path, "deep");
  mkdirSync(folder);
  for (const line of [
    "writ phase status",
    "writ phase start plan",
    "writ plan init a",
    "writ handoff --key k --title t",
    "writ handoff --print --title t",
  ]) {
    const said = await last(world, folder, line);
    expect(said).toStartWith("--- stderr\nStop: git rev-parse failed: fatal: ");
    expect(said).toContain(`\n  ${join(path, ".git")} is there, and git cannot read it\n`);
    expect(said).toEndWith("\n--- exit 3\n");
  }
  expect(existsSync(join(folder, ".writ"))).toBe(false);
}); // biome-ignore format: a table

test(
  "an empty folder named .git is no repository",
  around(async (world, _, folder) => {
    mkdirSync(join(folder, "sandboxed", ".git"), { recursive: true });
    expect(await last(world, join(folder, "sandboxed"), "writ phase start plan")).toContain("--- exit 0\n");
  }),
);
