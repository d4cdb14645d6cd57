import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compilePattern } from "../../src/core/pattern/re2.ts";
import { CONTRACTS, onlyContract, shippedText } from "../support/shipped-contracts.ts";
import { writCommand } from "../support/writ.ts";

const SETS = ["write-door", "write-door-go"] as const;
const LEGS = ["t1", "t2", "t3", "t4"] as const;

/** The files that each leg has to change. */
const CHANGED: Readonly<Record<(typeof SETS)[number], Readonly<Record<(typeof LEGS)[number], readonly string[]>>>> = {
  "write-door": {
    t1: ["clamp.ts"],
    t2: ["port.test.ts", "port.ts"],
    t3: ["nodes.json", "nodes.md"],
    t4: ["release-notes.md"],
  },
  "write-door-go": {
    t1: ["clamp.go"],
    t2: ["port.go", "port_test.go"],
    t3: ["nodes.json", "nodes.md"],
    t4: ["release-notes.md"],
  },
};

type Proof = Readonly<Record<string, unknown>> & { readonly kind: string; readonly when?: string };
type Leg = {
  readonly name: string;
  readonly dir: string;
  readonly contract: string;
  readonly expect_files: readonly string[];
  readonly proofs: readonly Proof[];
};

function legOf(set: string, name: string): Leg {
  const gate = JSON.parse(shippedText(`${set}/gate.json`)) as { readonly legs: readonly Leg[] };
  const leg = gate.legs.find((each) => each.name === name);
  if (leg === undefined) throw new Error(`${set} has no leg ${name}`);
  return leg;
}

describe.each(SETS.flatMap((set) => LEGS.map((leg) => ({ set, leg }))))("contracts/$set/$leg", ({ set, leg }) => {
  const changed = CHANGED[set][leg];
  const files = readdirSync(join(CONTRACTS, set, leg)).filter((name) => name !== "contract.json");
  const { contract, context_paths } = onlyContract(`${set}/${leg}/contract.json`);

  test("has a contract that opens the door and checks the diff alone", () => {
    const { write_root, thinking, timeout_sec } = contract;
    expect({ write_root, thinking, timeout_sec }).toEqual({ write_root: ".", thinking: "off", timeout_sec: 900 });
    expect(context_paths.toSorted()).toEqual(files.toSorted());
    expect(contract.output_schema).toEqual({
      type: "object",
      properties: {
        summary: { type: "string" },
        changed_files: { type: "array", items: { type: "string" }, maxItems: 4 },
      },
      required: ["summary", "changed_files"],
    });
    expect(contract.acceptance.toSorted()).toEqual(
      [...changed.map((file) => `diff_touches:${file}`), `diff_max_files:${changed.length}`, "nonempty:summary"].sort(),
    );
  });

  test("has a goal that names its files and asks for the change on disk", () => {
    expect(files.filter((file) => !contract.goal.includes(file))).toEqual([]);
    expect(contract.goal).toContain("on disk");
    expect(contract.goal).toContain("do not");
  });

  test("has a leg in the gate file, whose proofs are of its files", () => {
    const found = legOf(set, leg);
    expect({ dir: found.dir, contract: found.contract }).toEqual({ dir: leg, contract: "contract.json" });
    expect(found.expect_files.toSorted()).toEqual(changed.toSorted());
    expect(found.proofs.some(({ when }) => when !== "before")).toBe(true);
    const named = found.proofs.flatMap(({ file, files: tests = [], restore = [] }) => [
      ...(file === undefined ? [] : [file]),
      ...(tests as readonly string[]),
      ...(restore as readonly string[]),
    ]);
    expect(named.filter((file) => !files.includes(file as string))).toEqual([]);
  });

  test("has patterns in its proofs that compile as RE2", () => {
    const patterns = legOf(set, leg).proofs.flatMap(({ match, not_match, fail = [] }) => [
      match,
      not_match,
      ...(fail as readonly { readonly match?: string }[]).map((one) => one.match),
    ]);
    const given = patterns.filter((pattern) => typeof pattern === "string");
    expect(given.filter((pattern) => !compilePattern(pattern).ok)).toEqual([]);
  });
});

test("the two forms have the same third and fourth leg", () => {
  for (const leg of ["t3", "t4"]) {
    expect(legOf("write-door-go", leg)).toEqual(legOf("write-door", leg));
    for (const file of readdirSync(join(CONTRACTS, "write-door", leg))) {
      expect(shippedText(`write-door-go/${leg}/${file}`)).toBe(shippedText(`write-door/${leg}/${file}`));
    }
  }
});

describe("t3 in its staged state", () => {
  const text = shippedText("write-door/t3/nodes.json");
  const page = shippedText("write-door/t3/nodes.md");
  const nodes = (JSON.parse(text) as { readonly nodes: readonly Readonly<Record<string, unknown>>[] }).nodes;

  test("has three nodes, whose doors are closed in both records", () => {
    expect(nodes.map(({ node_id, agent_allow_write }) => [node_id, agent_allow_write])).toEqual([
      ["node-a", false],
      ["node-b", false],
      ["node-c", false],
    ]);
    expect([page.split("| closed |").length - 1, page.split("| open |").length - 1]).toEqual([3, 0]);
    for (const { node_id, seat, window } of nodes)
      expect(page).toContain(`| ${node_id} | ${seat} | ${window} | closed |`);
  });

  test("has the row that the gate pins, and a line of its own for each flag", () => {
    const { proofs } = legOf("write-door", "t3");
    const lines = proofs.find(({ kind, changed }) => kind === "lines" && changed !== undefined);
    const from = "| node-b | pool-b | 131072 | closed |";
    expect(lines?.changed).toEqual([{ from, to: from.replace("closed", "open") }]);
    expect(page.split("\n")).toContain(from);
    expect(text.split("\n").filter((line) => line.includes("agent_allow_write"))).toHaveLength(3);
  });
});

test("t4 in its staged state is a page of 3,000 to 3,300 bytes with one status line, a table, code and a numbered list", () => {
  const page = shippedText("write-door/t4/release-notes.md");
  const bytes = Buffer.byteLength(page);
  expect([bytes >= 3000, bytes <= 3300]).toEqual([true, true]);
  expect(page.split("\n").filter((line) => line === "Status: draft")).toHaveLength(1);
  expect(page.split("Status:")).toHaveLength(2);
  for (const part of [/^# /m, /^## /m, /^\|---/m, /`[a-z]+`/, /^1\. /m]) expect(page).toMatch(part);
});

/** False also for what is no pattern. */
function matches(pattern: unknown, text: string): boolean {
  const compiled = typeof pattern === "string" ? compilePattern(pattern) : null;
  return compiled?.ok === true && compiled.pattern.test(text);
}

/** What a run of tests came to: by the name of each test, whether it passed. */
type Tested = { readonly exit: number; readonly text: string; readonly passed: Readonly<Record<string, boolean>> };

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-write-door-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of a leg's files, some of them replaced. */
function copyOf(set: string, leg: string, replaced: Readonly<Record<string, string>> = {}): string {
  const copy = mkdtempSync(join(folder, `${leg}-`));
  cpSync(join(CONTRACTS, set, leg), copy, { recursive: true });
  for (const [name, text] of Object.entries(replaced)) writeFileSync(join(copy, name), text);
  return copy;
}

function run(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): { exit: number; text: string } {
  const ran = Bun.spawnSync([...argv], { cwd, env: { PATH: process.env.PATH ?? "", ...env }, stdin: "ignore" });
  return { exit: ran.exitCode, text: ran.stdout.toString() + ran.stderr.toString() };
}

/** The tests of a copy, run by the executable itself. */
function bunTest(copy: string): Tested {
  const [writ = ""] = writCommand();
  const { exit, text } = run([writ, "test"], copy, { BUN_BE_BUN: "1", HOME: copy });
  const lines = text.matchAll(/^\((pass|fail)\) (.*?)(?: \[[\d.]+ms\])?$/gm);
  return { exit, text, passed: Object.fromEntries([...lines].map(([, word, name]) => [name, word === "pass"])) };
}

/** The tests of a copy, run by Go with the user's own cache; a blank in a name is an underscore there. */
function goTest(copy: string): Tested {
  const env = { GOFLAGS: "-mod=mod", GOPROXY: "off", GOTOOLCHAIN: "local", HOME: process.env.HOME ?? folder };
  const { exit, text } = run(["go", "test", "-v", "./..."], copy, env);
  const lines = text.matchAll(/^ {4}--- (PASS|FAIL): Test\w+\/(\S+)/gm);
  const passed = [...lines].map(([, word, name]) => [name?.replaceAll("_", " "), word === "PASS"]);
  return { exit, text, passed: Object.fromEntries(passed) };
}

type Form = {
  readonly set: (typeof SETS)[number];
  readonly run: (copy: string) => Tested;
  readonly clamp: string;
  readonly port: string;
  readonly portTest: string;
  readonly red: string;
  readonly row: string;
  /** The check that a place should add. */
  readonly check: readonly [string, string];
};

const FORMS: readonly Form[] = [
  {
    set: "write-door",
    run: bunTest,
    clamp: "clamp.ts",
    port: "port.ts",
    portTest: "port.test.ts",
    red: "above: clamp(42, 0, 10) = 0, want 10",
    row: '{ name: "too large", in: "65536", wantErr: true }',
    check: ["if (port < 1)", "if (port < 1 || port > 65535)"],
  },
  {
    set: "write-door-go",
    run: goTest,
    clamp: "clamp.go",
    port: "port.go",
    portTest: "port_test.go",
    red: "above: Clamp(42, 0, 10) = 0, want 10",
    row: '{name: "too large", in: "65536", wantErr: true}',
    check: ["if port < 1", "if port < 1 || port > 65535"],
  },
];

/** Go compiles its own library where it has no cache of it yet. */
const LIMIT_MS = 180_000;

const GREEN = { http: true, high: true, zero: true, text: true };

for (const form of FORMS) {
  const isHere = form.set === "write-door" || Bun.which("go") !== null;
  const needs = form.set === "write-door" ? "" : " (needs Go)";

  describe.skipIf(!isHere)(`contracts/${form.set}, run for real${needs}`, () => {
    const text = (leg: string, name: string) => shippedText(`${form.set}/${leg}/${name}`);
    /** The last of two equal lines is the wrong one: above the range. */
    const fixedClamp = () => text("t1", form.clamp).replace(/return lo(;?\s+\}\s+return v)/, "return hi$1");
    const fixedPort = () => text("t2", form.port).replace(...(form.check as [string, string]));
    const longerTable = () => text("t2", form.portTest).replace(/^(\s*)(\{ ?name: "text".*)$/m, `$1$2\n$1${form.row},`);

    test(
      "t1 is red for the reason that its gate file pins, and for no other",
      () => {
        const { exit, text: said, passed } = form.run(copyOf(form.set, "t1"));
        expect(passed).toEqual({ inside: true, below: true, above: false, "at hi": true });
        expect(exit).not.toBe(0);
        expect(said).toContain(form.red);
        const [before] = legOf(form.set, "t1").proofs;
        const [first] = (before?.fail ?? []) as readonly { readonly match: string }[];
        expect(matches(first?.match ?? before?.match, said)).toBe(true);
        expect(matches(before?.not_match, said)).toBe(false);
      },
      LIMIT_MS,
    );

    test(
      "t1 is green with the change that it asks for",
      () => {
        const { exit, passed } = form.run(copyOf(form.set, "t1", { [form.clamp]: fixedClamp() }));
        expect({ exit, passed }).toEqual({
          exit: 0,
          passed: { inside: true, below: true, above: true, "at hi": true },
        });
      },
      LIMIT_MS,
    );

    test(
      "t2 is green as it stands, since its table has no row for the defect",
      () => {
        const { exit, passed } = form.run(copyOf(form.set, "t2"));
        expect({ exit, passed }).toEqual({ exit: 0, passed: GREEN });
      },
      LIMIT_MS,
    );

    test(
      "t2 with the new row alone is red in that row and in no other",
      () => {
        const { exit, passed } = form.run(copyOf(form.set, "t2", { [form.portTest]: longerTable() }));
        expect(passed).toEqual({ ...GREEN, "too large": false });
        expect(exit).not.toBe(0);
      },
      LIMIT_MS,
    );

    test(
      "t2 with both changes is green, and so is its own table on the changed source",
      () => {
        const both = form.run(copyOf(form.set, "t2", { [form.port]: fixedPort(), [form.portTest]: longerTable() }));
        expect({ exit: both.exit, passed: both.passed }).toEqual({ exit: 0, passed: { ...GREEN, "too large": true } });
        const own = form.run(copyOf(form.set, "t2", { [form.port]: fixedPort() }));
        expect({ exit: own.exit, passed: own.passed }).toEqual({ exit: 0, passed: GREEN });
      },
      LIMIT_MS,
    );

    test("t2's new row is pinned as the text that the goal leads to", () => {
      const added = legOf(form.set, "t2").proofs.find(({ kind }) => kind === "patch_adds");
      expect({ file: added?.file, literal: added?.literal }).toEqual({ file: form.portTest, literal: form.row });
      expect(longerTable()).toContain(form.row);
    });
  });
}

test("no tool of this project looks below contracts/", () => {
  const root = join(CONTRACTS, "..");
  const read = (name: string) => readFileSync(join(root, name), "utf8");
  expect(read("bunfig.toml")).toMatch(/^root = "\.\/test"$/m);
  const { include } = JSON.parse(read("tsconfig.json")) as { readonly include: readonly string[] };
  const { files } = JSON.parse(read("biome.json")) as { readonly files: { readonly includes: readonly string[] } };
  const looked = [...include, ...files.includes].filter((name) => /^(\.\/)?(contracts|\*\*)/.test(name));
  expect(looked).toEqual([]);
  for (const leg of ["t1", "t2"]) expect(shippedText(`write-door-go/${leg}/go.mod`)).toStartWith("module ");
});

test("the tests of the TypeScript form compare by hand and use no matcher", () => {
  for (const file of ["t1/clamp.test.ts", "t2/port.test.ts"]) {
    const text = shippedText(`write-door/${file}`);
    expect(text).toContain('import { test } from "bun:test"');
    expect(text).not.toMatch(/\bexpect\b/);
    expect(text).toContain("throw new Error(");
  }
});
