/**
 * Reads a brief: every section, and every issue.
 *
 * A consumer keys on headings and never on prose. Whatever the text, reading it never throws, takes linear time, and
 * gives all issues at once; a stop among them means that there is no brief to act on.
 */
import {
  type Brief,
  type Decision,
  HEADINGS,
  type Heading,
  PROCESS_HEADING,
  REPO_FIELDS,
  type RepoFields,
  type RepoState,
  TITLE_START,
  type WorktreeField,
} from "./brief.ts";
import { type BriefIssue, briefIssue } from "./issue.ts";
import { type BriefLine, briefLines, isBlankLine, isFenceMark } from "./line.ts";
import { parseProcess } from "./process-state.ts";

export type ParsedBrief = {
  /** Null when there is a stop. */
  readonly brief: Brief | null;
  /** By line; those of one line in the order of their discovery. */
  readonly issues: readonly BriefIssue[];
};

const SHA = /^[0-9a-f]{40}$/;
const SKILL_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/])/;

/** A heading with the lines up to the next one. */
type Section = { readonly line: number; readonly suffix: string; readonly body: readonly BriefLine[] };

/** The parts of a text that a person writes, and the headings that it has. */
export type BriefParts = Omit<Brief, "process"> & {
  readonly headings: ReadonlySet<Heading>;
  readonly issues: readonly BriefIssue[];
};

/**
 * Reads the whole text of a brief.
 *
 * Errors: none, whatever the text
 * Source: flow state, sections 7 and 8
 */
export function parseBrief(text: string): ParsedBrief {
  const lines = briefLines(text);
  if (lines[0]?.text.startsWith(TITLE_START) !== true) return { brief: null, issues: [briefIssue("not-a-brief", 1)] };
  const issues: BriefIssue[] = [];
  const { sections, ...brief } = readParts(lines, issues);
  const section = sections.get("Process state");
  const process = section === undefined ? null : parseProcess(section.line, section.body, issues);
  const sorted = inOrder(issues);
  return { brief: sorted.some(({ kind }) => kind === "stop") ? null : { ...brief, process }, issues: sorted };
}

/** Reads the parts of a text whose first line may be no title: what a person hands to a producer. */
export function parseParts(text: string): BriefParts {
  const isTitled = text.startsWith(TITLE_START);
  const issues: BriefIssue[] = [];
  const { sections, ...parts } = readParts(briefLines(isTitled ? text : `${TITLE_START}\n${text}`), issues);
  // Without a title of its own the text begins a line later.
  const moved = issues.map((issue) => (isTitled ? issue : { ...issue, line: Math.max(issue.line - 1, 0) }));
  return { ...parts, headings: new Set(sections.keys()), issues: inOrder(moved) };
}

/** Stable: those of one line stay in the order of their discovery. */
function inOrder(issues: readonly BriefIssue[]): readonly BriefIssue[] {
  return issues.toSorted((left, right) => left.line - right.line);
}

function readParts(lines: readonly BriefLine[], issues: BriefIssue[]) {
  const title = (lines[0]?.text ?? "").slice(TITLE_START.length).trim();
  if (title === "") issues.push(briefIssue("title-empty", 1));
  const sections = findSections(lines, issues);
  for (const heading of HEADINGS) {
    if (sections.has(heading) || heading === "Process state") continue;
    issues.push(
      heading === "Repo state" ? briefIssue("missing-repo-state", 0) : briefIssue("missing-heading", 0, heading),
    );
  }
  return {
    title,
    intent: readIntent(sections.get("Intent"), issues),
    repo_state: readRepoState(sections.get("Repo state"), issues),
    decisions: readDecisions(sections.get("Decisions"), issues),
    open_questions: readQuestions(sections.get("Open questions"), issues),
    skills: readSkills(sections.get("Skills loaded"), issues),
    sections,
  };
}

/**
 * The process-state section of a brief as its digest is taken: from its heading to its last line that is not blank, lines
 * ended by LF. Null where the text has none.
 */
export function processSection(text: string): string | null {
  const sections = findSections(briefLines(text), []);
  const section = sections.get("Process state");
  if (section === undefined) return null;
  const body = section.body.map((line) => line.text);
  const filled = body.slice(0, body.findLastIndex((line) => !isBlankLine(line)) + 1);
  return `${[PROCESS_HEADING, ...filled].join("\n")}\n`;
}

/** Whether a text is a brief: by its first line. */
export function isBrief(text: string): boolean {
  return text.startsWith(TITLE_START);
}

/** The first stop in the order of the issues; null when a consumer may go on. */
export function firstStop(issues: readonly BriefIssue[]): BriefIssue | null {
  return issues.find(({ kind }) => kind === "stop") ?? null;
}

/** The lines that a stop is about, as a person is shown them: "line 3: …". */
export function stopDetails(text: string, { line, lines }: BriefIssue): readonly string[] {
  const all = briefLines(text);
  const about = lines ?? (line === 0 ? [] : [line]);
  return about.map((number) => `line ${number}: ${all[number - 1]?.text ?? ""}`);
}

function findSections(lines: readonly BriefLine[], issues: BriefIssue[]): ReadonlyMap<Heading, Section> {
  const hidden = hiddenLines(lines, issues);
  const starts = lines.flatMap(({ text, number }, index) =>
    index > 0 && text.startsWith("## ") && !hidden.has(number) ? [index] : [],
  );
  const sections = new Map<Heading, Section>();
  let rank = -1;
  for (const [place, start] of starts.entries()) {
    const { text, number } = lines[start] ?? { text: "", number: 0 };
    const { heading, suffix } = headingOf(text);
    if (heading === null) {
      issues.push(briefIssue("unknown-heading", number, text.slice(3).trim()));
    } else if (sections.has(heading)) {
      issues.push(
        heading === "Process state"
          ? briefIssue("duplicate-process-state", number)
          : briefIssue("duplicate-heading", number, heading),
      );
    } else {
      const own = HEADINGS.indexOf(heading);
      if (own < rank) issues.push(briefIssue("heading-order", number, heading));
      rank = Math.max(rank, own);
      sections.set(heading, { line: number, suffix, body: lines.slice(start + 1, starts[place + 1]) });
    }
  }
  return sections;
}

/** The numbers of the lines inside of closed fences: marks pair first with second, third with fourth. */
function hiddenLines(lines: readonly BriefLine[], issues: BriefIssue[]): ReadonlySet<number> {
  const marks = lines.filter(({ text }) => isFenceMark(text)).map(({ number }) => number);
  if (marks.length % 2 === 1) issues.push(briefIssue("unclosed-fence", marks.at(-1) ?? 0));
  const hidden = new Set<number>();
  for (let mark = 0; mark + 1 < marks.length; mark += 2) {
    for (let number = marks[mark] ?? 0; number < (marks[mark + 1] ?? 0); number++) hidden.add(number);
  }
  return hidden;
}

function headingOf(text: string): { readonly heading: Heading | null; readonly suffix: string } {
  const words = text.slice(3).trimEnd();
  const exact = HEADINGS.find((heading) => words === heading);
  if (exact !== undefined) return { heading: exact, suffix: "" };
  for (const heading of ["Repo state", "Skills loaded"] as const) {
    if (words.startsWith(`${heading}:`)) return { heading, suffix: words.slice(heading.length + 1).trim() };
  }
  return { heading: null, suffix: "" };
}

function readIntent(section: Section | undefined, issues: BriefIssue[]): string {
  if (section === undefined) return "";
  const lines = section.body.map(({ text }) => text);
  const first = lines.findIndex((line) => !isBlankLine(line));
  if (first < 0) {
    issues.push(briefIssue("intent-empty", section.line));
    return "";
  }
  return lines.slice(first, lines.findLastIndex((line) => !isBlankLine(line)) + 1).join("\n");
}

function readRepoState(section: Section | undefined, issues: BriefIssue[]): RepoState | null {
  if (section === undefined) return null;
  const { suffix } = section;
  if (suffix === "") return { kind: "fields", reason: null, fields: readFields(section, issues) };
  const unavailable = /^unavailable(?: \((.*)\))?$/s.exec(suffix);
  if (suffix !== "not a git repo" && unavailable === null) {
    issues.push(briefIssue("repo-state-suffix", section.line, suffix));
  }
  const text = section.body.find((line) => !isBlankLine(line.text));
  if (text !== undefined) issues.push(briefIssue("repo-state-body", text.number));
  if (suffix === "not a git repo") return { kind: "not-a-git-repo", reason: null, fields: null };
  return { kind: "unavailable", reason: unavailable?.[1] ?? null, fields: null };
}

function readFields({ line, body }: Section, issues: BriefIssue[]): RepoFields {
  const found = new Map<keyof RepoFields, { readonly number: number; readonly values: string[] }>();
  /** Where further lines of the last field go; null when it may have none. */
  let open: string[] | null = null;
  let rank = -1;
  for (const { text, number } of body) {
    if (isBlankLine(text)) continue;
    if (open !== null && text.startsWith("  ")) {
      open.push(text.slice(2));
      continue;
    }
    const own = REPO_FIELDS.findIndex(([name]) => text === `${name}:` || text.startsWith(`${name}: `));
    const [name, key] = REPO_FIELDS[own] ?? ["", null];
    if (key === null) {
      issues.push(briefIssue("repo-state-line", number, text));
      open = null;
      continue;
    }
    const values = [text.slice(name.length + 2)];
    open = key === "dirty" || key === "diff_stat" ? values : null;
    if (found.has(key)) {
      issues.push(briefIssue("repo-state-duplicate", number, name));
      continue;
    }
    if (own < rank) issues.push(briefIssue("repo-state-order", number, name));
    rank = Math.max(rank, own);
    found.set(key, { number, values });
  }
  for (const [name, key] of REPO_FIELDS) {
    if (!found.has(key)) issues.push(briefIssue("repo-state-missing", line, name));
  }
  const one = (key: keyof RepoFields) => found.get(key)?.values[0] ?? null;
  const head = one("head");
  if (head !== null && head !== "unavailable" && !SHA.test(head)) {
    issues.push(briefIssue("head-value", found.get("head")?.number ?? line));
  }
  return {
    toplevel: one("toplevel"),
    worktree: readWorktree(one("worktree"), found.get("worktree")?.number ?? line, issues),
    branch: one("branch"),
    head,
    base: one("base"),
    dirty: found.get("dirty")?.values ?? null,
    diff_stat: found.get("diff_stat")?.values ?? null,
    test_cmd: one("test_cmd"),
  };
}

function readWorktree(value: string | null, line: number, issues: BriefIssue[]): WorktreeField | null {
  if (value === null) return null;
  if (value === "no" || value === "unavailable") return { kind: value };
  const path = value.startsWith("yes ") ? value.slice("yes ".length) : "";
  if (ABSOLUTE.test(path)) return { kind: "yes", path };
  issues.push(briefIssue("worktree-value", line));
  return { kind: "unavailable" };
}

function readDecisions(section: Section | undefined, issues: BriefIssue[]): readonly Decision[] {
  if (section === undefined) return [];
  const bullets = readBullets(section, "decision-line", issues);
  if (bullets.length === 0) issues.push(briefIssue("decisions-empty", section.line));
  return withoutNone(bullets).map((text) =>
    text.startsWith("rejected: ")
      ? { text: text.slice("rejected: ".length), rejected: true }
      : { text, rejected: false },
  );
}

function readQuestions(section: Section | undefined, issues: BriefIssue[]): readonly string[] {
  return section === undefined ? [] : withoutNone(readBullets(section, "question-line", issues));
}

function readBullets(
  { body }: Section,
  code: "decision-line" | "question-line",
  issues: BriefIssue[],
): readonly string[] {
  const bullets: string[][] = [];
  for (const { text, number } of body) {
    if (isBlankLine(text)) continue;
    if (text.startsWith("- ") && !isBlankLine(text.slice(2))) bullets.push([text.slice(2)]);
    else if (text.startsWith("  ") && bullets.length > 0) bullets.at(-1)?.push(text.slice(2));
    else issues.push(briefIssue(code, number));
  }
  return bullets.map((bullet) => bullet.join("\n"));
}

function withoutNone(bullets: readonly string[]): readonly string[] {
  return bullets.length === 1 && bullets[0] === "none" ? [] : bullets;
}

function readSkills(section: Section | undefined, issues: BriefIssue[]): readonly string[] {
  if (section === undefined) return [];
  const { line, suffix, body } = section;
  if (suffix === "none") {
    const text = body.find((each) => !isBlankLine(each.text));
    if (text !== undefined) issues.push(briefIssue("skills-body", text.number));
    return [];
  }
  if (suffix !== "") issues.push(briefIssue("skills-suffix", line, suffix));
  const names: string[] = [];
  for (const { text, number } of body) {
    if (isBlankLine(text)) continue;
    const list = text.startsWith("- ") ? text.slice(2) : text;
    for (const word of list.split(",")) {
      const name = word.trim().replace(/^`/, "").replace(/`$/, "");
      if (SKILL_NAME.test(name)) names.push(name);
      else issues.push(briefIssue("skill-name", number, word.trim()));
    }
  }
  if (names.length === 0) issues.push(briefIssue("skills-empty", line));
  return names;
}
