import { expect, test } from "bun:test";
import fc from "fast-check";
import { candidateDirs, findCandidates } from "../../../src/core/brief/candidates.ts";
import {
  homeTuple,
  membershipFault,
  readHomeTuple,
  readReceipt,
  readSpecLegs,
  resolveHome,
} from "../../../src/core/brief/leg-files.ts";
import { readReworkRecord } from "../../../src/core/brief/rework-record.ts";
import { DRAFT_MARK, isDraft, readSpecHeader } from "../../../src/core/brief/spec-header.ts";
import { SHA } from "../../support/flow.ts";

const NONE = { kind: "none" };

test.each([
  { rule: "no line grants nothing", block: "", grant: NONE },
  { rule: "none grants nothing", block: "**Amend-grant:** none\n", grant: NONE },
  {
    rule: "a sentence is the grant",
    block: "**Amend-grant:** You may rename files.\n\ntext\n",
    grant: { kind: "active", sentence: "You may rename files." },
  },
  {
    rule: "another header line may follow",
    block: "**Amend-grant:** yes\n**Goal:** g\n",
    grant: { kind: "active", sentence: "yes" },
  },
  {
    rule: "a superseding note may follow",
    block: "**Amend-grant:** yes\n> **Superseded by:** x\n",
    grant: { kind: "active", sentence: "yes" },
  },
  {
    rule: "an empty value is malformed",
    block: "**Amend-grant:**\n",
    grant: { kind: "malformed", lines: ["**Amend-grant:**"] },
  },
  {
    rule: "two lines are malformed",
    block: "**Amend-grant:** none\n\n**Amend-grant:** yes\n",
    grant: { kind: "malformed", lines: ["**Amend-grant:** none", "**Amend-grant:** yes"] },
  },
  {
    rule: "a sentence that runs on is malformed",
    block: "**Amend-grant:** yes\nand more\n",
    grant: { kind: "malformed", lines: ["**Amend-grant:** yes", "and more"] },
  },
])("readSpecHeader(): $rule", ({ block, grant }) => {
  const text = `# Spec\n\n${block}\n## Design\n\n**Amend-grant:** not in the header\n`;
  expect(readSpecHeader(text).grant).toEqual(grant as never);
  expect(readSpecHeader(text.replaceAll("\n", "\r\n")).grant).toEqual(grant as never);
});

test.each([
  { line: "**Deferred:** none", deferral: null },
  { line: "**Deferred:**", deferral: null },
  { line: "**Deferred:** until May", deferral: "**Deferred:** until May" },
  { line: "text", deferral: null },
])("readSpecHeader() of $line defers: $deferral", ({ line, deferral }) => {
  expect(readSpecHeader(`# S\n${line}\n\n## D\n**Deferred:** later\n`).deferral).toBe(deferral);
});

test("a draft is known by its first line alone", () => {
  expect(isDraft(`${DRAFT_MARK}\r\nx`)).toBe(true);
  expect(isDraft(`${DRAFT_MARK} x`)).toBe(false);
  expect(isDraft(`x\n${DRAFT_MARK}`)).toBe(false);
});

test("a rework record has the pairs of its top level, and one base", () => {
  const other = SHA.replace("0", "f");
  const text = [
    "# S",
    "```",
    "## Rework record",
    "```",
    "## Rework record",
    "PR: acme/app#12 Fix the cache",
    `Pre-rework head: ${SHA}`,
    "Threads: 3",
    "PR: acme/lib#7",
    "PR: acme/web#9",
    `Pre-rework head: ${other}`,
    `Rework base: ${SHA}`,
    `Rework base: ${other}`,
    "### PR #12",
    "PR: acme/inner#1",
    `Pre-rework head: ${SHA}`,
    "## Next",
  ].join("\n");
  expect(readReworkRecord(text)).toEqual({
    prs: [
      { repo: "acme/app", number: 12, pre_rework_head: SHA },
      { repo: "acme/web", number: 9, pre_rework_head: other },
    ],
    rework_base: SHA,
  });
  expect(readReworkRecord("# S\n## Rework record extra\n")).toBeNull();
  expect(readReworkRecord("# S\n## Rework record\n")).toEqual({ prs: [], rework_base: null });
});

test("legs are read in order, with their branch and their pattern", () => {
  const text =
    "# S\n## Legs\n### Leg: repo-a\nbranch: f/x\n\n### Leg: repo-b\nbranch: f/x\nhome: .worktrees/<NAME>/b\n## D\n### Leg: c\n";
  expect(readSpecLegs(text)).toEqual([
    { repo: "repo-a", branch: "f/x", home: null },
    { repo: "repo-b", branch: "f/x", home: ".worktrees/<NAME>/b" },
  ]);
  expect(resolveHome(".worktrees/<NAME>/b", "f/x/y")).toEqual({ path: ".worktrees/f-x-y/b", name: "f-x-y" });
  expect(readSpecLegs("# S\n```\n## Legs\n### Leg: a\n```\n")).toEqual([]);
});

test("a home tuple is compared without the blanks around its parts", () => {
  expect(readHomeTuple("# L\n**Home:** repo-a|f/x  |  doc/specs/x.md\n")).toBe("repo-a | f/x | doc/specs/x.md");
  expect(homeTuple(["repo-a", "f/x", "doc/specs/x.md"])).toBe("repo-a | f/x | doc/specs/x.md");
  expect(readHomeTuple("# L\n")).toBeNull();
});

test.each([
  { brief: ["a", "b"], spec: ["a", "b"], fault: null },
  { brief: ["a"], spec: ["a", "b"], fault: "leg membership differs: missing b" },
  { brief: ["a", "b", "c"], spec: ["a", "b"], fault: "leg membership differs: extra c" },
  { brief: ["a", "c"], spec: ["a", "b"], fault: "leg membership differs: missing b, extra c" },
  { brief: ["b", "a"], spec: ["a", "b"], fault: "leg membership differs: reordered b, a" },
  { brief: ["a", "b", "b"], spec: ["a", "b"], fault: "leg membership differs: extra b" },
])("membershipFault() of $brief and $spec", ({ brief, spec, fault }) => {
  expect(membershipFault(brief, spec)).toBe(fault);
});

test("a receipt has all five fields, each of its type", () => {
  const whole = { repo: "b", branch: "x", head: SHA, pr: 3, repository: "o/b" };
  expect(readReceipt(whole)).toEqual(whole);
  for (const key of Object.keys(whole)) expect(readReceipt({ ...whole, [key]: null })).toBeNull();
  expect(readReceipt([])).toBeNull();
  expect(readReceipt({ ...whole, pr: 1.5 })).toBeNull();
});

const PLAIN = { specDirs: ["doc/specs"], isAtBase: () => false, isDraft: () => false, isLedger: () => false };

test.each([
  {
    rule: "a spec without a plan",
    input: { ...PLAIN, added: ["doc/specs/a.md", "doc/specs/a.txt", "src/a.md"] },
    specs: ["doc/specs/a.md"],
    plans: {},
  },
  {
    rule: "a plan pairs by its name",
    input: { ...PLAIN, added: ["doc/plans/a.md", "doc/specs/a.md", "doc/plans/b.md"] },
    specs: ["doc/specs/a.md"],
    plans: { "doc/specs/a.md": ["doc/plans/a.md"] },
  },
  {
    rule: "a plan brings the spec that the base has",
    input: { ...PLAIN, added: ["doc/plans/a.md"], isAtBase: (path: string) => path === "doc/specs/a.md" },
    specs: ["doc/specs/a.md"],
    plans: { "doc/specs/a.md": ["doc/plans/a.md"] },
  },
  {
    rule: "a draft is no spec",
    input: { ...PLAIN, added: ["doc/specs/a.md"], isDraft: () => true },
    specs: [],
    plans: {},
  },
  {
    rule: "a ledger is no plan",
    input: {
      ...PLAIN,
      added: ["doc/plans/a.md", "doc/specs/a.md"],
      isLedger: (path: string) => path.includes("plans"),
    },
    specs: ["doc/specs/a.md"],
    plans: {},
  },
  {
    rule: "two directories with one plans directory",
    input: {
      ...PLAIN,
      specDirs: ["doc/specs", "doc/more"],
      added: ["doc/plans/a.md", "doc/specs/a.md", "doc/more/a.md"],
    },
    specs: ["doc/more/a.md", "doc/specs/a.md"],
    plans: { "doc/specs/a.md": ["doc/plans/a.md"], "doc/more/a.md": ["doc/plans/a.md"] },
  },
])("findCandidates(): $rule", ({ input, specs, plans }) => {
  const found = findCandidates(input);
  expect(found.specs).toEqual(specs);
  expect(Object.fromEntries(found.plans)).toEqual(plans as never);
});

test("every spec directory brings its plans directory", () => {
  expect(candidateDirs(["doc/specs/", "specs"])).toEqual(["doc/specs", "specs", "doc/plans", "plans"]);
});

test("the readers of specs return on any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      for (const each of [text, `# S\n${text}`, `# S\n## Legs\n### Leg: ${text}`, `## Rework record\n${text}`]) {
        readSpecHeader(each);
        readSpecLegs(each);
        readReworkRecord(each);
        expect(typeof isDraft(each)).toBe("boolean");
      }
    }),
  );
});
