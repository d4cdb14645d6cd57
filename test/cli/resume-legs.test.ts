import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type Checkout, checkoutAt } from "../support/checkout.ts";
import { PLAN, PLAN_PATH, SPEC, SPEC_PATH } from "../support/greeting.ts";
import { openResuming, type Resuming } from "../support/resuming.ts";

/** Each is a dozen processes, and the machine may be busy. */
setDefaultTimeout(30_000);

const LEGS =
  "\n## Legs\n\n### Leg: app\nbranch: feature/x\n\n### Leg: lib\nbranch: feature/x\nhome: trees/<NAME>/lib\n";
const LEG_FILE = SPEC_PATH.replace(".md", ".leg.md");
const RECEIPT = PLAN_PATH.replace(".md", ".lib.receipt.json");

type Coordinated = { readonly world: Resuming; readonly lib: Checkout; readonly brief: string; readonly head: string };

/** A flow of two repositories whose companion has its tree, its leg file and its declared primary. */
async function coordinated(): Promise<Coordinated> {
  const world = openResuming({ [SPEC_PATH]: SPEC + LEGS, [PLAN_PATH]: PLAN });
  world.tree.write(
    ".writ/settings.json",
    JSON.stringify({ siblings: { lib: "git@example.invalid:acme/lib-clone.git" } }),
  );
  world.tree.commit("settings");
  const primary = checkoutAt(join(world.folder, "lib-clone"));
  Bun.spawnSync(["mkdir", "-p", primary.path]);
  primary.git("init", "-q", "-b", "main");
  primary.commit("lib");
  const lib = primary.worktree(join(world.folder, "trees", "feature-x", "lib"), "feature/x");
  lib.write(LEG_FILE, `# Leg\n\n**Home:** app | feature/x | ${SPEC_PATH}\n`);
  const head = lib.commit("leg");
  world.flow();
  const brief = await world.handoff("x");
  await world.shell("writ phase reset; writ plan clear");
  return { world, lib, brief, head };
}

test("members that are what brief and spec say are admitted; what has moved is told", async () => {
  const { world, lib, brief } = await coordinated();
  using _ = world;
  const right = await world.writ(["resume", "--plan-only", brief]);
  expect([right.exit, right.stderr]).toEqual([0, "Skills: none\n"]);
  lib.write("new.ts", "");
  const drifted = await world.writ(["resume", "--plan-only", brief]);
  expect([drifted.exit, drifted.stderr]).toEqual([0, "Skills: none\nDrift: lib dirty brief clean, live ?? new.ts\n"]);
});

test("each requirement of admission stops with its leg, what was expected and what was found", async () => {
  const { world, lib, brief, head } = await coordinated();
  using _ = world;
  const { folder, tree } = world;
  const said = async (change: (text: string) => string = (text) => text) => {
    const changed = join(folder, "changed.md");
    await Bun.write(changed, change(await Bun.file(brief).text()));
    const ran = await world.shell(`writ resume --plan-only ${changed}`);
    return ran.stderr.replace("Skills: none\n", "");
  };
  expect(await said((text) => text.replace("- repo: lib", "- repo: other"))).toBe(
    "Stop: leg membership differs: missing lib, extra other\n  brief: app, other\n  spec: app, lib\n",
  );
  expect(
    await said((text) => text.replace(`- repo: app\n  worktree: ${tree.path}`, `- repo: app\n  worktree: ${folder}`)),
  ).toBe(`Stop: leg app: run home is ${tree.path}, brief says ${folder}\n`);
  expect(await said((text) => text.replace(lib.path, tree.path))).toBe(
    `Stop: leg lib: worktree belongs to ${world.primary.path}/.git, expected ${folder}/lib-clone/.git\n`,
  );
  lib.git("checkout", "-q", "-b", "elsewhere");
  expect(await said()).toBe("Stop: leg lib: branch is elsewhere, expected feature/x\n");
  lib.git("checkout", "-q", "feature/x");
  lib.write(LEG_FILE, "**Home:** app | feature/y | x.md\n");
  expect(await said()).toBe(`Stop: leg lib: Home is app | feature/y | x.md, expected app | feature/x | ${SPEC_PATH}\n`);
  lib.git("rm", "-qf", LEG_FILE);
  expect(await said()).toBe(`Stop: leg lib: Home is none, expected app | feature/x | ${SPEC_PATH}\n`);
  const missing = (text: string) =>
    text
      .replace(`worktree: ${lib.path}`, "worktree: missing")
      .replace(/dirty: clean\nGate/, `dirty: unavailable\n  receipt: ${RECEIPT}\nGate`);
  const located = `  home: trees/<NAME>/lib\n  NAME: feature-x\n  path: ${lib.path}\n  The pattern locates the tree; it does not authorize recreating it, making up a receipt, or inferring approval.\n`;
  expect(await said(missing)).toBe(`Stop: leg lib: tree missing, no valid receipt\n${located}`);
  tree.write(RECEIPT, JSON.stringify({ repo: "lib", branch: "feature/x", head, pr: 3, repository: "acme/lib" }));
  world.gh(`echo '{"headRefName":"feature/x","headRefOid":"${head}","state":"CLOSED"}'`);
  expect(await said(missing)).toEndWith(`${located}  pull request: feature/x ${head} CLOSED\n`);
  world.gh(`echo '{"headRefName":"feature/x","headRefOid":"${head}","state":"MERGED"}'`);
  expect(await said(missing)).toBe(
    `Drift: dirty brief clean, live 1 entries\nDrift: app dirty brief clean, live ?? ${RECEIPT}\n`,
  );
  tree.write(
    RECEIPT,
    JSON.stringify({
      repo: "lib",
      branch: "feature/x",
      head: head.replace(/./, (first) => (first === "0" ? "1" : "0")),
      pr: 3,
      repository: "acme/lib",
    }),
  );
  expect(await said(missing)).toContain("Stop: leg lib: tree missing, no valid receipt\n");
  tree.write(".writ/settings.json", "{}");
  expect(await said()).toContain("Stop: no sibling clone for leg lib\n");
});

test("a receipt that nobody can validate is no receipt", async () => {
  const { world, lib, brief, head } = await coordinated();
  using _ = world;
  world.tree.write(RECEIPT, JSON.stringify({ repo: "lib", branch: "feature/x", head, pr: 3, repository: "acme/lib" }));
  world.edit(brief, (text) =>
    text
      .replace(`worktree: ${lib.path}`, "worktree: missing")
      .replace(/dirty: clean\nGate/, `dirty: unavailable\n  receipt: ${RECEIPT}\nGate`),
  );
  const ran = await world.writ(["resume", "--plan-only", brief], { env: { WRIT_GH: "/nowhere/gh" } });
  expect(ran.stderr).toEndWith("or inferring approval.\n  gh: command not found\n");
  expect(ran.exit).toBe(4);
});

test("a ship brief whose plan was stripped is retried when every companion is delivered", async () => {
  const { world, brief, head } = await coordinated();
  using _ = world;
  const { tree } = world;
  world.edit(brief, (text) =>
    text
      .replace("→ implement(W2)", "✓ implement")
      .replace("○ verify", "✓ verify")
      .replace("○ ship", "→ ship")
      .replace(/dirty: clean\nGate/, `dirty: clean\n  receipt: ${RECEIPT}\nGate`),
  );
  tree.write(RECEIPT, JSON.stringify({ repo: "lib", branch: "feature/x", head, pr: 3, repository: "acme/lib" }));
  tree.git("rm", "-q", PLAN_PATH);
  tree.commit("stripped");
  world.gh("exit 1");
  const undelivered = await world.shell(`writ resume ${brief}`);
  expect(undelivered.stderr).toEndWith(`Stop: no plan pairs with ${world.spec}\n`);
  world.gh(`echo '{"headRefName":"feature/x","headRefOid":"${head}","state":"OPEN"}'`);
  const ran = await world.shell(`writ resume ${brief}`);
  expect(ran.stdout).toContain(
    `4. phase skip plan --reason 'resume: ${brief}'\n5. phase skip implement --reason 'resume: ${brief}'\n6. phase start verify\n7. plan init`,
  );
  expect(ran.stderr).toEndWith("Retry: companions delivered; re-validate the home against the recorded contracts.\n");
  expect((await world.writ(["phase", "status"])).stdout).toContain("→ verify\n");
});
