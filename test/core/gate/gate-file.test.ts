import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { GATE_FILE_BYTES, readFactPointer, readGate } from "../../../src/core/gate/gate-file.ts";

const bytesOf = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

const LINES = { kind: "lines", file: "a.md", changed_count: 1 };
const BUN = { kind: "bun_test", files: ["a.test.ts"], expect: "pass", pass: ["one"] };
const COMMAND = { kind: "command", run: ["go", "test"], expect: "pass", match: "ok" };

/** A gate of one leg, with another proof, leg or gate where one is given. */
function gate(change: { proof?: object; proofs?: readonly object[]; leg?: object; gate?: object } = {}): unknown {
  const proofs = change.proofs ?? [change.proof ?? LINES];
  const leg = { name: "t1", dir: "t1", contract: "contract.json", expect_files: ["a.md"], proofs, ...change.leg };
  return { schema_version: 1, name: "mine", mode: "write", legs: [leg], ...change.gate };
}

function issuesOf(value: unknown): readonly string[] {
  const read = readGate(bytesOf(value));
  return read.ok ? [] : read.issues.map(({ path, message }) => `${path}: ${message}`);
}

describe("readGate()", () => {
  test.each(["write-door", "write-door-go"])("takes the shipped %s without a word", (set) => {
    const read = readGate(readFileSync(join(import.meta.dir, "../../../contracts", set, "gate.json")));
    expect(read).toMatchObject({ ok: true, notes: [], gate: { name: set, legs: { length: 4 } } });
  });

  test("fills in what is left out", () => {
    const read = readGate(bytesOf(gate({ proofs: [BUN, COMMAND] })));
    expect(read).toMatchObject({
      ok: true,
      gate: {
        legs: [
          {
            copy: { exclude: ["contract.json", "gate.json"], executable: [] },
            proofs: [
              { when: "after", timeout_sec: 60, env: {} },
              { when: "after", timeout_sec: 120, cwd: "." },
            ],
          },
        ],
      },
    });
    const parallel = readGate(bytesOf({ schema_version: 1, name: "p", mode: "parallel", contract: "d.json" }));
    expect(parallel).toMatchObject({ ok: true, gate: { k: 3, peer: true } });
  });

  test.each<[string, unknown, string]>([
    ["a key that is not known", gate({ proof: { ...LINES, fille: "b" } }), "/legs/0/proofs/0/fille: There is no key"],
    ["a kind that is not known", gate({ proof: { kind: "bun_tests" } }), "/legs/0/proofs/0/kind: "],
    ["no legs", gate({ gate: { legs: [] } }), "/legs: At least 1"],
    [
      "65 legs",
      gate({
        gate: {
          legs: Array.from({ length: 65 }, (_, n) => ({
            name: `t${n}`,
            dir: "t",
            contract: "c",
            expect_files: ["a"],
            proofs: [LINES],
          })),
        },
      }),
      "/legs: At most 64",
    ],
    ["a name in capitals", gate({ gate: { name: "Mine" } }), "/name: 1 to 64 of"],
    ["another version", gate({ gate: { schema_version: 2 } }), "/schema_version: Expected 1, found 2"],
    ["no proof", gate({ proofs: [] }), "/legs/0/proofs: At least 1"],
    ["33 proofs", gate({ proofs: Array.from({ length: 33 }, () => LINES) }), "/legs/0/proofs: At most 32"],
    ["no expected files", gate({ leg: { expect_files: undefined } }), "/legs/0/expect_files: A leg that writes"],
    [
      "an expected file twice",
      gate({ leg: { expect_files: ["a", "a"] } }),
      '/legs/0/expect_files/1: "a" is listed twice',
    ],
    ["nine expected files", gate({ leg: { expect_files: [..."abcdefghi"] } }), "/legs/0/expect_files: At most 8"],
    ["a path that leaves the folder", gate({ leg: { dir: "../t1" } }), "/legs/0/dir: "],
    ["an absolute path", gate({ proof: { ...LINES, file: "/etc/passwd" } }), "/legs/0/proofs/0/file: The path"],
    [
      "nothing after the change",
      gate({ proof: { ...LINES, when: "before" } }),
      "/legs/0/proofs: No proof is made after",
    ],
    [
      "a test run whose leg changes bunfig.toml",
      gate({ proof: BUN, leg: { expect_files: ["x/bunfig.toml"] } }),
      "/legs/0/expect_files/0: ",
    ],
    [
      "a red run that names no test",
      gate({ proof: { ...BUN, expect: "fail" } }),
      "/legs/0/proofs/0/fail: A run that must fail",
    ],
    [
      "a green run that names red tests",
      gate({ proof: { ...BUN, fail: [{ test: "x" }] } }),
      "/legs/0/proofs/0/fail: With",
    ],
    ["no test that must pass", gate({ proof: { ...BUN, pass: [] } }), "/legs/0/proofs/0/pass: At least 1"],
    [
      "a red command without a text",
      gate({ proof: { kind: "command", run: ["x"], expect: "fail" } }),
      "/legs/0/proofs/0/match: A red",
    ],
    ["a command without a word", gate({ proof: { ...COMMAND, run: [] } }), "/legs/0/proofs/0/run: At least 1"],
    [
      "a time of 601 s",
      gate({ proof: { ...COMMAND, timeout_sec: 601 } }),
      "/legs/0/proofs/0/timeout_sec: From 1 to 600",
    ],
    [
      "a pattern that is none",
      gate({ proof: { ...COMMAND, match: "(" } }),
      "/legs/0/proofs/0/match: This is no RE2 pattern",
    ],
    ["a variable's name that is none", gate({ proof: { ...COMMAND, env: { "A-B": "" } } }), "/legs/0/proofs/0/env/A-B"],
    [
      "a patch proof of the time before",
      gate({ proofs: [LINES, { kind: "patch_adds", literal: "x", when: "before" }] }),
      "/legs/0/proofs/1/when: ",
    ],
    [
      "a literal and a pattern",
      gate({ proof: { kind: "count", file: "a", literal: "x", regex: "x", equals: 1 } }),
      "/legs/0/proofs/0: Only one of",
    ],
    ["neither of them", gate({ proof: { kind: "patch_adds" } }), "/legs/0/proofs/0: One of regex, literal is due"],
    ["lines without a wish", gate({ proof: { kind: "lines", file: "a" } }), "/legs/0/proofs/0: One of changed"],
    [
      "a fact without a wish",
      gate({ proof: { kind: "json", file: "a", facts: [{ at: "" }] } }),
      "/legs/0/proofs/0/facts/0: One of equals",
    ],
    [
      "a pointer that is none",
      gate({ proof: { kind: "json", file: "a", facts: [{ at: "x", exists: true }] } }),
      "/legs/0/proofs/0/facts/0/at: ",
    ],
    [
      "a digest in capitals",
      gate({ proof: { kind: "sha256", file: "a", equals: "A".repeat(64) } }),
      "/legs/0/proofs/0/equals: 64",
    ],
    [
      "two legs of one name",
      gate({
        gate: {
          legs: [0, 1].map(() => ({ name: "t", dir: "t", contract: "c", expect_files: ["a"], proofs: [LINES] })),
        },
      }),
      "/legs/1/name: Leg 0",
    ],
    [
      "expected files of an answer",
      gate({ gate: { mode: "answer" }, proof: { kind: "count", file: "output.txt", literal: "x", equals: 1 } }),
      "/legs/0/expect_files: A gate of mode",
    ],
    [
      "a fixture of an answer",
      gate({ gate: { mode: "answer" }, leg: { expect_files: undefined } }),
      "/legs/0/proofs/0: A gate of mode",
    ],
    ["legs of a parallel gate", gate({ gate: { mode: "parallel", contract: "c" } }), "/legs: There is no key"],
    ["17 at once", { schema_version: 1, name: "p", mode: "parallel", contract: "d", k: 17 }, "/k: From 2 to 16"],
    ["a mode that is not known", gate({ gate: { mode: "wirte" } }), "/mode: "],
    ["no JSON", "{", ": Cannot read the gate file: line 1"],
    ["a key twice", '{"name":"a","name":"b"}', ": Cannot read the gate file: line 1"],
    ["a file that is too large", " ".repeat(GATE_FILE_BYTES + 1), ": Cannot read the gate file: it has"],
  ])("refuses %s", (_, value, begin) => {
    const issues = issuesOf(value);
    expect(issues.filter((issue) => issue.startsWith(begin))).toHaveLength(1);
  });

  test("tells all issues at once, and the key that was meant", () => {
    const read = readGate(
      bytesOf(
        gate({
          proofs: [
            { ...LINES, changed_cuont: 1 },
            { ...BUN, timeout_sec: 0 },
          ],
        }),
      ),
    );
    expect(read).toMatchObject({
      ok: false,
      issues: [
        { code: "unknown_key", hint: "Did you mean changed_count?" },
        { code: "bad_value", path: "/legs/0/proofs/1/timeout_sec" },
      ],
    });
  });

  test("notes a green command without a text, which is no fault", () => {
    const read = readGate(bytesOf(gate({ proof: { kind: "command", run: ["make"], expect: "pass" } })));
    expect(read).toMatchObject({ ok: true, notes: [{ code: "no_match", path: "/legs/0/proofs/0" }] });
  });

  test("takes exactly as many bytes as are allowed", () => {
    const text = JSON.stringify(gate());
    expect(readGate(bytesOf(text + " ".repeat(GATE_FILE_BYTES - text.length))).ok).toBe(true);
  });

  test("never throws, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(bytesOf)), (bytes) => {
        const read = readGate(bytes);
        expect(read.ok || read.issues.length > 0).toBe(true);
      }),
    );
  });
});

describe("readFactPointer()", () => {
  test.each<[string, unknown]>([
    ["", []],
    ["/a", [{ name: "a", where: null }]],
    [
      "/a/0/~1~0",
      [
        { name: "a", where: null },
        { name: "0", where: null },
        { name: "/~", where: null },
      ],
    ],
    [
      "/nodes[id=b]/x",
      [
        { name: "nodes", where: { key: "id", value: "b" } },
        { name: "x", where: null },
      ],
    ],
    ["/[k=a=b]", [{ name: "", where: { key: "k", value: "a=b" } }]],
    ["/a[=b]", null],
    ["/a[b]", null],
    ["a", null],
    ["/~2", null],
  ])("of %p is %p", (at, steps) => {
    expect(readFactPointer(at) as unknown).toEqual(steps);
  });
});
