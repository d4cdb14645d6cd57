import { describe, expect, test } from "bun:test";
import { type ContractDraft, readContracts } from "../../../src/core/delegation/contract.ts";
import { gradeAnswer } from "../../../src/core/delegation/grade.ts";
import { JUDGES } from "../../../src/core/delegation/judges.ts";
import { contractNotes } from "../../../src/core/delegation/notes.ts";
import { readSavedAnswers, type SavedAnswer } from "../../../src/core/delegation/saved-answer.ts";
import type { WireResult } from "../../../src/core/delegation/wire-result.ts";
import { doneResult } from "../../support/wire-result.ts";

function draftOf(contract: object): ContractDraft {
  const { subtasks, issues } = readContracts(JSON.stringify(contract), JUDGES);
  const [draft] = subtasks;
  if (draft === undefined) throw new Error(JSON.stringify(issues));
  return draft;
}

const CONTRACT = {
  goal: "how many pallets?",
  context: [{ name: "d.md", text: "412 pallets in bay QX-9" }],
  output_schema: { properties: { summary: { type: "string" }, count: { type: "integer" } }, required: ["summary"] },
  acceptance: ["contains:412", "nonempty:summary"],
};
const ANSWER: SavedAnswer = {
  index: null,
  output: "there are 412",
  structured: '{"summary":"412 pallets"}',
  diff: "",
  diff_files: [],
  status: null,
  reason: null,
  contradiction: null,
  wire: null,
};
const grade = (contract: object, answer: Partial<SavedAnswer> = {}) =>
  gradeAnswer(draftOf({ ...CONTRACT, ...contract }), { ...ANSWER, ...answer });

describe("gradeAnswer()", () => {
  test("passes an answer that passes every check", () => {
    expect(grade({})).toEqual({
      verdict: "pass",
      outcomes: [
        { check: "contains:412", verb: "contains", authority: "none", outcome: "pass" },
        { check: "nonempty:summary", verb: "nonempty", authority: "none", outcome: "pass" },
      ],
      closed_at: "none",
      acceptance_lint: [],
      notes: [],
    });
  });

  test("says at which authority it closed", () => {
    expect(grade({ acceptance: ["contains:@grounded:412", "contains:@field=summary:412"] }).closed_at).toBe("field");
  });

  test("a field that the schema never asked for closes nothing, whatever the answer brings", () => {
    const brought = { structured: '{"summary":"412 pallets","extra":"412"}' };
    expect(grade({ acceptance: ["contains:@field=extra:412"] }, brought)).toMatchObject({
      verdict: "fail",
      closed_at: "none",
      outcomes: [{ outcome: "unknown", authority: "field" }],
    });
    expect(grade({ acceptance: ["not_contains:@field=extra:7"] }, brought).outcomes[0]?.outcome).toBe("unknown");
    expect(grade({ acceptance: ["contains:@field=summary:412"] }, brought).verdict).toBe("pass");
  });

  test("fails an answer of which one check is not met", () => {
    expect(grade({}, { output: "many" })).toMatchObject({
      verdict: "fail",
      outcomes: [{ outcome: "fail" }, { outcome: "pass" }],
    });
  });

  test("passes nothing that was not measured: a contract without checks", () => {
    const { verdict, outcomes, notes } = grade({ acceptance: [] });
    expect({ verdict, outcomes }).toEqual({ verdict: "fail", outcomes: [] });
    expect(notes).toEqual(["the contract has no check: nothing was measured, and that is no pass"]);
  });

  test.each([
    { what: "does not validate", structured: '{"summary":3}' },
    { what: "lacks a required field", structured: '{"count":3}' },
    {
      what: "lacks a field that a check names",
      structured: '{"summary":"x"}',
      acceptance: ["nonempty:summary", "nonempty:count"],
    },
    { what: "is a string where the schema wants a number", structured: '{"summary":"x","count":"3"}' },
    { what: "is no object", structured: "[]" },
  ])(
    "takes a structured result that $what for absent, and says so",
    ({ structured, acceptance = ["nonempty:summary"] }) => {
      const { verdict, outcomes, notes } = grade({ acceptance }, { structured });
      expect(verdict).toBe("fail");
      expect(outcomes[0]).toMatchObject({ outcome: "fail", reason: expect.stringContaining("no structured result") });
      expect(notes).toEqual([expect.stringContaining("structured counts as absent")]);
    },
  );

  test("takes a structured result for absent where the contract has no schema", () => {
    const { notes, outcomes } = gradeAnswer(draftOf({ goal: "g", acceptance: ["nonempty:summary"] }), ANSWER);
    expect(outcomes[0]?.outcome).toBe("fail");
    expect(notes[0]).toContain("no output_schema");
  });

  test("leaves grounded checks unknown where documents were not read, inline ones or not", () => {
    const { verdict, outcomes, notes } = grade({ context_paths: ["a.md"], acceptance: ["contains:@grounded:412"] });
    expect(verdict).toBe("fail");
    expect(outcomes).toEqual([
      {
        check: "contains:@grounded:412",
        verb: "contains",
        authority: "grounded",
        outcome: "unknown",
        reason: "contains:@grounded:412: unknown at grounded authority: the files of context_paths were not read",
      },
    ]);
    expect(notes[0]).toContain("--read-root");
  });

  test.each(["deferred", "failed"])("does not evaluate a %s result, whose not_contains: would pass", (status) => {
    expect(grade({ acceptance: ["not_contains:x"] }, { status, reason: "wall timeout", output: "" })).toMatchObject({
      verdict: "fail",
      outcomes: [],
      closed_at: "none",
      notes: [`not evaluated: the result is ${status}: wall timeout`],
    });
  });

  test("evaluates a result that failed its verification", () => {
    expect(grade({}, { status: "failed_verification" }).verdict).toBe("pass");
  });

  test("fails where no answer was saved", () => {
    expect(gradeAnswer(draftOf(CONTRACT), null)).toMatchObject({ verdict: "fail", outcomes: [] });
  });

  describe("of a job's result as its node handed it out", () => {
    const ofJob = (contract: object, more: Partial<WireResult>) => {
      const wire = doneResult(
        { job_id: "wrt-1", contract_sha256: "s" },
        { output: "there are 412", structured: '{"summary":"412 pallets"}', ...more },
      );
      const read = readSavedAnswers(JSON.stringify(wire));
      if (!read.ok) throw new Error(read.message);
      return gradeAnswer(draftOf({ ...CONTRACT, ...contract }), read.answers[0] ?? null);
    };

    test("evaluates a completed one with the value that its text of structured says", () => {
      const acceptance = ["contains:@field=summary:412"];
      expect(ofJob({ acceptance }, {})).toMatchObject({ verdict: "pass", closed_at: "field", notes: [] });
      expect(ofJob({ acceptance: ["contains:@field=summary:413"] }, {}).verdict).toBe("fail");
    });

    test("an unqualified check reads structured, and not the quoting of the string that it came in", () => {
      const found = (check: string) => ofJob({ acceptance: [check] }, { output: "" }).outcomes[0]?.outcome;
      expect(found('contains:"summary":"412')).toBe("pass");
      expect(found('contains:\\"')).toBe("fail");
    });

    test.each([
      ["deferred", { deferred: true, reason: "wall timeout after 3s", defer_class: "budget" }, "wall timeout after 3s"],
      ["no structured result", { structured: null }, "there is no structured result"],
      ["a structured result that does not validate", { structured: '{"summary":3}' }, "output failed schema"],
      ["empty", { structured: null, output: " " }, "empty final answer"],
      ["a diff though no door is open", { diff: "diff --git a/d.md b/d.md\n" }, "unsafe diff"],
    ] as const)("does not evaluate what a live leg would not have been graded for: %s", (_, more, why) => {
      const { verdict, outcomes, notes } = ofJob({ acceptance: ["not_contains:x"] }, more);
      expect({ verdict, outcomes }).toEqual({ verdict: "fail", outcomes: [] });
      expect(notes).toEqual([expect.stringMatching(/^not evaluated: /)]);
      expect(notes[0]).toContain(why);
    });

    test("does not hold a diff against documents that were not read", () => {
      const diff = "diff --git a/d.md b/d.md\n--- a/d.md\n+++ b/d.md\n@@ -1 +1 @@\n-a\n+b\n";
      const contract = { context: [], context_paths: ["d.md"], write_root: ".", acceptance: ["diff_touches:d.md"] };
      expect(ofJob(contract, { diff, diff_files: ["d.md"] }).verdict).toBe("pass");
    });
  });

  test("says that a live grading would excuse a fingerprint, and does not", () => {
    const contract = { acceptance: ["regex:(?P<docanchor>QX-9)"] };
    const { verdict, notes } = grade(contract, { output: "?", structured: '{"summary":"nothing is there"}' });
    expect(verdict).toBe("fail");
    expect(notes[0]).toContain("a live grading excuses");
  });

  test("carries the lint of the contract", () => {
    expect(grade({ acceptance: ["nonempty:summary"] }).acceptance_lint[0]).toStartWith("SHAPE-ONLY: ");
  });
});

describe("contractNotes()", () => {
  test.each([
    { what: "a sound contract", changes: {}, notes: [] },
    {
      what: "an unknown field, with a near miss",
      changes: { max_step: 3 },
      notes: ['/max_step: there is no field "max_step"; did you mean "max_steps"? It is ignored'],
    },
    { what: "a clamped number", changes: { timeout_sec: 901 }, notes: ["/timeout_sec: 901 becomes 900"] },
    {
      what: "a placeholder, and files that were not read",
      changes: { context_paths: ["REPLACE/a.md"] },
      notes: [
        '/context_paths/0: "REPLACE/a.md" is a placeholder to be replaced',
        "documents not read: --read-root says where the files of context_paths are",
      ],
    },
    {
      what: "a contract without a schema",
      changes: { output_schema: undefined, acceptance: ["contains:412"] },
      notes: ["local only: without output_schema no remote place can take it"],
    },
    {
      what: "properties that read as strings, at every depth",
      changes: {
        output_schema: {
          properties: {
            a: { type: ["string", "null"] },
            b: { anyOf: [{ type: "string" }] },
            c: { type: "object", properties: { d: { type: "null" }, e: { type: "string" } } },
            f: { type: "array", items: { properties: { g: { oneOf: [{ type: "number" }] } } } },
            h: { enum: ["x"] },
            summary: { type: "string" },
          },
        },
      },
      notes: ["a", "b", "c/properties/d", "f/items/properties/g"].map(
        (place) =>
          `/output_schema/properties/${place}: its type is beyond what an answer can be forced into; it reads as a string`,
      ),
    },
  ])("of $what", ({ changes, notes }) => {
    expect(contractNotes(draftOf({ ...CONTRACT, ...changes }))).toEqual(notes);
  });
});

test.each([
  ["not_contains:@answr:SECRET", '"@answer:"'],
  ["contains:@Answer:x", '"@answer:"'],
  ["contains:@grounded :x", '"@grounded:"'],
  ["regex:@feild=a:x", '"@field=<name>:"'],
  ["contains:@answer:x", null],
  ["contains:@grounded:x", null],
  ["contains:@field=summary:x", null],
  ["contains:@alice:x", null],
  ["contains:x@answr:y", null],
  ["contains:an ordinary text", null],
])("a note asks what %s means, where its head nearly spells a qualifier", (line, meant) => {
  const notes = contractNotes(draftOf({ ...CONTRACT, acceptance: [line] })).filter((note) =>
    note.includes("did you mean"),
  );
  expect(notes).toEqual(meant === null ? [] : [`/acceptance/0: it looks for this very text; did you mean ${meant}?`]);
});
