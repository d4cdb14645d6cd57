import { expect, test } from "bun:test";
import fc from "fast-check";
import { BRIEF_ISSUE_CODES, briefIssueText } from "../../../src/core/brief/issue.ts";
import { firstStop, parseBrief, stopDetails } from "../../../src/core/brief/parse.ts";
import { renderBrief } from "../../../src/core/brief/render.ts";
import { aBrief, aProcess, SHA } from "../../support/flow.ts";

const CORE = `# Handoff: t

## Intent
i

## Repo state
toplevel: /w
worktree: no
branch: x
HEAD: ${SHA}
base: origin/main
dirty: clean
diff-stat: none
test cmd: npm test

## Decisions
- none

## Open questions
- none

## Skills loaded: none
`;

const PHASES = `Phases:
  ⊘ brainstorm (r)
  ⊘ plan (r)
  → implement
  ○ verify
  ○ ship
`;
const GATE = "Gate history not restored - re-validate before advancing.";

function withProcess(block: string): string {
  return `${CORE}\n## Process state\n\n${block}`;
}

function codesOf(text: string): readonly string[] {
  return parseBrief(text).issues.map(({ line, code }) => `${line} ${code}`);
}

test("parse of render is the brief", () => {
  fc.assert(
    fc.property(aBrief, (brief) => {
      expect(parseBrief(renderBrief(brief)).brief).toEqual(brief);
    }),
  );
});

test("a brief with CRLF reads as one with LF", () => {
  fc.assert(
    fc.property(aBrief, (brief) => {
      expect(parseBrief(renderBrief(brief).replaceAll("\n", "\r\n")).brief).toEqual(brief);
    }),
  );
});

test("parseBrief() returns on any text, and has a brief exactly where it has no stop", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      for (const each of [text, `# Handoff:${text}`, withProcess(text)]) {
        const { brief, issues } = parseBrief(each);
        expect(brief === null).toBe(firstStop(issues) !== null);
      }
    }),
  );
});

test("a brief whose lines were dropped, doubled and swapped is read, or refused with lines that it has", () => {
  const anEdit = fc.tuple(fc.constantFrom("drop", "double", "swap", "indent"), fc.nat(60));
  fc.assert(
    fc.property(aBrief, aProcess, fc.array(anEdit, { maxLength: 6 }), (plain, process, edits) => {
      const lines = renderBrief({ ...plain, process }).split("\n");
      for (const [edit, place] of edits) {
        const at = place % lines.length;
        const line = lines[at] ?? "";
        if (edit === "drop") lines.splice(at, 1);
        if (edit === "double") lines.splice(at, 0, line);
        if (edit === "swap") lines.splice(at, 2, lines[at + 1] ?? "", line);
        if (edit === "indent") lines[at] = `  ${line}`;
      }
      const text = lines.join("\n");
      const { issues } = parseBrief(text);
      for (const issue of issues) {
        expect(issue.line).toBeLessThanOrEqual(lines.length);
        expect(stopDetails(text, issue).every((detail) => /^line \d+: /.test(detail))).toBe(true);
      }
      expect(issues.map(({ line }) => line)).toEqual(issues.map(({ line }) => line).sort((a, b) => a - b));
    }),
  );
});

test.each([
  { what: "many headings", text: "## Intent\n".repeat(200_000) },
  { what: "many fences", text: "```\n".repeat(200_000) },
  { what: "many phase lines", text: withProcess(`Phases:\n${"  → plan\n".repeat(200_000)}`) },
  { what: "many task lines", text: withProcess(`${PHASES}\nPlan: 1/1 done\n\n${"  → [0] a\n".repeat(100_000)}`) },
  { what: "a phase line of parentheses", text: withProcess(`Phases:\n  → brainstorm${"(".repeat(500_000)}\n`) },
  { what: "a line of blanks", text: withProcess(`${" ".repeat(500_000)}x`) },
  { what: "many legs", text: withProcess(`${PHASES}\nNo plan active.\n\nlegs:\n${"- repo: a\n".repeat(200_000)}`) },
])("parseBrief() takes linear time on $what", ({ text }) => {
  expect(parseBrief(`# Handoff: x\n${text}`).brief).toBeNull();
});

test.each([
  { rule: "a title may be empty", text: CORE.replace(": t", ":"), codes: ["1 title-empty"] },
  { rule: "an intent is something", text: CORE.replace("\ni\n", "\n"), codes: ["3 intent-empty"] },
  { rule: "HEAD is whole", text: CORE.replace(SHA, "abc"), codes: ["10 head-value"] },
  { rule: "HEAD may be unavailable", text: CORE.replace(SHA, "unavailable"), codes: [] },
  { rule: "Decisions have a bullet", text: CORE.replace("- none", ""), codes: ["16 decisions-empty"] },
  {
    rule: "questions are bullets",
    text: CORE.replace("questions\n- none", "questions\nwhy"),
    codes: ["20 question-line"],
  },
  {
    rule: "skills have one suffix",
    text: CORE.replace("loaded: none\n", "loaded: some\n- a\n"),
    codes: ["22 skills-suffix"],
  },
  {
    rule: "process state stands once",
    text: `${withProcess(`${PHASES}\nNo plan active.\n\nActive task: none\n${GATE}\n`)}\n## Process state\n`,
    codes: ["38 duplicate-process-state"],
  },
  {
    rule: "one phase is in progress",
    text: withProcess(`${PHASES.replace("○ ship", "→ ship")}\nNo plan active.\n\nActive task: none\n${GATE}\n`),
    codes: ["31 phase-multiple"],
  },
  {
    rule: "five phases",
    text: withProcess(`${PHASES.replace("  ○ ship\n", "")}\nNo plan active.\n`),
    codes: ["30 phase-block"],
  },
  { rule: "an empty section is no phase block", text: withProcess(""), codes: ["24 phase-block"] },
  {
    rule: "a block of one member is none",
    text: withProcess(
      `${PHASES}\nNo plan active.\n\nActive task: none\nlegs:\n- repo: a\n  worktree: /a\n  branch: x\n  HEAD: ${SHA}\n  dirty: clean\n${GATE}\n`,
    ),
    codes: ["36 legs"],
  },
  {
    rule: "a leg without a field is told of at the leg",
    text: withProcess(
      `${PHASES}\nNo plan active.\n\nActive task: none\nlegs:\n- repo: a\n  worktree: /a\n  HEAD: ${SHA}\n  dirty: clean\n- repo: b\n${GATE}\n`,
    ),
    codes: ["37 legs"],
  },
])("parseBrief(): $rule", ({ text, codes }) => {
  expect(codesOf(text)).toEqual([...codes]);
});

test("a stop shows the lines that it is about", () => {
  const text = withProcess(`${PHASES.replace("○ ship", "→ ship")}\nNo plan active.\n\nActive task: none\n${GATE}\n`);
  const stop = firstStop(parseBrief(text).issues);
  expect(stop?.message).toBe("contradictory process state - more than one phase is in progress");
  expect(stop === null ? [] : stopDetails(text, stop)).toEqual(["line 29:   → implement", "line 31:   → ship"]);
  const none = firstStop(parseBrief("# Handoff: x\n").issues);
  expect(none === null ? null : stopDetails("# Handoff: x\n", none)).toEqual([]);
});

test("every code has a text", () => {
  expect(BRIEF_ISSUE_CODES).toHaveLength(45);
  expect(BRIEF_ISSUE_CODES.every((code) => briefIssueText(code) !== "")).toBe(true);
});
