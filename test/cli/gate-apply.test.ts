import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { doneResult } from "../support/wire-result.ts";
import { livingWorld, writCommand } from "../support/writ.ts";

const DIFF = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
const LEG = { index: 0, status: "succeeded", diff: DIFF, diff_files: ["a.ts"] };

function world(result: unknown, text = "one\ntwo\nthree\n") {
  const living = livingWorld();
  const tree = join(living.folder, "tree");
  mkdirSync(tree);
  writeFileSync(join(tree, "a.ts"), text);
  writeFileSync(join(living.folder, "r.json"), typeof result === "string" ? result : JSON.stringify(result));
  return {
    living,
    a: () => readFileSync(join(tree, "a.ts"), "utf8"),
    tree,
    [Symbol.dispose]: () => living[Symbol.dispose](),
  };
}

describe("writ gate apply", () => {
  test("is a dry run without --yes", async () => {
    using here = world({ results: [LEG] });
    const ran = await here.living.writ(["gate", "apply", "r.json", "--to", "tree"]);
    expect(ran).toEqual({
      exit: 0,
      stderr: "",
      stdout: "changed  a.ts  +1 -1\nIt fits. Nothing was written: --yes writes it.\n",
    });
    expect(here.a()).toBe("one\ntwo\nthree\n");
  });

  test.each([
    ["a result document", { results: [LEG, { index: 1, status: "deferred" }] }],
    ["one element of it", LEG],
    ["a patch", DIFF],
  ])("writes the diff of %s with --yes", async (_, result) => {
    using here = world(result);
    const ran = await here.living.writ(["gate", "apply", "r.json", "--to", "tree", "--yes", "--json"]);
    expect([ran.exit, JSON.parse(ran.stdout)]).toEqual([
      0,
      {
        ok: true,
        status: "ok",
        to: "tree",
        applied: true,
        files: [{ path: "a.ts", change: "changed", added: 1, removed: 1 }],
        refusals: [],
      },
    ]);
    expect(here.a()).toBe("one\nTWO\nthree\n");
  });

  test("spells out what is invisible in a path, where it fits and where it does not", async () => {
    const path = "\u202egit/x\u200b\u00a0y";
    using here = world(
      `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`,
    );
    const call = ["gate", "apply", "r.json", "--to", "tree", "--yes"];
    expect(await here.living.writ(call)).toEqual({
      exit: 0,
      stderr: "",
      stdout: 'created  \\u202egit/x\\u200b\\u00a0y  +1 -0\nApplied to "tree".\n',
    });
    const again = await here.living.writ(call);
    expect([again.exit, again.stdout]).toEqual([
      1,
      expect.stringContaining("\n  \\u202egit/x\\u200b\\u00a0y: the file is there"),
    ]);
  });

  test("touches nothing where the tree is another, and says where it differs", async () => {
    using here = world({ results: [LEG] }, "one\n2\nthree\n");
    const ran = await here.living.writ(["gate", "apply", "r.json", "--to", "tree", "--yes"]);
    expect(ran).toEqual({
      exit: 1,
      stderr: "",
      stdout:
        'It does not fit "tree"; nothing was touched.\n  a.ts, hunk 1: line 2 of the file is "2", and "two" is due\n',
    });
    expect(here.a()).toBe("one\n2\nthree\n");
  });

  test("shows the blanks in which two lines differ, and no control", async () => {
    using here = world({ results: [LEG] }, "one\n   two   \u001b[2J\nthree\n");
    const said = 'line 2 of the file is "   two   \\u001b[2J", and "two" is due';
    const ran = await here.living.writ(["gate", "apply", "r.json", "--to", "tree"]);
    expect(ran.stdout).toBe(`It does not fit "tree"; nothing was touched.\n  a.ts, hunk 1: ${said}\n`);
    const { stdout } = await here.living.writ(["gate", "apply", "r.json", "--to", "tree", "--json"]);
    expect(JSON.parse(stdout).refusals).toEqual([{ file: "a.ts", hunk: 1, line: 2, line_of: "file", reason: said }]);
  });

  test.each<[string, unknown, readonly string[], number, string]>([
    [
      "a leg that did not succeed",
      { results: [{ ...LEG, status: "failed_verification", reason: "no" }] },
      [],
      3,
      "leg_unproved",
    ],
    [
      "what a job came to, as its node handed it out, where it was deferred",
      doneResult(
        { job_id: "wrt-1", contract_sha256: "s" },
        { deferred: true, reason: "wall timeout after 3s", defer_class: "budget", diff: DIFF, diff_files: ["a.ts"] },
      ),
      [],
      3,
      "leg_unproved",
    ],
    [
      "a job's result that nobody graded",
      doneResult({ job_id: "wrt-1", contract_sha256: "s" }, { diff: DIFF, diff_files: ["a.ts"] }),
      [],
      3,
      "leg_unproved",
    ],
    [
      "a job's result into which its node put a verdict",
      {
        ...doneResult({ job_id: "wrt-1", contract_sha256: "s" }, { diff: DIFF, diff_files: ["a.ts"] }),
        ...LEG,
        results: [LEG],
      },
      [],
      3,
      "leg_unproved",
    ],
    ["a diff without a verdict", { diff: DIFF }, [], 3, "leg_unproved"],
    ["a leg that does not say how it ended", { results: [{ index: 0, diff: DIFF }] }, [], 3, "leg_unproved"],
    ["a success that was deferred", { ...LEG, deferred: true }, [], 3, "leg_unproved"],
    ["a success that failed", { ...LEG, failed: true }, [], 3, "leg_unproved"],
    ["a success with failed checks", { ...LEG, acceptance_failures: ["no"] }, [], 3, "leg_unproved"],
    ["a read root without a contract", { results: [LEG] }, ["--read-root", "."], 2, "usage"],
    ["a patch with a contract", DIFF, ["--contract", "c.json"], 2, "usage"],
    ["a leg that is not there", { results: [LEG] }, ["--index", "4"], 2, "no_leg"],
    ["a leg without a diff", { results: [LEG, { index: 1, status: "succeeded" }] }, ["--index", "1"], 2, "no_leg"],
    ["several legs and none named", { results: [LEG, { ...LEG, index: 1 }] }, [], 2, "no_leg"],
    ["no leg with a diff", { results: [{ index: 0, status: "succeeded" }] }, [], 2, "no_leg"],
    ["what is no result", "prose", [], 2, "bad_result"],
    ["a folder that is none", { results: [LEG] }, ["--to", "r.json"], 2, "no_folder"],
  ])("refuses %s", async (_, result, more, exit, code) => {
    using here = world(result);
    const to = more.includes("--to") ? [] : ["--to", "tree"];
    const ran = await here.living.writ(["gate", "apply", "r.json", ...to, ...more, "--yes", "--json"]);
    expect([ran.exit, JSON.parse(ran.stdout).code]).toEqual([exit, code]);
    expect(here.a()).toBe("one\ntwo\nthree\n");
  });

  test("names the call that grades a result of which nobody has", async () => {
    using here = world(doneResult({ job_id: "wrt-1", contract_sha256: "s" }, { diff: DIFF, diff_files: ["a.ts"] }));
    const ran = await here.living.writ(["gate", "apply", "r.json", "--to", "tree", "--yes"]);
    expect(ran).toEqual({
      exit: 3,
      stdout: "",
      stderr:
        'Error: Nobody has graded "r.json": it is the result of a job as its node handed it out\n' +
        "This grades it first, and applies it where it passes: writ gate apply RESULT --contract FILE --read-root DIR --to DIR\n",
    });
  });

  test("a patch of a leg that did not succeed is refused by its name, also behind a link", async () => {
    using here = world({ results: [LEG] });
    writeFileSync(join(here.living.folder, "diff.unverified.patch"), DIFF);
    symlinkSync("diff.unverified.patch", join(here.living.folder, "fine.patch"));
    for (const name of ["diff.unverified.patch", "fine.patch"]) {
      const ran = await here.living.writ(["gate", "apply", name, "--to", "tree", "--yes", "--json"]);
      expect([ran.exit, JSON.parse(ran.stdout).code]).toEqual([3, "leg_unproved"]);
    }
    expect(here.a()).toBe("one\ntwo\nthree\n");
    const own = await here.living.writ(["gate", "apply", "-", "--to", "tree", "--yes"], { stdin: DIFF });
    expect([own.exit, here.a()]).toEqual([0, "one\nTWO\nthree\n"]);
  });

  test("does not write through a link, nor outside of the folder", async () => {
    using here = world(DIFF.replaceAll("a.ts", "out/a.ts"));
    mkdirSync(join(here.living.folder, "outside"));
    writeFileSync(join(here.living.folder, "outside", "a.ts"), "one\ntwo\nthree\n");
    symlinkSync("../outside", join(here.tree, "out"));
    const ran = await here.living.writ(["gate", "apply", "r.json", "--to", "tree", "--yes"]);
    expect([ran.exit, ran.stdout]).toEqual([1, expect.stringContaining('"out" is a link')]);
    expect(readFileSync(join(here.living.folder, "outside", "a.ts"), "utf8")).toBe("one\ntwo\nthree\n");
    const up = world(DIFF.replaceAll("a.ts", "../b.ts"));
    const gone = await up.living.writ(["gate", "apply", "r.json", "--to", "tree", "--yes"]);
    expect([gone.exit, existsSync(join(up.living.folder, "b.ts"))]).toEqual([1, false]);
    up[Symbol.dispose]();
  });
});

/** Contracts by which a recovered result of `a.ts` is graded. */
const DOOR = { goal: "shout", context_paths: ["a.ts"], write_root: ".", acceptance: ["diff_touches:a.ts"] };
const SHUT = { goal: "shout", context_paths: ["a.ts"], acceptance: ["contains:done"] };

function recovered(contract: object, more: object = {}) {
  const here = world(
    doneResult({ job_id: "wrt-1", contract_sha256: "s" }, { diff: DIFF, diff_files: ["a.ts"], ...more }),
  );
  writeFileSync(join(here.living.folder, "c.json"), JSON.stringify(contract));
  const apply = (...args: string[]) =>
    here.living.writ(["gate", "apply", "r.json", "--contract", "c.json", "--to", "tree", ...args, "--json"]);
  return { ...here, apply };
}

describe("writ gate apply --contract", () => {
  test("grades what was recovered, and applies it where it passes", async () => {
    using here = recovered(DOOR);
    const dry = await here.apply("--read-root", "tree");
    expect([dry.exit, here.a()]).toEqual([0, "one\ntwo\nthree\n"]);
    const ran = await here.apply("--read-root", "tree", "--yes");
    expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([
      0,
      { ok: true, applied: true, grade: { index: 0, verdict: "pass", outcomes: [{ outcome: "pass" }] } },
    ]);
    expect(here.a()).toBe("one\nTWO\nthree\n");
  });

  test("of several subtasks --index names the one that it answers", async () => {
    using here = recovered([{ ...DOOR, acceptance: ["contains:never"] }, DOOR]);
    expect((await here.apply("--read-root", "tree")).exit).toBe(2);
    expect((await here.apply("--read-root", "tree", "--index", "0")).exit).toBe(3);
    expect((await here.apply("--read-root", "tree", "--index", "1")).exit).toBe(0);
  });

  test.each<[string, object, object, readonly string[], string]>([
    [
      "whose check fails",
      { ...DOOR, acceptance: ["contains:never"] },
      {},
      ["--read-root", "tree"],
      'contains:never: "never"',
    ],
    ["of a contract that opens no write door", SHUT, {}, ["--read-root", "tree"], "the contract opens no write door"],
    ["of a contract without a check", { ...DOOR, acceptance: [] }, {}, ["--read-root", "tree"], "nothing was measured"],
    ["that was deferred", DOOR, { deferred: true, reason: "late" }, ["--read-root", "tree"], "is deferred: late"],
    ["without an answer", DOOR, { output: "" }, ["--read-root", "tree"], "empty final answer"],
    ["whose documents were not read", DOOR, {}, [], "nobody can say whether the diff fits them"],
    [
      "whose diff deletes",
      DOOR,
      {
        diff: "diff --git a/a.ts b/a.ts\ndeleted file mode 100644\n--- a/a.ts\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n",
      },
      ["--read-root", "tree"],
      "is deleted",
    ],
  ])("touches nothing of a result %s", async (_, contract, more, args, why) => {
    using here = recovered(contract, more);
    const ran = await here.apply(...args, "--yes");
    expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([
      3,
      { ok: false, code: "leg_unproved", message: expect.stringContaining(why) },
    ]);
    expect(here.a()).toBe("one\ntwo\nthree\n");
  });

  test("grades nothing that has its verdict", async () => {
    using here = recovered(DOOR);
    writeFileSync(join(here.living.folder, "r.json"), JSON.stringify({ ...LEG, output: "done" }));
    const ran = await here.apply("--read-root", "tree", "--yes");
    expect([ran.exit, JSON.parse(ran.stdout).code, here.a()]).toEqual([3, "leg_unproved", "one\ntwo\nthree\n"]);
  });
});

describe("writ gate apply --yes, asked to end", () => {
  const FILES = 200;
  const nameOf = (at: number) => `f${String(at).padStart(3, "0")}`;
  const names = Array.from({ length: FILES }, (_, at) => nameOf(at));
  const PATCH = names.map(
    (name) => `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-old\n+new\n`,
  );

  function tree() {
    const living = livingWorld();
    const place = join(living.folder, "tree");
    mkdirSync(place);
    for (const name of names) writeFileSync(join(place, name), "old\n");
    writeFileSync(join(living.folder, "p.patch"), PATCH.join(""));
    const state = () => ({
      changed: names.filter((name) => readFileSync(join(place, name), "utf8") === "new\n").length,
      staged: readdirSync(place).length - FILES,
    });
    return { living, place, state };
  }

  /** Stops the call at a moment of its work, sends it the signal, and lets it go on. */
  async function askedAt(moment: "staging" | "renaming", signal: NodeJS.Signals) {
    // Where the call was too fast for the one that looks on, another one is started.
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const { living, place, state } = tree();
      const first = statSync(join(place, nameOf(0))).ino;
      const isThere = () =>
        moment === "staging" ? readdirSync(place).length > FILES : statSync(join(place, nameOf(0))).ino !== first;
      const child = Bun.spawn([...writCommand(), "gate", "apply", "p.patch", "--to", "tree", "--yes"], {
        cwd: living.folder,
        env: living.env(),
        stdout: "pipe",
        stderr: "pipe",
      });
      // Looked at in bursts: the renames are over in a few milliseconds.
      for (let looks = 0; child.exitCode === null && !isThere(); looks += 1) if (looks % 500 === 0) await Bun.sleep(0);
      child.kill("SIGSTOP");
      let seen = state();
      for (let before = null; !Bun.deepEquals(before, seen); seen = state()) before = seen;
      const isMoment =
        moment === "staging"
          ? seen.changed === 0 && seen.staged > 0 && seen.staged < FILES
          : seen.changed > 0 && seen.changed < FILES;
      child.kill(isMoment ? signal : "SIGKILL");
      child.kill("SIGCONT");
      const exit = await child.exited;
      const said = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text());
      if (isMoment) return { living, exit, said, state };
      living[Symbol.dispose]();
    }
    throw new Error("no call was seen at that moment");
  }

  test.each<[NodeJS.Signals, number]>([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])(
    "%s among the renames comes behind the last one",
    async (signal, exit) => {
      const asked = await askedAt("renaming", signal);
      using _ = asked.living;
      expect([asked.exit, asked.state()]).toEqual([exit, { changed: FILES, staged: 0 }]);
      expect(asked.said).toEndWith('Applied to "tree".\n');
    },
    60_000,
  );

  test("SIGTERM before the first rename leaves everything as it was", async () => {
    const asked = await askedAt("staging", "SIGTERM");
    using _ = asked.living;
    expect([asked.exit, asked.said, asked.state()]).toEqual([
      143,
      "Stopped by SIGTERM; nothing was touched\n",
      { changed: 0, staged: 0 },
    ]);
  }, 60_000);

  test("a killed call leaves a part, and the same call goes on with it", async () => {
    const asked = await askedAt("renaming", "SIGKILL");
    using living = asked.living;
    const part = asked.state();
    expect(part.changed).toBeWithin(1, FILES);
    const call = ["gate", "apply", "p.patch", "--to", "tree", "--yes"];
    const again = await living.writ([...call, "--json"]);
    const { applied, files } = JSON.parse(again.stdout);
    expect([again.exit, applied, asked.state()]).toEqual([0, true, { changed: FILES, staged: 0 }]);
    expect(files.filter((file: { already?: boolean }) => file.already).length).toBe(part.changed);
    expect((await living.writ(call)).exit).toBe(1);
  }, 60_000);

  test("what is already so is called so", async () => {
    const { living, place } = tree();
    using _ = living;
    writeFileSync(join(place, nameOf(0)), "new\n");
    writeFileSync(join(living.folder, "p.patch"), PATCH.slice(0, 2).join(""));
    const ran = await living.writ(["gate", "apply", "p.patch", "--to", "tree"]);
    expect(ran).toEqual({
      exit: 0,
      stderr: "",
      stdout:
        "already  f000  +1 -1\nchanged  f001  +1 -1\n" +
        'What is called "already" stood there as the patch makes it: only the others are written.\n' +
        "It fits. Nothing was written: --yes writes it.\n",
    });
  });
});
