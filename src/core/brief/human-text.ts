/** What a person says in a brief, from a file and from options: gathered, and held against what a brief can carry. */
import { type Decision, HEADINGS } from "./brief.ts";
import type { BriefIssue } from "./issue.ts";
import { isBlankLine } from "./line.ts";
import { parseParts } from "./parse.ts";
import { renderCore } from "./render.ts";

export type HumanText = {
  /** One line; empty where none was given. */
  readonly title: string;
  readonly intent: string;
  readonly decisions: readonly Decision[];
  readonly open_questions: readonly string[];
  readonly skills: readonly string[];
};

/** What options say: title and intent replace, the others are added. Null: not given. */
export type HumanOptions = {
  readonly title: string | null;
  readonly intent: string | null;
  readonly decisions: readonly Decision[];
  readonly questions: readonly string[];
  readonly skills: readonly string[];
};

export type GatheredText = {
  readonly text: HumanText;
  /** What the file says that no brief carries: for a warning. */
  readonly dropped: readonly BriefIssue[];
};

/** Codes that tell of a line that opens or hides a section. */
const MOVING: ReadonlySet<string> = new Set(["duplicate-heading", "unknown-heading", "unclosed-fence"]);

/** The stop of a human text that has what only a producer writes. */
export const FORBIDDEN_HEADINGS = "--from must not carry ## Repo state or ## Process state";

/** Codes that tell of text that is not taken over. */
const DROPPED: ReadonlySet<string> = new Set([
  "unknown-heading",
  "duplicate-heading",
  "decision-line",
  "question-line",
  "skill-name",
  "skills-body",
  "skills-suffix",
]);

/**
 * @param from the Markdown of `--from`; null where none was given
 * @returns    null when it carries a heading that only a producer writes
 * Source: flow state, section 10.1
 */
export function gatherText(from: string | null, options: HumanOptions): GatheredText | null {
  const parts = from === null ? null : parseParts(from);
  if (parts?.headings.has("Repo state") === true || parts?.headings.has("Process state") === true) return null;
  const decisions = [...(parts?.decisions ?? []), ...options.decisions.map(normalDecision)];
  const questions = [...(parts?.open_questions ?? []), ...options.questions.map(filledLines)];
  return {
    text: {
      title: (options.title ?? parts?.title ?? "").trim(),
      intent: trimmedLines(options.intent ?? parts?.intent ?? ""),
      decisions: decisions.filter(({ text }) => text !== "" && text !== "none"),
      open_questions: questions.filter((text) => text !== "" && text !== "none"),
      skills: [...new Set([...(parts?.skills ?? []), ...options.skills])],
    },
    dropped: (parts?.issues ?? []).filter(({ code }) => DROPPED.has(code)),
  };
}

/**
 * Why a text cannot stand in a brief: what is read back would not be what was written. Null when it can.
 *
 * A line that reads as a heading, or a fence that is never closed, would move the sections behind it.
 */
export function unfaithful(text: HumanText): "forbidden" | string | null {
  const back = parseParts(renderCore({ ...text, repo_state: { kind: "not-a-git-repo", reason: null, fields: null } }));
  const issues = back.issues.filter(({ code }) => code !== "intent-empty" && code !== "title-empty");
  // What moves the sections comes before what that leads to.
  const issue = issues.find(({ code }) => MOVING.has(code)) ?? issues[0];
  if (back.headings.has("Process state")) return "forbidden";
  if (issue?.code === "duplicate-heading" && issue.message.includes("Repo state")) return "forbidden";
  if (issue !== undefined) return issue.message;
  const { title, intent, decisions, open_questions, skills } = back;
  const same = JSON.stringify({ title, intent, decisions, open_questions, skills });
  return same === JSON.stringify(text) && back.headings.size === HEADINGS.length - 1 ? null : "it reads otherwise";
}

function normalDecision({ text, rejected }: Decision): Decision {
  const filled = filledLines(text);
  return filled.startsWith("rejected: ")
    ? { text: filled.slice("rejected: ".length), rejected: true }
    : { text: filled, rejected };
}

/** A bullet has no blank line inside. */
function filledLines(text: string): string {
  const lines = unixLines(text).filter((line) => !isBlankLine(line));
  return lines.join("\n").trim();
}

function trimmedLines(text: string): string {
  const lines = unixLines(text);
  const first = lines.findIndex((line) => !isBlankLine(line));
  return first < 0 ? "" : lines.slice(first, lines.findLastIndex((line) => !isBlankLine(line)) + 1).join("\n");
}

function unixLines(text: string): readonly string[] {
  return text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}
