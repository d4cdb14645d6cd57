import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { GIT_IDENTITY, openCheckouts } from "../support/checkout.ts";
import { greetingCheckout, PLAN, PLAN_PATH, SPEC, SPEC_PATH } from "../support/greeting.ts";
import { documentOf, livingWorld, shown } from "../support/writ.ts";

/** Each is a dozen processes, and the machine may be busy. */
setDefaultTimeout(30_000);

const LEDGER = `# Ledger - loop engine

**Spec:** \`${SPEC_PATH}\`
**Allowance:** 3

## Rows

| row | status | tries | requirement |
|---|---|---|---|
| row 1 | pending | 4 | cache |
`;

test("a plan passes; in an armed flow it is stamped, and implement may start while nothing changes", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = greetingCheckout(places);
  const cwd = checkout.path;
  const plan = join(cwd, PLAN_PATH);
  expect(shown(await world.writ(["plan", "check", PLAN_PATH], { cwd }))).toBe("PASS (no flow to stamp)\n--- exit 0\n");
  expect(existsSync(join(cwd, ".git", "writ"))).toBe(false);
  await world.shell("writ phase start brainstorm && writ phase skip brainstorm --reason r", { cwd });
  const refused = await world.writ(["phase", "start", "implement"], { cwd });
  expect(refused.stderr).toContain('run plan_check({ planPath: "<plan path>" })');
  // From another folder: what counts is the checkout that holds the plan.
  expect(shown(await world.writ(["plan", "check", plan], { cwd: join(cwd, "doc") }))).toBe(
    "PASS — plan verified and stamped for implement-start\n--- exit 0\n",
  );
  const again = await world.writ(["plan", "check", plan, "--json"], { cwd: "/" });
  expect(documentOf(again)).toMatchObject({ ok: true, status: "pass", stamped: true, plan_path: plan });
  checkout.write(PLAN_PATH, `${PLAN}\n`);
  const stale = await world.writ(["phase", "start", "implement"], { cwd });
  expect(stale.stderr).toBe(
    `Error: plan-check stamp is stale: ${plan} changed since the last pass - re-run plan_check and retry\nhint: writ plan check ${plan}\n`,
  );
  checkout.write(PLAN_PATH, PLAN);
  expect((await world.writ(["phase", "start", "implement"], { cwd })).exit).toBe(0);
});

test("findings end in 1, name their lines, and take the stamp away", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = greetingCheckout(places);
  const cwd = checkout.path;
  await world.shell(`writ phase start brainstorm; writ plan check ${PLAN_PATH}`, { cwd });
  checkout.write(PLAN_PATH, PLAN.replace("src/cli.ts:1-40", "src/main.ts:1-40"));
  expect(shown(await world.writ(["plan", "check", PLAN_PATH], { cwd }))).toBe(
    'FAIL (1 findings)\npaths-exist @ line 41: Modify: path "src/main.ts" does not exist\n  - Modify: `src/main.ts:1-40`\n--- exit 1\n',
  );
  expect(documentOf(await world.writ(["phase", "status", "--json"], { cwd }))).toMatchObject({ stamp: null });
  const json = await world.writ(["plan", "check", PLAN_PATH, "--json"], { cwd });
  expect(documentOf(json)).toEqual({
    ok: false,
    code: "plan_findings",
    path: join(cwd, PLAN_PATH),
    message: "FAIL (1 findings)",
    hint: null,
    status: "fail",
    findings: [
      {
        check: "paths-exist",
        class: "modify-missing",
        reason: 'Modify: path "src/main.ts" does not exist',
        task: 2,
        line: 41,
        column: 12,
        evidence: "- Modify: `src/main.ts:1-40`",
        expected: "a path that exists",
        hint: "Mend the path, or make it a Create: line",
      },
    ],
  });
  expect(json.exit).toBe(1);
});

test("a SARIF log names the file from its checkout, each rule, and each place", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = greetingCheckout(places, null, PLAN.replace("  Wire `greet", "  TODO `greet"));
  const ran = await world.writ(["plan", "check", PLAN_PATH, "--sarif"], { cwd: checkout.path });
  const log = JSON.parse(ran.stdout) as { version: string; runs: { results: object[]; originalUriBaseIds: object }[] };
  expect(log.version).toBe("2.1.0");
  expect(log.runs[0]?.originalUriBaseIds).toEqual({ ROOT: { uri: `file://${checkout.path}/` } });
  expect(log.runs[0]?.results).toMatchObject([
    {
      ruleId: "placeholder-scan/banned-token",
      level: "error",
      message: { text: 'banned placeholder token "TODO" found' },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: PLAN_PATH, uriBaseId: "ROOT" },
            region: { startLine: 50, startColumn: 3 },
          },
        },
      ],
    },
  ]);
  expect(ran.exit).toBe(1);
  const both = await world.writ(["plan", "check", PLAN_PATH, "--sarif", "--json"], { cwd: checkout.path });
  expect(both.exit).toBe(2);
});

test.each([
  {
    what: "is not there",
    plan: "gone.md",
    reason: "plan file unreadable at CWD/gone.md",
    why: "there is no such file",
  },
  { what: "is a folder", plan: "doc", reason: "plan file unreadable at CWD/doc", why: "it is a folder" },
  {
    what: "is no UTF-8",
    plan: "bytes.md",
    reason: "plan file unreadable at CWD/bytes.md",
    why: "it is no UTF-8 text: byte 1",
  },
  { what: "is a device", plan: "/dev/zero", reason: "plan file unreadable at /dev/zero", why: "it is no regular file" },
  {
    what: "is too large",
    plan: "large.md",
    reason: "plan file unreadable at CWD/large.md",
    why: "it has more than 8 MiB",
  },
  { what: "names no spec", plan: "README.md", reason: "no path-only **Spec:** header line found in plan", why: null },
  {
    what: "names a spec that is gone",
    plan: "p.md",
    reason: "spec file unreadable at CWD/doc/specs/none.md",
    why: "there is no such file",
  },
])("a plan that $what is one finding, and standard error says why", async ({ plan, reason, why }) => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = places.repository("r", {
    "README.md": "# R\n",
    "doc/x": "",
    "p.md": "**Spec:** `doc/specs/none.md`\n",
  });
  await Bun.write(join(checkout.path, "bytes.md"), new Uint8Array([0x23, 0xff, 0x0a]));
  await Bun.write(join(checkout.path, "large.md"), "x".repeat(8 * 1024 * 1024 + 1));
  const ran = await world.writ(["plan", "check", plan], { cwd: checkout.path });
  expect(ran.stdout).toBe(`FAIL (1 findings)\ninput @ line 0: ${reason.replace("CWD", checkout.path)}\n  \n`);
  expect(ran.exit).toBe(1);
  const file = reason.replace("CWD", checkout.path).split(" unreadable at ")[1];
  expect(ran.stderr).toBe(why === null ? "" : `Cannot read ${file}: ${why}\n`);
  const document = documentOf(await world.writ(["plan", "check", plan, "--json"], { cwd: checkout.path }));
  expect(document.hint).toBe(why === null ? null : `Cannot read ${file}: ${why}`);
});

test.each(["plan", "spec"])("findings of a %s with CRLF name its line ends", async (which) => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = greetingCheckout(places);
  const path = which === "plan" ? PLAN_PATH : SPEC_PATH;
  checkout.write(path, (which === "plan" ? PLAN : SPEC.replace("### Cache", "### Cash")).replaceAll("\n", "\r\n"));
  const note = `${join(checkout.path, path)} has lines that end in CRLF, and each is judged with its CR: write it with LF`;
  const ran = await world.writ(["plan", "check", PLAN_PATH], { cwd: checkout.path });
  expect(ran).toMatchObject({ exit: 1, stderr: `${note}\n` });
  const document = documentOf(await world.writ(["plan", "check", PLAN_PATH, "--json"], { cwd: checkout.path }));
  expect(document.hint).toBe(note);
  expect((await world.writ(["plan", "repair", PLAN_PATH], { cwd: checkout.path })).stderr).toContain(note);
});

test("outside of a checkout nothing can be held against the plan", async () => {
  using world = livingWorld(GIT_IDENTITY);
  await Bun.write(join(world.folder, "p.md"), PLAN);
  const ran = await world.writ(["plan", "check", "p.md"]);
  expect(ran.stdout).toContain("input @ line 0: plan is not inside a git checkout");
});

test("a spec may be named, paths may have blanks and be no ASCII, and patterns meet what is there", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = greetingCheckout(places);
  checkout.write("src/böse Namen/ä b.ts", "");
  checkout.write(
    "plän.md",
    PLAN.replace("- Modify: `src/cli.ts:1-40`", "- Modify: `src/böse Namen/*.ts`\n- Modify: `src/böse Namen/ä b.ts:3`"),
  );
  symlinkSync(join(checkout.path, SPEC_PATH), join(checkout.path, "spec link.md"));
  const ran = await world.writ(["plan", "check", "plän.md", "--spec", "spec link.md"], { cwd: checkout.path });
  expect(shown(ran)).toBe("PASS (no flow to stamp)\n--- exit 0\n");
  checkout.write(
    "plän.md",
    PLAN.replace("- Modify: `src/cli.ts:1-40`", "- Modify: `../*.ts`\n- Modify: `src/[`\n- Modify: `no/**`"),
  );
  const findings = (await world.writ(["plan", "check", "plän.md"], { cwd: checkout.path })).stdout;
  expect(findings).toContain('Modify: glob "../*.ts" is invalid: it leads out of the checkout');
  expect(findings).toContain('Modify: glob "src/[" is invalid: a [ is never closed');
  expect(findings).toContain('Modify: glob "no/**" matched no files');
});

test("a ledger is checked as a ledger", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = greetingCheckout(places);
  checkout.write("doc/plans/l.md", LEDGER);
  const ran = await world.writ(["plan", "check", "doc/plans/l.md"], { cwd: checkout.path });
  expect(shown(ran)).toBe(
    'FAIL (1 findings)\ninput @ line 10: row "row 1" spent 4 of 3 tries\n  | row 1 | pending | 4 | cache |\n--- exit 1\n',
  );
  checkout.write("doc/plans/l.md", LEDGER.replace("| 4 |", "| 3 |"));
  expect((await world.writ(["plan", "check", "doc/plans/l.md"], { cwd: checkout.path })).exit).toBe(0);
});

/** A plan whose anchor, quote, dead path and renamed test all want repair. */
const DAMAGED = PLAN.replace('"Command" L19-L19\n', '"Command" L21-L21\n')
  .replace("  Wire `greet --cached` to the cache.", "  Wire the flag to the cache.")
  .replace("- Modify: `src/cli.ts:1-40`", "- Modify: `src/cli.ts:1-40`\n- Modify: src/old.ts");

/** In it test/cli.test.ts was renamed and src/old.ts deleted. */
function damagedCheckout(places: ReturnType<typeof openCheckouts>) {
  const checkout = greetingCheckout(places, null, DAMAGED);
  checkout.write("src/old.ts", "1\n");
  checkout.commit("old");
  checkout.git("rm", "-q", "src/old.ts");
  checkout.git("mv", "test/cli.test.ts", "test/flagü.test.ts");
  checkout.commit("moved");
  return checkout;
}

const DONE = `echo '[{"name":"W1: Cached flag","status":"complete"}]' | writ plan repair ${PLAN_PATH} --tasks -`;

test("a committed plan is repaired, and committed alone", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = damagedCheckout(places);
  checkout.write("src/other.ts", "work of somebody else\n");
  checkout.git("add", "src/other.ts");
  const ran = await world.shell(DONE, { cwd: checkout.path });
  const head = checkout.git("rev-parse", "--short=7", "HEAD");
  expect(shown(ran)).toBe(`Repaired plan: 5 findings (commit ${head})\n--- exit 0\n`);
  expect(checkout.git("log", "-1", "--format=%s")).toBe("resume: plan citation repair - 5 findings");
  expect(checkout.git("show", "--name-only", "--format=", "HEAD")).toBe(PLAN_PATH);
  expect(checkout.git("status", "--porcelain")).toBe("A  src/other.ts");
  const text = readFileSync(join(checkout.path, PLAN_PATH), "utf8");
  expect(text).toContain("- Test: `test/flagü.test.ts`");
  expect((await world.writ(["plan", "check", PLAN_PATH], { cwd: checkout.path })).exit).toBe(0);
  expect(shown(await world.writ(["plan", "repair", PLAN_PATH], { cwd: checkout.path }))).toBe(
    "Plan needs no repair.\n--- exit 0\n",
  );
});

test.each([
  { what: "changed", steps: [] },
  { what: "changed and staged", steps: [["add", PLAN_PATH]] },
  { what: "untracked", steps: [["rm", "-q", "--cached", PLAN_PATH]] },
])("a plan that is $what is repaired in the working copy, and nothing is committed", async ({ steps }) => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = damagedCheckout(places);
  checkout.write(PLAN_PATH, `${DAMAGED}\n`);
  for (const step of steps) checkout.git(...step);
  const before = checkout.git("rev-parse", "HEAD");
  const ran = await world.shell(`${DONE} --json`, { cwd: checkout.path });
  expect(documentOf(ran)).toMatchObject({ ok: true, rounds: 3, repaired: 5, where: "working copy" });
  expect(checkout.git("rev-parse", "HEAD")).toBe(before);
});

test("a repair that stops leaves the plan as it was, byte for byte", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = damagedCheckout(places);
  const path = join(checkout.path, PLAN_PATH);
  const head = checkout.git("rev-parse", "HEAD");
  // Without tasks nothing says that the dead path was done with.
  const ran = await world.writ(["plan", "repair", PLAN_PATH], { cwd: checkout.path });
  expect(ran.exit).toBe(1);
  expect(ran.stdout).toContain('Task 2: paths-exist @ line 42: Modify: path "src/old.ts" does not exist\n');
  expect(ran.stderr).toBe(
    `Repair stopped: paths-exist - Modify: path "src/old.ts" does not exist is outside citation repair; the plan file is unchanged. Edit the plan (task changes allowed), then re-run /skill:gauntlet-resume.\nhint: writ plan check ${path}\n`,
  );
  const told = documentOf(await world.writ(["plan", "repair", PLAN_PATH, "--json"], { cwd: checkout.path }));
  expect(told).toMatchObject({
    ok: false,
    status: "error",
    code: "repair_stopped",
    path,
    hint: `writ plan check ${path}`,
  });
  expect(readFileSync(path, "utf8")).toBe(DAMAGED);
  expect(checkout.git("rev-parse", "HEAD") + checkout.git("status", "--porcelain")).toBe(head);
});

test("a commit that fails ends in 1, and the repaired plan stays in the working copy", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = damagedCheckout(places);
  await Bun.write(join(checkout.path, ".git/hooks/pre-commit"), "#!/bin/sh\necho 'no commits today' >&2\nexit 1\n");
  Bun.spawnSync(["chmod", "+x", join(checkout.path, ".git/hooks/pre-commit")]);
  const ran = await world.shell(DONE, { cwd: checkout.path });
  expect(shown(ran)).toBe(
    "--- stderr\nStop: git commit failed: no commits today\n  no commits today\n  hint: the repaired plan is in the working copy; commit it\n--- exit 1\n",
  );
  expect((await world.writ(["plan", "check", PLAN_PATH], { cwd: checkout.path })).exit).toBe(0);
});

test("a question is no citation: repair says what is needed and ends", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = greetingCheckout(places, null, PLAN.replace("- none\n\n## Wave", "- Which order?\n\n## Wave"));
  const ran = await world.writ(["plan", "repair", PLAN_PATH], { cwd: checkout.path });
  expect(shown(ran)).toBe(
    "open-questions @ line 14: unresolved open question: Which order?\nOpen questions: answer the rows, then have the plan's author resolve them.\n--- exit 1\n",
  );
});

test("an anchor may lead to a blank line of its section", async () => {
  using world = livingWorld(GIT_IDENTITY);
  using places = openCheckouts();
  const checkout = greetingCheckout(places);
  checkout.write(PLAN_PATH, PLAN.replaceAll("L15-L15", "L14-L14"));
  expect(SPEC.split("\n")[13]).toBe("");
  expect(shown(await world.writ(["plan", "check", PLAN_PATH], { cwd: checkout.path }))).toBe(
    "PASS (no flow to stamp)\n--- exit 0\n",
  );
});
