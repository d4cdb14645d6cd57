import { expect, test } from "bun:test";
import fc from "fast-check";
import { gatherText, unfaithful } from "../../../src/core/brief/human-text.ts";
import { type OpenTurn, turnOf, turnText } from "../../../src/core/brief/turn-text.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import type { ToolRecord } from "../../../src/core/record/tool-record.ts";

const ROW: OpenTurn["row"] = {
  id: 7,
  contract_id: "a1.b2",
  agent_id: "a1",
  agent_name: "tester",
  agent_state: "IN_PROGRESS",
  cut_reason: "never_finalized",
  goal: null,
};

function entry(seq: number, command: string | null, more: Partial<ToolRecord> = {}): ToolRecord {
  return {
    source: "run",
    harness: null,
    tool: "bash",
    tool_use_id: null,
    command,
    argv: null,
    path: null,
    cwd: null,
    exit_code: 0,
    signal: null,
    failed: false,
    exit_note: null,
    started_at: null,
    ended_at: `2026-01-01T00:00:0${seq % 10}Z`,
    output: null,
    tail: null,
    output_bytes: null,
    output_sha256: null,
    truncated: false,
    ordered: true,
    contract_id: "a1.b2",
    seq,
    prev_digest: "",
    digest: "",
    ...more,
  };
}

function envelope(gaps: JsonValue, steps: JsonValue = [], next: JsonValue = ""): JsonObject {
  return { agent_status: { pending_steps: steps, next_action: next }, evidence_report: { open_gaps: gaps } };
}

test("a command counts by its newest run; what failed is open, what nobody knows is neither", () => {
  const record = [
    entry(1, "make"),
    entry(2, "bun test", { exit_code: 1 }),
    entry(3, "bun test"),
    entry(4, "make", { exit_code: 2 }),
    entry(5, "lint", { exit_code: null }),
    entry(6, "ci", { exit_code: null, failed: true }),
    entry(7, "sleep 9", { exit_code: null, signal: "SIGKILL" }),
    entry(8, null, { tool: "read", path: "/a.ts", exit_code: null }),
  ];
  expect(
    turnText({ row: ROW, envelope: envelope(["no network", { at: "x" }], ["write docs"], "ask"), record }),
  ).toEqual({
    goal: null,
    title: null,
    lines: [
      "Open turn: a1.b2 of tester (row 7), IN_PROGRESS",
      "Record: 8 entries, 5 commands; open gaps: 2",
      "Next action: ask",
      "Pending: write docs",
      "Verified: `bun test` - exit 0 at 2026-01-01T00:00:03Z, entry 3 of the record",
    ],
    questions: [
      "gap: no network",
      'gap: {"at":"x"}',
      "failing: `sleep 9` - SIGKILL at 2026-01-01T00:00:07Z, entry 7 of the record",
      "failing: `ci` - failed at 2026-01-01T00:00:06Z, entry 6 of the record",
      "failing: `make` - exit 2 at 2026-01-01T00:00:04Z, entry 4 of the record",
    ],
  });
});

test("the turn that an intent tells of is found again, and none where none is told of", () => {
  const { lines } = turnText({ row: ROW, envelope: null, record: [] });
  expect(turnOf(["Why.", "", ...lines].join("\n"))).toBe("a1.b2");
  expect(turnOf("Open turn")).toBeNull();
  expect(turnOf("an Open turn: a1.b2 of x")).toBeNull();
});

test("nothing declared and nothing recorded are said, and a cut is named", () => {
  expect(turnText({ row: { ...ROW, cut_reason: "reaped" }, envelope: null, record: [] })).toEqual({
    goal: null,
    title: null,
    lines: [
      "Open turn: a1.b2 of tester (row 7), IN_PROGRESS, cut: reaped",
      "Record: 0 entries, 0 commands; open gaps: none declared yet",
    ],
    questions: [],
  });
  const { lines } = turnText({ row: ROW, envelope: envelope([]), record: [] });
  expect(lines[1]).toBe("Record: 0 entries, 0 commands; open gaps: 0");
});

test.each([
  ["Make a cache", "Make a cache"],
  ["  Count the pallets\n## Decisions\n- all", "Count the pallets"],
  ["a\u202eb\nc", '"a\\u202eb"'],
  ["  \n", null],
])("the first line of the goal %p stands for a title: %p", (goal, title) => {
  expect(turnText({ row: { ...ROW, goal }, envelope: null, record: [] }).title).toBe(title);
});

test("of many the newest are quoted and the others counted; a long text is cut where it can be seen", () => {
  const record = Array.from({ length: 9 }, (_, at) => entry(at + 1, `step ${at + 1}`));
  const many = Array.from({ length: 23 }, (_, at) => `g${at + 1}`);
  const { lines, questions } = turnText({
    row: ROW,
    envelope: envelope([...many.slice(0, 22), "x".repeat(400)]),
    record,
  });
  expect(lines[2]).toStartWith("Verified: `step 9` - exit 0");
  expect(lines.at(-1)).toBe("Verified: 4 more");
  expect(questions.at(-1)).toBe("gap: 3 more");
  const long = turnText({ row: ROW, envelope: envelope(["x".repeat(400)]), record: [] });
  expect(long.questions).toEqual([`gap: ${"x".repeat(300)}…`]);
});

test("a command that is no plain line is a JSON string, and what would reorder a line is escaped", () => {
  const record = [entry(1, "echo `a`\n```\n## Process state"), entry(2, "\u202egnp.exe")];
  const { lines } = turnText({ row: ROW, envelope: envelope([]), record });
  expect(lines.slice(2).map((line) => line.split(" - ")[0])).toEqual([
    'Verified: "\\u202egnp.exe"',
    'Verified: "echo `a`\\n```\\n## Process state"',
  ]);
});

test("whatever a turn holds, a brief with it reads back as it was written", () => {
  const word = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.constantFrom(
      "## Process state",
      "```",
      "\n```\n",
      "# Handoff: x",
      "- none",
      "none",
      "rejected: x",
      "\r\n## Decisions",
      "",
    ),
  );
  const value = fc.oneof(word, fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<JsonValue>;
  const list = fc.array(value, { maxLength: 25 });
  fc.assert(
    fc.property(list, list, word, fc.array(word, { maxLength: 8 }), word, (gaps, steps, next, commands, name) => {
      const text = turnText({
        row: { ...ROW, agent_name: name, contract_id: name, goal: next },
        envelope: envelope(gaps, steps, next),
        record: commands.map((command, at) => entry(at + 1, command, { exit_code: at % 2 })),
      });
      const gathered = gatherText(null, { title: "t", intent: "i", decisions: [], questions: [], skills: [] });
      const human = gathered?.text ?? null;
      if (human === null) throw new Error("no text");
      const whole = {
        ...human,
        title: text.title ?? human.title,
        intent: [text.goal ?? human.intent, "", ...text.lines].join("\n"),
        open_questions: text.questions,
      };
      expect(unfaithful(whole)).toBeNull();
    }),
    { numRuns: 300 },
  );
});
