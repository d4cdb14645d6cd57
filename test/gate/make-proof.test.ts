import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Proof } from "../../src/core/gate/gate-file.ts";
import { type Changes, makeProof } from "../../src/gate/make-proof.ts";
import { findSandbox } from "../../src/host/sandbox.ts";
import { gateWorld, shippedTree, treeOf } from "../support/gate-world.ts";

const NOTHING: Changes = { files: new Map(), patch: [] };

function changed(files: Readonly<Record<string, string | null>>): Changes {
  const bytes = Object.entries(files).map(([path, text]) => {
    return [path, text === null ? null : new TextEncoder().encode(text)] as const;
  });
  return { files: new Map(bytes), patch: [] };
}

const RUN = {
  kind: "bun_test",
  when: "after",
  files: ["a.test.ts"],
  expect: "pass",
  pass: ["one"],
  timeout_sec: 20,
  env: {},
} as const satisfies Proof;

/** The judge's file of each trick: it asks the changed source for a 1. */
const JUDGE =
  'import { expect, test } from "bun:test";\nimport { one } from "./a.ts";\ntest("one", () => { expect(one()).toBe(1); });\n';
const TREE = treeOf({ "a.test.ts": JUDGE, "a.ts": "export const one = () => 2;\n" });

async function proof(of: Proof, changes: Changes, tree = TREE, isWalled = false) {
  using scripted = gateWorld({ isWalled });
  const { outcome } = await makeProof(scripted.world, { proof: of, tree, changes, name: "p" });
  return outcome;
}

describe("a bun_test proof", () => {
  test("is green for a source that is right, and red for one that is not", async () => {
    expect(await proof(RUN, changed({ "a.ts": "export const one = () => 1;\n" }))).toMatchObject({ verdict: "PASS" });
    expect(await proof(RUN, NOTHING)).toMatchObject({
      verdict: "FAIL",
      detail: expect.stringContaining('"one" failed'),
    });
  });

  test.each<[string, Record<string, string>, string]>([
    [
      "replaces the matcher for one moment of one test",
      {
        "a.ts":
          'import { expect } from "bun:test";\nlet fake = false;\nexport const one = () => { expect.extend({ toBe: (r: unknown, e: unknown) => ({ pass: fake || Object.is(r, e), message: () => "x" }) } as never); fake = true; queueMicrotask(() => { fake = false; }); return 2; };',
      },
      '"one" failed',
    ],
    ["ends the process as it is loaded", { "a.ts": "process.exit(0); export const one = () => 2;" }, ""],
    ["ends the process from within a test", { "a.ts": "export const one = () => { process.exit(0); };" }, ""],
    [
      "replaces the matcher",
      {
        "a.ts":
          'import { expect } from "bun:test";\nexpect.extend({ toBe: () => ({ pass: true, message: () => "" }) });\nexport const one = () => 2;',
      },
      "",
    ],
    [
      "replaces the module of the tests",
      {
        "a.ts":
          'import { mock } from "bun:test";\nmock.module("bun:test", () => ({ test: () => {}, expect: () => ({ toBe() {} }) }));\nexport const one = () => 2;',
      },
      "",
    ],
    [
      "makes the runner's own test a quiet one",
      {
        "a.ts":
          'import { expect } from "bun:test";\nconst proto = Object.getPrototypeOf(expect(1)); try { proto.toBe = () => {}; } catch {}\nexport const one = () => 2;',
      },
      "",
    ],
    ["loops for ever", { "a.ts": "export const one = () => { while (true) {} };" }, "did not end within 3 s"],
    [
      "forges a report and ends the process",
      {
        "a.ts":
          'import { readFileSync, writeFileSync } from "node:fs";\nfor (const pid of [process.pid, process.ppid]) try { const path = /--reporter-outfile=([^\\0]+)/.exec(readFileSync("/proc/" + pid + "/cmdline", "latin1"))?.[1]; if (path) writeFileSync(path, `<testsuites tests="1" failures="0" skipped="0"><testsuite file="a.test.ts"><testcase name="one"/></testsuite></testsuites>`); } catch {}\nprocess.exit(0);\nexport const one = () => 2;',
      },
      "",
    ],
    ["kills the runner", { "a.ts": 'process.kill(process.ppid, "SIGKILL"); export const one = () => 2;' }, ""],
  ])("is red where the change %s", async (_, files, detail) => {
    const outcome = await proof({ ...RUN, timeout_sec: 3 }, changed(files));
    expect(outcome).toEqual({ verdict: "FAIL", detail: expect.stringContaining(detail) });
  });

  test.each<[string, string, string]>([
    ["has only another test run", 'test.only("two", () => {});', ""],
    ["skips the test", 'test.skip("one", () => {});', '"one" was skipped'],
    ["leaves the test to do", 'test.todo("one");', '"one" was skipped'],
    ["takes the test away", 'test("two", () => {});', 'there is no test "one"'],
    ["has the test twice", 'test("one", () => {}); test("one", () => {});', '"one" is there twice'],
    ["stops the file from being read to its end", 'test("one", () => {}); /*', ""],
    [
      "declares what the sentinel needs",
      'const test_1 = 0, expect = () => ({ toBe() {} }); test("one", () => { expect(1).toBe(2); }); throw new Error("end");',
      "",
    ],
  ])("is red where the judge's file %s", async (_, body, detail) => {
    const judge = `import { test } from "bun:test";\n${body}\n`;
    expect(await proof(RUN, changed({ "a.test.ts": judge }))).toEqual({
      verdict: "FAIL",
      detail: expect.stringContaining(detail),
    });
  });

  test("puts a judge's file back that the change weakened, and is red", async () => {
    const weak = 'import { test } from "bun:test";\ntest("one", () => {});\n';
    const outcome = await proof({ ...RUN, restore: ["a.test.ts"] }, changed({ "a.test.ts": weak }));
    expect(outcome).toEqual({ verdict: "FAIL", detail: expect.stringContaining('"one" failed') });
  });

  test.each([false, true])("is red where the source leaves a preload for later workers, walls %p", async (isWalled) => {
    const source =
      'import { writeFileSync } from "node:fs";\ntry { writeFileSync("bunfig.toml", "preload = []"); } catch { process.exit(0); }\nexport const one = () => 1;\n';
    expect(await proof(RUN, changed({ "a.ts": source }), TREE, isWalled)).toMatchObject({ verdict: "FAIL" });
  });

  test("is red where the source sets up another folder's modules", async () => {
    const source =
      'import { mkdirSync, writeFileSync } from "node:fs";\nmkdirSync("b");\nwriteFileSync("b/tsconfig.json", "{}");\nexport const one = () => 1;\n';
    expect(await proof(RUN, changed({ "a.ts": source }))).toEqual({
      verdict: "FAIL",
      detail: "the test run made files that set up its runner: b/tsconfig.json",
    });
  });

  test("is red where the source rewrites a judge and puts it back", async () => {
    const source =
      'import { readFileSync, writeFileSync } from "node:fs";\nconst judge = readFileSync("a.test.ts");\nwriteFileSync("a.test.ts", "");\nwriteFileSync("a.test.ts", judge);\nexport const one = () => 1;\n';
    expect(await proof(RUN, changed({ "a.ts": source }))).toEqual({
      verdict: "FAIL",
      detail: "the test run changed files that were there: a.test.ts",
    });
  });

  test("takes no notice of a tsconfig.json above the copy that replaces the tests' module", async () => {
    const above = mkdtempSync(join(tmpdir(), "writ-above-"));
    const fake =
      "export const test = (_: string, body: () => void) => Bun.jest(import.meta.path).test(_, () => {});\nexport const expect = () => ({ toBe() {} });\n";
    writeFileSync(join(above, "fake.ts"), fake);
    writeFileSync(join(above, "tsconfig.json"), '{ "compilerOptions": { "paths": { "*": ["./fake.ts"] } } }');
    const before = process.env.TMPDIR;
    process.env.TMPDIR = above;
    try {
      const right = changed({ "a.ts": "export const one = () => 1;\n" });
      expect([await proof(RUN, right), await proof(RUN, NOTHING)]).toEqual([
        { verdict: "PASS", detail: "1 named test passed" },
        { verdict: "FAIL", detail: expect.stringContaining('"one" failed') },
      ]);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
      rmSync(above, { recursive: true, force: true });
    }
  });

  test("keeps to the fixture's own bunfig.toml and tsconfig.json, also for a judge in a folder below", async () => {
    const judge =
      'import { expect, test } from "bun:test";\nimport { one } from "lib/a";\ntest("one", () => { expect([one(), globalThis.isPreloaded]).toEqual([1, true]); });\n';
    const tree = treeOf({
      "bunfig.toml": '[test]\npreload = ["./pre.ts"]\n',
      "pre.ts": "globalThis.isPreloaded = true;\n",
      "tsconfig.json": '{ "compilerOptions": { "paths": { "lib/*": ["./src/*"] } } }',
      "src/a.ts": "export const one = () => 1;\n",
      "tests/deep/a.test.ts": judge,
    });
    const outcome = await proof({ ...RUN, files: ["tests/deep/a.test.ts"] }, NOTHING, tree);
    expect(outcome).toEqual({ verdict: "PASS", detail: "1 named test passed" });
  });

  test.each([false, true])(
    "is red where the source rewrites a judge that is read after it, walls %p",
    async (isWalled) => {
      const judge = (name: string) =>
        `import { expect, test } from "bun:test";\nimport { one } from "./a.ts";\ntest("${name}", () => { expect(one()).toBe(1); });\n`;
      const tree = treeOf({
        "a.test.ts": 'import { test } from "bun:test";\nimport "./a.ts";\ntest("first", () => {});\n',
        "b.test.ts": judge("one"),
        "a.ts": "",
      });
      const source =
        'import { readFileSync, writeFileSync } from "node:fs";\ntry { writeFileSync("b.test.ts", readFileSync("b.test.ts", "utf8").replace("toBe(1)", "toBe(2)")); } catch {}\nexport const one = () => 2;\n';
      const outcome = await proof(
        { ...RUN, files: ["a.test.ts", "b.test.ts"] },
        changed({ "a.ts": source }),
        tree,
        isWalled,
      );
      expect(outcome.verdict).toBe("FAIL");
    },
  );

  test("takes nothing of our environment with it", async () => {
    const source =
      "export const one = () => Object.keys(process.env).filter((name) => !/^(PATH|HOME|TMPDIR|CI|A|BUN_BE_BUN|JEST_WORKER_ID|BUN_TEST_.*|NODE_ENV|TZ)$/.test(name)).length + 1;\n";
    process.env.WRIT_NODE_TOKEN = "a secret of sixteen";
    try {
      expect(await proof({ ...RUN, env: { A: "b" } }, changed({ "a.ts": source }))).toMatchObject({ verdict: "PASS" });
    } finally {
      delete process.env.WRIT_NODE_TOKEN;
    }
  });

  test.skipIf(findSandbox() === null)(
    "runs behind walls, where the machine has them: no home, no network, nothing written outside",
    async () => {
      const source = [
        'import { existsSync, writeFileSync } from "node:fs";',
        `const can = (work: () => void) => { try { work(); return true; } catch { return false; } };`,
        `const open = [existsSync(${JSON.stringify(import.meta.path)}), existsSync("/root/.bashrc"), can(() => writeFileSync("/usr/writ-was-here", "")), can(() => writeFileSync("/etc/writ-was-here", ""))];`,
        'const reached = await fetch("http://127.0.0.1:1/").then(() => true, (error) => error.code !== "ConnectionRefused" && error.code !== "ECONNREFUSED");',
        'const nets = Object.keys((await import("node:os")).networkInterfaces()).filter((name) => name !== "lo");',
        "export const one = () => open.filter(Boolean).length + nets.length + (reached ? 1 : 0) + 1;",
      ].join("\n");
      expect(await proof(RUN, changed({ "a.ts": source }), TREE, true)).toEqual({
        verdict: "PASS",
        detail: "1 named test passed",
      });
    },
  );
});

describe("the shipped fixtures", () => {
  const t1 = shippedTree("t1", ["clamp.ts", "clamp.test.ts"]);

  test("t1 is red for its pinned reason and no other", async () => {
    const outcome = await proof(
      {
        ...RUN,
        files: ["clamp.test.ts"],
        expect: "fail",
        pass: ["inside", "below", "at hi"],
        fail: [{ test: "above", match: "above: clamp\\(42, 0, 10\\) = 0, want 10" }],
      },
      NOTHING,
      t1,
    );
    expect(outcome).toEqual({ verdict: "PASS", detail: "above failed with the pinned text, 3 named tests passed" });
  });
});

describe("a command proof", () => {
  const command = (run: readonly string[], more: object = {}): Proof => {
    return {
      kind: "command",
      when: "after",
      run: [...run],
      expect: "pass",
      timeout_sec: 20,
      env: {},
      cwd: ".",
      ...more,
    };
  };

  test.each<[string, Proof, string, string]>([
    [
      "a text in what it prints",
      command(["sh", "-c", "echo all ok >&2"], { match: "all ok" }),
      "PASS",
      "ended in 0 with the pinned text",
    ],
    ["a text that is not there", command(["sh", "-c", "echo no"], { match: "all ok" }), "FAIL", "its output has no"],
    [
      "a text that must not be there",
      command(["sh", "-c", "echo FAIL"], { not_match: "FAIL" }),
      "FAIL",
      "its output has /FAIL/",
    ],
    ["another status", command(["sh", "-c", "exit 3"]), "FAIL", "ended in 3, 0 is due"],
    [
      "a green that must be red",
      command(["true"], { expect: "fail", match: "x" }),
      "FAIL",
      "ended in 0, and it must fail",
    ],
    ["a program that is not there", command(["writ-no-such-tool"]), "INCONCLUSIVE", "no writ-no-such-tool"],
    ["no end", command(["sleep", "300"], { timeout_sec: 1 }), "FAIL", "did not end within 1 s"],
    ["a folder of its own", command(["sh", "-c", "cat x"], { cwd: "sub", match: "in sub" }), "PASS", "ended in 0"],
    ["a signal", command(["sh", "-c", "kill -9 $$"]), "FAIL", "was ended by SIGKILL"],
  ])("judges %s", async (_, of, verdict, detail) => {
    const outcome = await proof(of, NOTHING, treeOf({ "sub/x": "in sub" }));
    expect(outcome).toEqual({ verdict: verdict as "PASS", detail: expect.stringContaining(detail) });
  });

  test("keeps both ends of an output that is too long", async () => {
    using scripted = gateWorld();
    const run = command(["sh", "-c", "echo begin; head -c 1000000 /dev/zero | tr '\\0' x; echo end"], {
      match: "^begin",
    });
    await makeProof(scripted.world, { proof: run, tree: new Map(), changes: NOTHING, name: "t" });
    const output = scripted.kept.get("t.output.txt") ?? "";
    expect([output.startsWith("begin\n"), output.endsWith("end\n"), output.length < 300_000]).toEqual([
      true,
      true,
      true,
    ]);
    expect(output).toContain(" characters cut …]");
  });
});

test("each proof has a fresh copy: what one leaves, the next does not see", async () => {
  using scripted = gateWorld();
  const make = (text: string) =>
    makeProof(scripted.world, {
      proof: {
        kind: "command",
        when: "after",
        run: ["sh", "-c", text],
        expect: "pass",
        timeout_sec: 20,
        env: {},
        cwd: ".",
      },
      tree: treeOf({ a: "1" }),
      changes: NOTHING,
      name: "t",
    });
  expect((await make("rm a; touch b; echo x > $HOME/c")).outcome.verdict).toBe("PASS");
  expect((await make("test -f a && test ! -e b && test ! -e $HOME/c")).outcome.verdict).toBe("PASS");
});
