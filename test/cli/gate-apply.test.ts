import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { doneResult } from "../support/wire-result.ts";
import { livingWorld } from "../support/writ.ts";

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
