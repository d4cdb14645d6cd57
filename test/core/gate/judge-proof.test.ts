import { expect, test } from "bun:test";
import { type CommandProof, judgeCommand } from "../../../src/core/gate/judge-command.ts";
import { type FileProof, judgeFileProof, type Subject } from "../../../src/core/gate/judge-proof.ts";

const BEFORE: Record<string, string> = {
  "a.md": "one\ntwo\nthree\n",
  "n.json": '{"nodes":[{"id":"a","open":false},{"id":"b","open":false}]}',
};
const NOW: Record<string, string> = {
  "a.md": "one\nTWO\nthree\n",
  "n.json": '{"nodes":[{"id":"a","open":false},{"id":"b","open":true}]}',
  "bad.json": "{",
};

const subject: Subject = {
  file: (path) => bytes(NOW[path]),
  fixture: (path) => bytes(BEFORE[path]),
  patch: [
    { path: "a.md", added: ["TWO"], removed: ["two"] },
    { path: "n.json", added: ['{"id":"b","open":true}'], removed: [] },
  ],
  sha256: (input) => new Bun.CryptoHasher("sha256").update(input).digest("hex"),
};

function bytes(text: string | undefined): Uint8Array | null {
  return text === undefined ? null : new TextEncoder().encode(text);
}

const lines = (more: object) => ({ kind: "lines", file: "a.md", ...more });
const fact = (more: object) => ({ kind: "json", file: "n.json", facts: [more] });

test.each<[object, "PASS" | "FAIL", string]>([
  [{ kind: "patch_adds", literal: "TW" }, "PASS", "a line is added"],
  [{ kind: "patch_adds", literal: "TWO", file: "n.json" }, "FAIL", "none of 1 added line"],
  [{ kind: "patch_adds", regex: "^TWO$" }, "PASS", "a line is added"],
  [{ kind: "patch_adds", literal: "two" }, "FAIL", "none of 2 added lines"],
  [{ kind: "patch_removes", literal: "two" }, "PASS", "a line is removed"],
  [{ kind: "patch_removes", literal: "TWO" }, "FAIL", "none of 1 removed line"],
  [{ kind: "count", file: "a.md", literal: "e", equals: 3 }, "PASS", "a.md has 3"],
  [{ kind: "count", file: "a.md", literal: "e", equals: 2 }, "FAIL", "2 are due"],
  [{ kind: "count", file: "a.md", regex: "(?i)t", equals: 2 }, "PASS", "a.md has 2"],
  [{ kind: "count", file: "a.md", literal: "absent", equals: 0 }, "PASS", "a.md has 0"],
  [{ kind: "count", file: "gone", literal: "x", equals: 0 }, "FAIL", "there is no gone"],
  [lines({ changed: [{ from: "two", to: "TWO" }] }), "PASS", "exactly the listed line differs"],
  [lines({ changed: [{ from: "two", to: "Two" }] }), "FAIL", 'line 2 is "TWO"'],
  [
    lines({
      changed: [
        { from: "two", to: "TWO" },
        { from: "one", to: "ONE" },
      ],
    }),
    "FAIL",
    '"one" did not become "ONE"',
  ],
  [lines({ changed_count: 1 }), "PASS", "1 line differs"],
  [lines({ changed_count: 2 }), "FAIL", "2 are due"],
  [{ kind: "lines", file: "bad.json", changed_count: 0 }, "FAIL", "there is no bad.json"],
  [fact({ at: "/nodes", length: 2 }), "PASS", "1 fact holds"],
  [fact({ at: "/nodes", length: 3 }), "FAIL", "it has 2 elements"],
  [fact({ at: "/nodes[id=b]/open", equals: true }), "PASS", "1 fact holds"],
  [fact({ at: "/nodes[id=b]/open", equals: "true" }), "FAIL", 'it is true, "true" is due'],
  [fact({ at: "/nodes[open=true]/id", equals: "b" }), "PASS", "1 fact holds"],
  [fact({ at: "/nodes[id=c]/open", equals: true }), "FAIL", "not exactly one"],
  [fact({ at: "/nodes/1/id", equals: "b" }), "PASS", "1 fact holds"],
  [fact({ at: "/nodes/2", exists: false }), "PASS", "1 fact holds"],
  [fact({ at: "/nodes/2", exists: true }), "FAIL", "there is nothing"],
  [fact({ at: "/nodes", exists: false }), "FAIL", "there is something"],
  [fact({ at: "", type: "object" }), "PASS", "1 fact holds"],
  [fact({ at: "/nodes", type: "object" }), "FAIL", "of type array"],
  [fact({ at: "/nodes/0/open", length: 5 }), "FAIL", "it has no elements"],
  [{ kind: "json", file: "bad.json", facts: [{ at: "", exists: true }] }, "FAIL", "line 1"],
  [{ kind: "unchanged", files: ["a.md"] }, "FAIL", "changed: a.md"],
  [{ kind: "unchanged", files: ["absent"] }, "PASS", "1 file as it was"],
  [{ kind: "sha256", file: "a.md", equals: "0".repeat(64) }, "FAIL", "a.md has "],
  [
    { kind: "sha256", file: "bad.json", equals: "021fb596db81e6d02bf3d2586ee3981fe519f275c0ac9ca76bbcf2ebb4097d96" },
    "PASS",
    "has the digest",
  ],
])("%j is %s", (proof, verdict, detail) => {
  const outcome = judgeFileProof({ when: "after", ...proof } as FileProof, subject);
  expect(outcome).toEqual({ verdict, detail: expect.stringContaining(detail) });
});

test("two elements that a fact could mean are none", () => {
  const both: Subject = { ...subject, file: () => bytes('[{"k":1,"v":2},{"k":1,"v":2}]') };
  const proof = { kind: "json", when: "after", file: "x", facts: [{ at: "/[k=1]/v", equals: 2 }] } as FileProof;
  expect(judgeFileProof(proof, both).verdict).toBe("FAIL");
});

test("a final newline that went is a line that differs", () => {
  const cut: Subject = { ...subject, file: () => bytes("one\ntwo\nthree") };
  const proof = { kind: "lines", when: "after", file: "a.md", changed_count: 0 } as FileProof;
  expect(judgeFileProof(proof, cut).detail).toBe("a.md has 3 lines, the fixture has 4");
});

test("what a seat wrote is told on one line, and not all of it", () => {
  const long: Subject = { ...subject, file: () => bytes(`one\nPASS\r${"x".repeat(100_000)}\nthree\n`) };
  const proof = { kind: "lines", when: "after", file: "a.md", changed: [{ from: "two", to: "TWO" }] } as FileProof;
  const { verdict, detail } = judgeFileProof(proof, long);
  expect(verdict).toBe("FAIL");
  expect(detail).toStartWith('a.md: line 2 is "PASS\\rxxx');
  expect(detail.length).toBeLessThan(700);
});

test.each([
  { output: "building\nno rule\n", last: "no rule" },
  { output: "10 %\r50 %\r100 %", last: "100 %" },
  { output: "a\r\nb\u0007\r\n", last: "b\\u0007" },
])("a command that failed is told with what it printed last: $last", ({ output, last }) => {
  const proof = { kind: "command", run: ["make"], expect: "pass", when: "after", timeout_sec: 60 } as CommandProof;
  const run = { is_started: true, exit_code: 2, signal: null, ended_by: "itself", output } as const;
  expect(judgeCommand(proof, run).detail).toBe(`ended in 2, 0 is due; it printed last: ${last}`);
});
