import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkoutAt } from "../support/checkout.ts";
import { PLAN, PLAN_PATH, SPEC, SPEC_PATH } from "../support/greeting.ts";
import { openResuming, type Resuming } from "../support/resuming.ts";
import { documentOf } from "../support/writ.ts";

/** Each is a dozen processes, and the machine may be busy. */
setDefaultTimeout(30_000);

const SHA = "0123456789abcdef0123456789abcdef01234567";
const QUIET = "--- stderr\nSkills: none\n";

/** A world whose flow is in implement, and its brief. */
async function handedOff(...words: readonly string[]): Promise<{ world: Resuming; brief: string }> {
  const world = openResuming();
  world.flow();
  return { world, brief: await world.handoff("x", ...words) };
}

function callsOf({ spec, plan }: Resuming, brief: string): string {
  return `1. phase start brainstorm
2. phase skip brainstorm --reason 'resume: ${spec}'
3. phase start plan
4. plan check '${plan}'  # FAIL -> plan repair
5. phase skip plan --reason 'resume: ${brief}'
6. phase start implement
7. phase substep implement W2
8. plan init --tasks '[{"name":"W1: contract","status":"complete"},{"name":"W2: producer","status":"in_progress"},{"name":"W2: consumer","status":"pending"}]'
`;
}

test("a flow is resumed in its own worktree: the former one is archived, the calls are echoed, the state is as it was", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  const planned = await world.writ(["resume", "--plan-only", brief]);
  expect(planned.stdout).toBe(callsOf(world, brief));
  expect(planned.stderr).toMatch(
    /^Resuming in place: the flow handed off at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ is archived\n--plan-only: nothing is archived\nSkills: none\n$/,
  );
  expect(await world.shown(["phase", "status", "--archived"])).toBe("No former flow.\n--- exit 0\n");
  // From another folder of the repository, and with text that a person added.
  world.edit(brief, (text) => text.replace("none recorded", "none recorded\n\nAnd mind the cache."));
  const ran = await world.writ(["resume", brief], { cwd: world.primary.path });
  expect(ran.stdout).toBe(
    `${callsOf(world, brief)}Gate history not restored; re-validating \`W2: producer\` before any stage advance\nNo standing grant.\n`,
  );
  expect(ran.exit).toBe(0);
  expect(await world.shown(["phase", "status"])).toBe(
    `Phases:\n  ⊘ brainstorm (resume: ${world.spec})\n  ⊘ plan (resume: ${brief})\n  → implement(W2)\n  ○ verify\n  ○ ship\n--- exit 0\n`,
  );
  expect((await world.writ(["plan", "status"])).stdout).toContain("→ [1] W2: producer");
  const archived = documentOf(await world.writ(["phase", "status", "--archived", "--json"])).archived as object[];
  expect(archived).toMatchObject([{ brief_path: brief, phases: [{ status: "skipped", reason: "r" }, {}, {}, {}, {}] }]);
  const again = await world.writ(["resume", brief, "--json"]);
  expect(documentOf(again)).toMatchObject({
    ok: false,
    code: "not_idle",
    hint: "writ phase reset and writ plan clear",
    details: [`⊘ brainstorm (resume: ${world.spec})`, `⊘ plan (resume: ${brief})`, "→ implement(W2)"],
  });
  expect(again.exit).toBe(3);
});

test("a flow that moved since, and another brief, are not resumed in place; the hint says which it is", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  const older = join(world.folder, "older.md");
  world.edit(brief, (text) => text);
  await Bun.write(older, readFileSync(brief, "utf8").replace("(W2)", "(W1)"));
  const other = await world.writ(["resume", older]);
  expect(other.stderr).toContain(`  hint: the flow was handed off by another brief: writ resume ${brief}\n`);
  await world.shell("writ plan update 1 complete");
  const moved = await world.writ(["resume", brief]);
  expect(moved.stderr).toStartWith("Stop: session already carries flow state - reset is your call\n");
  expect(moved.stderr).toContain(
    "  hint: the flow has moved since the brief was written: a new writ handoff carries the newer state\n",
  );
  // A pasted brief is the same brief; one that was only printed has no path to name.
  const printed = (await world.writ(["handoff", "--print"])).stdout;
  expect((await world.writ(["resume", brief])).stderr).toContain("another brief, which was only printed\n");
  const pasted = await world.writ(["resume", "-"], { stdin: printed });
  expect(pasted.stdout).toContain("phase skip plan --reason 'resume: pasted brief'\n");
  expect(pasted.exit).toBe(0);
});

test("an idle worktree of the same repository takes the brief as its second operand; tasks that it had are archived", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  world.tree.git("checkout", "-q", "--detach");
  const other = checkoutAt(join(world.folder, "y"));
  world.primary.git("worktree", "add", "-q", other.path, "feature/x");
  await world.shell("writ plan init left over", { cwd: other.path });
  world.edit(brief, (text) => text.replace(/worktree: .*/, "worktree: no"));
  const missing = await world.writ(["resume", brief]);
  expect(missing.stderr).toBe("Stop: brief names no worktree (worktree: no) - pass one as the second argument\n");
  const ran = await world.writ(["resume", brief, other.path]);
  expect(ran.exit).toBe(0);
  expect(ran.stderr).toBe("Skills: none\n");
  const archived = await world.writ(["phase", "status", "--archived"], { cwd: other.path });
  expect(archived.stdout).toContain("○ [0] left");
});

test("drift is told and stops nothing; skills are looked up by their front matter", async () => {
  const { world, brief } = await handedOff("--skill", "handoff", "--skill", "other");
  using _ = world;
  const head = world.tree.git("rev-parse", "HEAD");
  world.tree.write("new.ts", "");
  world.tree.write("skills/h/SKILL.md", "---\nname: handoff\ndescription: x\n---\n");
  world.tree.write("skills/bomb/SKILL.md", `---\nname: ${"[".repeat(20_000)}\n---\n`);
  world.tree.git("commit", "-q", "--allow-empty", "-m", "more");
  const ran = await world.writ(["resume", brief, "--plan-only", "--skills-dir", "skills"]);
  expect(ran.stderr.split("\n").slice(2)).toEqual([
    `Drift: HEAD brief ${head}, live ${world.tree.git("rev-parse", "HEAD")}`,
    "Drift: dirty brief clean, live 2 entries",
    `Skill: handoff ${world.tree.path}/skills/h/SKILL.md`,
    "Skill skipped: other",
    "",
  ]);
});

test("what is named is a brief, a worktree, a spec, or nothing that can be resumed", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  const stopOf = async (...words: readonly string[]) => (await world.writ(["resume", ...words])).stderr.split("\n")[0];
  world.tree.write("notes.txt", "x\n");
  expect(await stopOf("gone.md")).toBe("Stop: not found: gone.md");
  expect(await stopOf("no/such")).toBe("Stop: not found: no/such");
  expect(await stopOf("notes.txt")).toBe("Stop: not a handoff brief and not under doc/specs, docs/specs: notes.txt");
  expect(await stopOf("topic")).toBe(`Stop: worktree path missing: ${world.primary.path}/.worktrees/topic`);
  expect(await stopOf("doc/")).toBe("Stop: this is a new idea - run /skill:brainstorming");
  expect(await stopOf(brief, "gone")).toBe(`Stop: worktree path missing: ${world.tree.path}/gone`);
  expect(await stopOf(brief, world.folder)).toBe(`Stop: not a git worktree: ${world.folder}`);
  world.primary.write(SPEC_PATH, SPEC);
  expect(await stopOf(join(world.primary.path, SPEC_PATH), "x")).toBe("Stop: a spec seed takes no worktree: x");
  const pasted = await world.writ(["resume", "-"], { stdin: "an idea\n" });
  expect(pasted.stderr).toBe(
    "Stop: this is a new idea - run /skill:brainstorming\n  hint: writ phase start brainstorm\n",
  );
  await world.shell("writ phase reset; writ plan clear");
  expect(await stopOf(brief, world.primary.path)).toBe(
    `Stop: worktree override differs from the brief: ${world.primary.path} vs ${world.tree.path}`,
  );
  const elsewhere = await world.writ(["resume", brief], { cwd: "/" });
  expect(elsewhere.stderr).toContain(
    `Stop: the resolved worktree belongs to a different repository: ${world.primary.path}/.git vs none - run writ in that repository's primary checkout\n`,
  );
});

test("a brief with a stop is shown with its line, and ends in 1", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  world.edit(brief, (text) => `${text}\nThanks!\n`);
  expect(await world.shown(["resume", brief])).toBe(
    "--- stderr\nStop: text after the gate-history line\n  line 42: Thanks!\n--- exit 1\n",
  );
  expect(documentOf(await world.writ(["resume", brief, "--json"]))).toMatchObject({
    ok: false,
    code: "after-gate",
    path: brief,
    details: ["line 42: Thanks!"],
  });
});

test("without an operand the briefs of the mailbox are listed, and a person picks", async () => {
  const { world, brief } = await handedOff("--title", "pick me");
  using _ = world;
  await Bun.write(join(world.mailbox, "note.md"), "# A note\n");
  const listed = await world.writ(["resume"]);
  expect(listed.stdout).toMatch(
    /^1\. # Handoff: pick me - worktree: yes \S+ tree - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/,
  );
  expect(listed.stderr).toBe("Answer needed: brief (--pick <n>)\nhint: writ resume --pick <n>\n");
  expect(listed.exit).toBe(3);
  expect((await world.writ(["resume", "--pick", "2"])).exit).toBe(2);
  const picked = await world.writ(["resume", "--pick", "1", "--plan-only", "--json"]);
  expect(documentOf(picked)).toMatchObject({ ok: true, route: "process-state", active: "implement", restored: false });
  expect((documentOf(picked).calls as object[])[4]).toEqual({
    tool: "phase",
    action: "skip",
    phase: "plan",
    reason: `resume: ${brief}`,
  });
  const piped = await world.writ(["resume", "--plan-only"], { stdin: readFileSync(brief) });
  expect(piped.stdout).toContain("resume: pasted brief");
  const empty = await world.writ(["resume"], { env: { WRIT_HANDOFF_DIR: world.folder } });
  expect(empty.stderr).toBe(`Stop: no handoff briefs found under ${world.folder}\n`);
});

test("a spec that is deferred, or whose grant cannot be read, stops before anything is written", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  await world.shell("writ phase reset; writ plan clear");
  const stopWith = async (spec: string) => {
    world.tree.write(SPEC_PATH, spec);
    const ran = await world.writ(["resume", brief]);
    expect((await world.writ(["phase", "status"])).stdout).not.toMatch(/[→⊘]/);
    return ran.stderr.split("\n").slice(-4).join("\n");
  };
  expect(
    await stopWith(SPEC.replace("**Amend-grant:** none", "**Amend-grant:** none\n**Deferred:** until May")),
  ).toContain(`Stop: spec is deferred: ${world.spec}\n  **Deferred:** until May\n`);
  expect(await stopWith(SPEC.replace("**Amend-grant:** none", "**Amend-grant:**"))).toContain(
    `Stop: spec grant line is malformed: ${world.spec}\n  **Amend-grant:**\n`,
  );
  world.tree.write(SPEC_PATH, SPEC.replace("grant:** none", "grant:** Rename as you like."));
  const ran = await world.writ(["resume", brief]);
  expect(ran.stdout).toEndWith("before any stage advance\nStanding grant active: Rename as you like.\n");
});

const RECORD = `\n## Rework record\n\nPR: acme/app#12 T\nPre-rework head: ${SHA}\nRework base: ${SHA}\n`;

test("pull requests are those of the worktree and of the record, or a person says so", async () => {
  using world = openResuming({ [SPEC_PATH]: SPEC + RECORD, [PLAN_PATH]: PLAN });
  world.flow();
  const brief = await world.handoff("x");
  await world.shell("writ phase reset; writ plan clear");
  const run = (...words: readonly string[]) => world.shell(`writ resume --plan-only ${brief} ${words.join(" ")}`);
  world.gh('echo "$@" > "$0.said"; echo \'{"headRefName":"feature/x"}\'');
  const right = await run();
  expect(right.stdout).toEndWith(`PR: acme/app#12\nPre-rework head: ${SHA}\nRework base: ${SHA}\n`);
  expect(readFileSync(join(world.folder, "bin", "gh.said"), "utf8")).toBe(
    "pr view 12 --repo acme/app --json headRefName\n",
  );
  world.gh('echo \'{"headRefName":"other"}\'');
  const wrong = await run();
  expect([wrong.exit, wrong.stderr]).toEqual([
    3,
    "Skills: none\nStop: brief names PR #12 on other, worktree is on feature/x\n",
  ]);
  world.gh("echo 'no such pr' >&2; exit 1");
  const failed = await run();
  expect([failed.exit, failed.stderr]).toEqual([
    4,
    "Skills: none\nStop: gh pr view 12 --repo acme/app failed: no such pr\n",
  ]);
  const missing = await world.writ(["resume", "--plan-only", brief], { env: { WRIT_GH: "/nowhere/gh" } });
  expect(missing.stderr).toContain("Stop: gh pr view 12 --repo acme/app failed: gh: command not found\n");
  const skipped = await run("--skip-pr-check");
  expect([skipped.exit, skipped.stderr]).toEqual([0, "Skills: none\nPR identity not verified: acme/app#12\n"]);
  world.edit(brief, (text) => text.replace("acme/app#12", "acme/app#13"));
  const other = await run("--skip-pr-check");
  expect(other.stderr).toEndWith("Stop: brief lists acme/app#13, record lists acme/app#12\n");
});

test("no spec, several specs and no plan are stops and questions", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  const { tree } = world;
  tree.write("doc/specs/2.md", "# Two\n");
  const several = await world.writ(["resume", "--plan-only", brief]);
  expect(several.stdout).toContain(`1. ${tree.path}/doc/specs/2.md\n2. ${world.spec}\n`);
  expect(several.stderr).toEndWith(
    `Answer needed: spec (--spec <path>)\nhint: writ resume --plan-only ${brief} --spec <path>\n`,
  );
  expect((await world.writ(["resume", "--plan-only", brief, "--spec", SPEC_PATH])).exit).toBe(0);
  expect((await world.writ(["resume", "--plan-only", brief, "--spec", "README.md"])).exit).toBe(2);
  const plan = await world.writ(["resume", "--plan-only", brief, "--spec", "doc/specs/2.md"]);
  expect(plan.stderr).toContain(`Stop: no plan pairs with ${tree.path}/doc/specs/2.md\n`);
  tree.git("rm", "-rfq", "--cached", "doc");
  tree.git("commit", "-q", "-m", "gone");
  tree.git("clean", "-fdq");
  const none = await world.writ(["resume", "--plan-only", brief]);
  expect(none.stderr).toContain(
    "Stop: no spec candidate under doc/specs, docs/specs, doc/plans, docs/plans - start with brainstorming or pass the spec path\n  hint: writ phase start brainstorm\n",
  );
});

test("the base of a branch that nothing tells is a person's answer", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  world.primary.git("branch", "-m", "main", "trunk");
  const asked = await world.writ(["resume", "--plan-only", brief]);
  expect(asked.stderr).toContain("Answer needed: base (--base <ref>)\n");
  expect((await world.writ(["resume", "--plan-only", brief, "--base", "trunk"])).exit).toBe(0);
  expect((await world.writ(["resume", "--plan-only", brief, "--base", "nothing"])).exit).toBe(2);
});

test("a plan that fails its check is repaired on the way; one that cannot be leaves the flow for the same brief", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  const { tree } = world;
  tree.write(
    PLAN_PATH,
    PLAN.replace('"Command" L19-L19\n', '"Command" L21-L21\n').replace("  Wire `greet", "  TODO `greet"),
  );
  tree.commit("hurt");
  const stopped = await world.writ(["resume", brief]);
  expect(stopped.exit).toBe(1);
  expect(stopped.stderr).toEndWith(
    `placeholder-scan @ line 50: banned placeholder token "TODO" found\nRepair stopped: placeholder-scan - banned placeholder token "TODO" found is outside citation repair; the plan file is unchanged. Edit the plan (task changes allowed), then re-run /skill:gauntlet-resume.\nhint: writ resume ${brief}\n`,
  );
  expect((await world.writ(["phase", "status"])).stdout).toContain("→ plan\n");
  expect((await world.writ(["plan", "status"])).stdout).toBe("No plan active.\n");
  tree.write(PLAN_PATH, PLAN.replace('"Command" L19-L19\n', '"Command" L21-L21\n'));
  tree.commit("mended in part");
  const ran = await world.writ(["resume", brief]);
  expect(ran.stderr).toContain("Resuming in place: ");
  const head = tree.git("rev-parse", "--short=7", "HEAD");
  expect(ran.stdout).toEndWith(
    `Repaired plan: 1 findings (commit ${head})\nGate history not restored; re-validating \`W2: producer\` before any stage advance\nNo standing grant.\n`,
  );
  expect(tree.git("log", "-1", "--format=%s")).toBe("resume: plan citation repair - 1 findings");
  const archived = documentOf(await world.writ(["phase", "status", "--archived", "--json"])).archived as object[];
  expect(archived).toHaveLength(2);
});

test("tasks that cannot stand in their order, and an implement with nothing left, are told before any call", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  const text = readFileSync(brief, "utf8");
  await world.shell("writ phase reset; writ plan clear");
  world.edit(brief, () =>
    text
      .replace("✓ [0]", "○ [0]")
      .replace("1/3 done (1 in progress, 1 pending)", "0/3 done (1 in progress, 2 pending)"),
  );
  const order = await world.writ(["resume", brief]);
  expect(order.stderr).toEndWith(
    'Stop: infeasible task list - pending tasks precede started or finished ones\n  0 "W1: contract"\n',
  );
  world.edit(brief, () =>
    text
      .replace("→ [1]", "⊘ [1]")
      .replace("○ [2]", "✓ [2]")
      .replace("1/3 done (1 in progress, 1 pending)", "3/3 done (1 skipped)")
      .replace("task: W2: producer", "task: none"),
  );
  const asked = await world.writ(["resume", brief]);
  expect(asked.stderr).toContain("Answer needed: target (--target verify or --target stop)\n");
  const stopped = await world.writ(["resume", brief, "--target", "stop"]);
  expect(stopped.stderr).toEndWith("Stop: infeasible as stated - every task is complete or skipped\n");
  const verify = await world.writ(["resume", brief, "--target", "verify"]);
  expect(verify.stdout).toContain("7. phase start verify\n8. plan init");
  expect(verify.stdout).toContain("re-validating `none` before");
  expect((await world.writ(["phase", "status"])).stdout).toContain("→ verify\n");
});

test("ship is restored at verify, and says so", async () => {
  const { world, brief } = await handedOff();
  using _ = world;
  await world.shell("writ phase reset; writ plan clear");
  world.edit(brief, (text) =>
    text.replace("→ implement(W2)", "✓ implement").replace("○ verify", "✓ verify").replace("○ ship", "→ ship(push)"),
  );
  const ran = await world.writ(["resume", brief]);
  expect(ran.stdout).toContain("\nShip resumes at verify: the closure review runs again before ship.\nGate history");
  expect(ran.stdout).not.toContain("substep");
  expect((await world.writ(["phase", "status"])).stdout).toContain(
    `⊘ implement (resume: ${brief})\n  → verify\n  ○ ship\n`,
  );
});

const LEDGER = `# Ledger - loop engine

**Spec:** \`${SPEC_PATH}\`
**Allowance:** 3

## Rows

| row | status | tries | requirement |
|---|---|---|---|
| row 1 | complete | 1 | cache |
| row 2 (red) | in_progress | 2 | print |

## Decisions

- row 1 accepted
`;

test("a ledger flow goes on with its rows as they are on disk", async () => {
  using world = openResuming({ [SPEC_PATH]: SPEC, "doc/plans/loop.md": LEDGER });
  const { tree } = world;
  await world.shell(
    `writ phase start brainstorm; writ phase skip brainstorm --reason r; writ plan check doc/plans/loop.md
     writ phase skip plan --reason r; writ phase start implement`,
  );
  const brief = await world.handoff("l");
  const ledger = join(tree.path, "doc/plans/loop.md");
  const dirty = LEDGER.replace("| 2 | print |", "| 3 | print |");
  tree.write("doc/plans/loop.md", dirty);
  const unclean = await world.writ(["resume", brief]);
  expect(unclean.stderr).toEndWith(
    `Stop: ledger is not clean: ${ledger}\n  hint: commit the ledger, or take its changes back\n`,
  );
  expect((await world.writ(["phase", "status"])).stdout).toContain("→ implement\n");
  tree.write("doc/plans/loop.md", `${dirty}Pending: home return\n`);
  tree.commit("third try");
  const pending = await world.writ(["resume", brief]);
  expect(pending.stderr).toContain("Stop: ledger has a pending return: Pending: home return\n");
  const ran = await world.writ(["resume", brief, "--pending-recovered"]);
  expect(ran.stdout).toBe(`1. phase start brainstorm
2. phase skip brainstorm --reason 'resume: ${world.spec}'
3. phase start plan
4. plan check '${ledger}'  # FAIL -> stop
5. phase skip plan --reason 'resume: ${world.spec} (loop engine)'
6. phase start implement
7. host pending-recovery '${ledger}'
8. host ledger-migrate '${ledger}'
9. host ledger-allowance '${ledger}'
10. plan refresh '${ledger}'
Plan: 1/2 done (1 in progress)

  ✓ [0] row 1 | 1/3: cache
  → [1] row 2 (red) | 3/3: print
Last decision: row 1 accepted
Gate history not restored; re-validating \`ledger rows\` before any stage advance
No standing grant.
`);
});

test("a ledger that fails its check stops without repair; one that is not there or not paired stops before", async () => {
  using world = openResuming({ [SPEC_PATH]: SPEC, "doc/plans/loop.md": LEDGER, "other/spec.md": "# S\n" });
  const { tree } = world;
  await world.shell("writ phase start verify; writ plan init 'row 1 | 1/9: old label' G1:");
  const brief = await world.handoff("l");
  tree.write("doc/plans/loop.md", LEDGER.replace("| 2 | print |", "| 4 | print |"));
  tree.commit("spent");
  const spent = await world.writ(["resume", brief, "--json"]);
  expect(documentOf(spent)).toMatchObject({ ok: false, code: "plan_findings", message: "FAIL (1 findings)" });
  expect(spent.exit).toBe(1);
  tree.write("doc/plans/loop.md", LEDGER.replace(SPEC_PATH, "other/spec.md"));
  const unpaired = await world.writ(["resume", brief]);
  expect(unpaired.stderr).toContain("Stop: ledger and spec are not paired: doc/plans/loop.md vs other/spec.md\n");
  tree.write("doc/plans/loop.md", "# Plan\n");
  expect((await world.writ(["resume", brief])).stderr).toContain("Stop: not a loop ledger: doc/plans/loop.md\n");
  tree.git("rm", "-qf", "doc/plans/loop.md");
  expect((await world.writ(["resume", brief])).stderr).toContain("Stop: not found: doc/plans/loop.md\n");
  tree.git("checkout", "-q", "HEAD~1", "--", "doc/plans/loop.md");
  tree.commit("back");
  const ran = await world.writ(["resume", brief]);
  expect(ran.stdout).toContain(
    `8. plan init --tasks '[{"name":"row 1","status":"pending"},{"name":"G1:","status":"pending"}]'`,
  );
  expect((await world.writ(["plan", "status"])).stdout).toContain(
    "[0] row 1 | 1/3: cache\n  → [1] row 2 (red) | 2/3: print\n  ○ [2] G1:",
  );
});

test("a plain brief begins a new flow, or leads to a hotfix record", async () => {
  using world = openResuming();
  const { primary, tree } = world;
  await world.writ(["handoff", "--out", "new.md", "--intent", "try it"], { cwd: primary.path });
  expect(await world.shown(["resume", join(primary.path, "new.md")])).toBe(
    `Route: new flow\ntry it\n${QUIET}Title: try it\nWarning: the brief was written in ${primary.path}; this is ${tree.path}\n--- exit 0\n`,
  );
  tree.write("notes/hotfix-7.md", "x\n");
  const brief = await world.handoff(
    "h",
    "--hotfix",
    "--skill",
    "chase-bug",
    "--decision",
    "see `notes/hotfix-6.md` and `notes/hotfix-7.md`",
  );
  expect((await world.writ(["resume", brief])).stdout).toBe("Route: hotfix\nRecord: notes/hotfix-7.md\n");
});

test("beside its intent a plain brief tells all that it says, what has moved, and how its turn stands", async () => {
  using world = openResuming();
  const { primary } = world;
  const cwd = primary.path;
  const { contract_id } = documentOf(await world.writ(["dispatch", "--agent", "a", "--goal", "count it", "--json"]));
  const id = String(contract_id);
  const brief = join(world.folder, "plain.md");
  await world.writ(
    [
      "handoff",
      "--out",
      brief,
      "--decision",
      "by bay",
      "--rejected",
      "by hand",
      "--question",
      "how?",
      "--contract",
      id,
    ],
    { cwd },
  );
  const told = async (setting: { cwd: string; env?: Record<string, string> }) =>
    (await world.writ(["resume", brief], setting)).stderr.split("\n").slice(0, -1);
  const all = ["Title: count it", "Decision: by bay", "Decision: rejected: by hand", "Open question: how?"];
  expect(await told({ cwd })).toEqual(["Skills: none", `To take over the turn: export WRIT_CONTRACT_ID=${id}`, ...all]);
  const head = primary.git("rev-parse", "HEAD");
  primary.write("more.md", "x\n");
  const live = primary.commit("more");
  expect((await told({ cwd })).at(-1)).toBe(`Drift: HEAD brief ${head}, live ${live}`);
  expect((await told({ cwd: world.folder })).at(-1)).toBe(
    `Warning: the brief was written in ${cwd}; this is no checkout`,
  );
  const patch = { agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "Blocked." };
  await world.writ(["contract", "fill", "--draft-id", id, "--json", JSON.stringify(patch)]);
  await world.writ(["contract", "finalize", "--draft-id", id]);
  expect((await told({ cwd }))[1]).toBe(`Warning: turn ${id} was closed since the brief was written (BLOCKED)`);
  await world.writ(["contract", "add", "evidence_report.open_gaps", "more", "--draft-id", id]);
  expect((await told({ cwd }))[1]).toMatch(/ \(BLOCKED\); a[0-9a-f]{16}\.[0-9a-f]{12} continues it$/);
  const elsewhere = await told({ cwd, env: { WRIT_DATA_DIR: join(world.folder, "other") } });
  expect(elsewhere[1]).toBe(`Warning: turn ${id} is not in the store of this user (WRIT_DATA_DIR)`);
});

test("without process state a person says whether the spec is approved", async () => {
  using world = openResuming({ [SPEC_PATH]: SPEC });
  const asked = await world.writ(["resume", world.tree.path], { cwd: world.primary.path });
  expect(asked.stdout).toBe(`Spec: ${world.spec}\nno brief context available\n`);
  expect(asked.stderr).toBe(
    `Answer needed: approved (--approved or --not-approved)\nhint: writ resume '${world.tree.path}' --approved or --not-approved\n`,
  );
  const not = await world.writ(["resume", world.tree.path, "--not-approved"]);
  expect(not.stdout).toBe("Next: brainstorming with the spec as draft\n");
  const approved = await world.writ(["resume", world.tree.path, "--approved"]);
  expect(approved.stdout).toBe(
    `1. phase start brainstorm\n2. phase skip brainstorm --reason 'resume: ${world.spec}'\n3. phase start plan\nNext: write the plan for ${world.spec}\nGate history not restored; re-validating \`none\` before any stage advance\nNo standing grant.\n`,
  );
  expect((await world.writ(["resume", world.tree.path, "--approved"])).stderr).toContain("already carries flow state");
});

test("a plan's tasks are proposed by the commits behind it, and a person confirms or changes them", async () => {
  using world = openResuming();
  const { tree } = world;
  const brief = await world.handoff("p", "--intent", "why", "--decision", "d");
  tree.write("src/cache.ts", "1\n");
  const sha = tree.commit("cache").slice(0, 7);
  const asked = await world.writ(["resume", brief]);
  expect(asked.stdout).toContain(
    `Intent: why\nDecisions:\n- d\nTask 1: Bounded greeting cache - ${sha} - complete\nTask 2: Cached flag - no commit - pending\n`,
  );
  expect(asked.stdout).toEndWith("Stage: implement\n");
  expect(asked.stderr).toContain("Answer needed: confirm (--confirm)\n");
  const infeasible = await world.writ(["resume", brief, "--confirm", "--task", "1=pending", "--task", "2=complete"]);
  expect(infeasible.stderr).toContain(
    'Stop: infeasible task list - pending tasks precede started or finished ones\n  0 "W1: Bounded greeting cache"\n',
  );
  expect((await world.writ(["resume", brief, "--confirm", "--task", "9=complete"])).exit).toBe(2);
  expect((await world.writ(["resume", brief, "--confirm", "--task", "1=later"])).exit).toBe(2);
  const ran = await world.writ(["resume", brief, "--confirm", "--task", "2=in_progress"]);
  expect(ran.stdout).toContain(
    `5. phase skip plan --reason 'resume: ${world.spec}'\n6. phase start implement\n7. plan init --tasks '[{"name":"W1: Bounded greeting cache","status":"complete"},{"name":"W1: Cached flag","status":"in_progress"},`,
  );
  expect(ran.stdout).toEndWith("re-validating `W1: Cached flag` before any stage advance\nNo standing grant.\n");
});

test("a plan that was never committed gives no evidence, and stage verify skips implement", async () => {
  using world = openResuming({ [SPEC_PATH]: SPEC });
  const { tree } = world;
  tree.write(PLAN_PATH, PLAN);
  const asked = await world.writ(["resume", tree.path]);
  expect(asked.stdout).toContain(
    "Note: plan uncommitted; no task evidence\nTask 1: Bounded greeting cache - no commit - pending\n",
  );
  const words = ["1", "2", "3", "4"].flatMap((task) => ["--task", `${task}=complete`]);
  const stated = await world.writ(["resume", tree.path, "--confirm", ...words]);
  expect(stated.stderr).toContain("Stop: infeasible as stated - every task is complete or skipped\n");
  const ran = await world.writ(["resume", tree.path, "--confirm", "--stage", "verify", ...words]);
  expect(ran.stdout).toContain("6. phase skip implement --reason");
  expect((await world.writ(["phase", "status"])).stdout).toContain("→ verify\n");
});

test("a spec of the primary checkout is taken up in the worktree of its name", async () => {
  using world = openResuming();
  const { primary, tree } = world;
  const cwd = primary.path;
  const seed = "doc/specs/2026-10-12-topic.md";
  const run = (...words: readonly string[]) => world.writ(["resume", ...words], { cwd });
  primary.write(seed, SPEC);
  const place = join(cwd, seed);
  expect((await run("2026-10-12-topic.md")).stderr).toContain(`Stop: not tracked: ${place} - commit it first\n`);
  primary.commit("topic");
  expect((await run(seed)).stderr).toContain("Stop: no worktree for topic - create one, or pass --create-worktree\n");
  expect((await run(seed, "--create-worktree", "--plan-only")).stderr).toContain("Stop: no worktree for topic");
  expect((await world.writ(["resume", place])).stderr).toContain("Stop: seed from the primary checkout\n");
  const made = await run(seed, "--create-worktree", "--approved");
  expect(made.stdout).toContain(`Next: write the plan for ${cwd}/.worktrees/topic/${seed}\n`);
  expect(primary.git("worktree", "list")).toContain(".worktrees/topic");
  expect((await run(seed, "--approved")).stderr).toContain("already carries flow state");
  primary.write("doc/specs/x.md", SPEC);
  primary.commit("x");
  expect((await run("doc/specs/x.md")).stderr).toContain(
    `Stop: spec copy missing or draft: ${tree.path}/doc/specs/x.md\n`,
  );
});
