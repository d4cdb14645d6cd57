import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AdviceCode, type AdvisedRun, advise, adviseRun } from "../../../src/core/record/advice.ts";

const COMMAND_PATH = "evidence_report.verification.command";

function ran(command: string, output = "", more: Partial<AdvisedRun> = {}): AdvisedRun {
  return { command, output, ...more };
}

describe("adviseRun() on a command that hides its status", () => {
  test.each([
    "npm test &",
    "npm test || true",
    "npm test || :",
    "npm test||true",
    "npm test; true",
    "npm test; echo $?",
    "npm test ; printf done",
    "npm test\necho done",
    "npm test; exit 0",
    "npm test || exit  0",
    "npm test || true;",
    "npm test || true\n",
    "(npm test || true)",
    "npm test | tail -5",
    "npm test 2>&1 | tee log",
    "npm test |& cat",
    "npm test |\n  head -1",
    "a && b | wc -l",
    "npm test || true # fine",
    "set -o pipefail; npm test || true",
    ..."cat head tail tee less more sort uniq wc sed awk cut tr column nl fold ts"
      .split(" ")
      .map((word) => `a | ${word}`),
  ])("%j is masked", (command) => {
    expect(adviseRun(ran(command))).toEqual(["masked"]);
  });

  test.each([
    "npm test",
    "npm test && true",
    "npm test && echo done",
    "npm test | grep -q passed",
    "npm test | tails",
    "npm test; trueish",
    "npm test; exit 1",
    "npm test; exit 01",
    "npm test | tail -5 | grep x",
    "npm test | tail; test -s log",
    "set -o pipefail; npm test | tail",
    "grep 'a | tail' f",
    'grep "a || true" f',
    "grep a\\|cat f",
    "test $(npm test | tail -1) = ok",
    "test `npm test | tail -1` = ok",
    "npm test > out.log 2>&1",
    "npm test &> log",
    "npm test & wait",
    "true",
    "echo ok",
    "npm test # || true",
    "",
    ";",
    "npm test;",
  ])("%j is not", (command) => {
    expect(adviseRun(ran(command))).toEqual([]);
  });

  test.each([
    { argv: ["npm", "test", "|", "tail"], codes: [] },
    { argv: ["npm", "-c", "a | cat"], codes: [] },
    { argv: ["sh", "-c", "a | cat"], codes: ["masked"] },
    { argv: ["/bin/bash", "-c", "a | cat"], codes: ["masked"] },
    { argv: ["dash", "-e", "-c", "a; true"], codes: ["masked"] },
    { argv: ["ksh", "-c", "a; true", "-c", "b"], codes: ["masked"] },
    { argv: ["zsh", "-lc", "a || true"], codes: ["masked"] },
    { argv: ["bash", "-o", "errexit", "-c", "a | cat"], codes: ["masked"] },
    { argv: ["bash", "-o", "pipefail", "-c", "a | cat"], codes: [] },
    { argv: ["bash", "--norc", "-c", "a | cat"], codes: ["masked"] },
    { argv: ["bash", "run.sh", "-c", "a | cat"], codes: [] },
    { argv: ["bash", "-c"], codes: [] },
    { argv: ["fish", "-c", "a | cat"], codes: [] },
    { argv: [], codes: [] },
  ])("words $argv: $codes", ({ argv, codes }) => {
    expect(adviseRun(ran("x | cat", "", { argv }))).toEqual([...codes] as AdviceCode[]);
  });
});

describe("adviseRun() on the output", () => {
  test.each([
    "ok  \texample/a\t(cached)",
    "x [cached]",
    "restored from cache",
    "Cache hit: build",
    ">>> FULL TURBO",
    ">>> full turbo",
    "a: existing outputs match the cache, left as is",
    "\x1b[2m(cac\x1b[0mhed)",
  ])("%j came from a cache", (output) => {
    expect(adviseRun(ran("x", output))).toEqual(["cached"]);
  });

  test.each(["cached", "cache miss", "from\ncache", ""])("%j did not", (output) => {
    expect(adviseRun(ran("x", output))).toEqual([]);
  });

  test.each([
    "no tests ran in 0.01s",
    "No test found",
    "no tests executed",
    "no tests collected",
    "no tests to run",
    "no tests matched",
    "?   \tx\t[no test files]",
    "collected 0 items",
    "Ran 0 tests in 0.0s",
    "running 0 tests",
    "run 0 test",
    "0 pass",
    "0 passed",
    "  0 passing (2ms)",
    "0 tests found",
    "0 tests passed",
    "\x1b[31m0 pas\x1b[0msed",
  ])("%j says that nothing ran", (output) => {
    expect(adviseRun(ran("x", `start\r\n${output}\n`))).toEqual(["no_tests"]);
  });

  test.each([
    "10 passed",
    "1.10 passed",
    "collected 10 items",
    "ran 10 tests",
    "no testing",
    "0 failed",
    "0 passes",
    "no tests\nran",
    "piano tests ran",
  ])("%j does not", (output) => {
    expect(adviseRun(ran("x", output))).toEqual([]);
  });

  test.each([
    "5 tests",
    "1 test",
    "12 pass",
    "12 passed",
    "3 passing",
    "3 passes",
    "4 ok",
    "2 specs",
    "2 spec",
    "1 example",
    "7 Examples",
  ])("a line %j says that something did", (line) => {
    expect(adviseRun(ran("x", `no tests ran\n${line}`))).toEqual([]);
    expect(adviseRun(ran("x", line, { tail: "\nno tests ran" }))).toEqual([]);
  });

  test("the tail is read like the head, and joined to it only when nothing is missing between", () => {
    expect(adviseRun(ran("x", "0 pas", { tail: "sed\n" }))).toEqual(["no_tests"]);
    expect(adviseRun(ran("x", "0 pas", { tail: "sed\n", truncated: true }))).toEqual([]);
    expect(adviseRun(ran("x", "a", { tail: "\n0 passed", truncated: true }))).toEqual(["no_tests"]);
    expect(adviseRun({ command: "x", output: null })).toEqual([]);
  });
});

describe("advise()", () => {
  test("gives all it has in order, with what the hints must name", () => {
    const run = ran("npm test | tail -3", "0 passed (cached)\n");
    expect(advise({ run, stalePaths: ["b.ts", "a.ts"] })).toEqual([
      {
        code: "stale",
        path: COMMAND_PATH,
        message: '2 files changed after the last run of "npm test | tail -3"',
        hint: "Run it again; changed since: b.ts, a.ts",
      },
      {
        code: "masked",
        path: COMMAND_PATH,
        message: 'The exit status of "npm test | tail -3" says nothing of the work',
        hint: 'Run it without "| tail -3", which hides the status',
      },
      {
        code: "cached",
        path: COMMAND_PATH,
        message: 'The output of "npm test | tail -3" came from a cache',
        hint: "Run it without the cache; the line reads: 0 passed (cached)",
      },
      {
        code: "no_tests",
        path: COMMAND_PATH,
        message: 'The output of "npm test | tail -3" says that no test ran',
        hint: "Check what it selects; the line reads: 0 passed (cached)",
      },
    ]);
  });

  test("names five stale paths and counts the rest", () => {
    const [stale] = advise({ run: ran("x"), stalePaths: ["1", "2", "3", "4", "5", "6", "7"] });
    expect(stale?.hint).toBe("Run it again; changed since: 1, 2, 3, 4, 5 and 2 more");
    expect(advise({ run: ran("x"), stalePaths: ["1"] })[0]?.message).toStartWith("1 file changed");
  });

  test("has nothing to say of a plain run", () => {
    expect(advise({ run: ran("npm test", "12 passed\n"), stalePaths: [] })).toEqual([]);
  });

  test("names the part that hides the status", () => {
    const hint = (command: string): string | null | undefined => advise({ run: ran(command), stalePaths: [] })[0]?.hint;
    expect(hint("npm test & ")).toBe('Run it without "&", which hides the status');
    expect(hint("a && b || true;")).toBe('Run it without "|| true", which hides the status');
  });

  test("returns on any run", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, fc.option(fc.array(text)), fc.option(text), fc.option(text), (command, argv, output, tail) => {
        expect(Array.isArray(adviseRun({ command, argv, output, tail }))).toBe(true);
      }),
    );
  });

  test.each(["1", "no test ", "from ", "0 ", "collected 0 ", "\x1b[", "ran 0 test", "1 "])(
    "returns on much of %j",
    (piece) => {
      expect(Array.isArray(adviseRun(ran(piece.repeat(100_000), piece.repeat(100_000))))).toBe(true);
    },
  );
});
