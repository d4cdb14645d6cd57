/** Which turn of a script a request meets. */
import type { Pattern } from "../pattern/re2.ts";
import { type AskedForm, type ChatRequest, goalOf, stepOf } from "./chat-request.ts";
import type { Reply } from "./reply.ts";

/** Both counted in; null: no bound. */
export type Range = { readonly min: number | null; readonly max: number | null };

/** What must hold; a condition that is null or empty asks for nothing. */
export type When = {
  readonly goal_contains: readonly string[];
  readonly system_contains: readonly string[];
  readonly last_contains: readonly string[];
  readonly any_contains: readonly string[];
  readonly matches: Pattern | null;
  readonly step: Range | null;
  readonly last_tool: string | null;
  readonly last_tool_contains: readonly string[];
  /** A name: that tool must be offered. */
  readonly tools: boolean | string | null;
  readonly constraint: AskedForm | "any" | null;
  readonly thinking: "on" | "off" | null;
  readonly stream: boolean | null;
  readonly max_tokens: Range | null;
  readonly request: Range | null;
};

export type Turn = {
  readonly id: string;
  readonly when: When;
  /** null: as often as it fits. */
  readonly times: number | null;
  /** What `times` and `request` are counted over. */
  readonly count: "conversation" | "server";
  readonly reply: Reply;
};

/** The number of a request, from 1. */
export type Numbers = { readonly conversation: number; readonly server: number };

/**
 * The turn that is played.
 *
 * @param order  "strict": the first turn that is not used up, or none; without `times` a turn is played once
 * @param played how often a turn was played so far, by what it is counted over
 * @returns      null: the request meets none
 * Source: delegation run, section 17.2
 */
export function chooseTurn(
  script: { readonly turns: readonly Turn[]; readonly order: "any" | "strict" },
  request: ChatRequest,
  numbers: Numbers,
  played: (turn: Turn) => number,
): Turn | null {
  const isStrict = script.order === "strict";
  for (const turn of script.turns) {
    const times = turn.times ?? (isStrict ? 1 : null);
    if (times !== null && played(turn) >= times) continue;
    if (fits(turn, request, numbers)) return turn;
    if (isStrict) return null;
  }
  return null;
}

/** Whether every condition of a turn holds. */
export function fits({ when, count }: Turn, request: ChatRequest, numbers: Numbers): boolean {
  const { messages } = request;
  const last = messages.at(-1);
  const texts = messages.map(({ text }) => text);
  const isResult = last?.role === "tool";
  return (
    hasAll(when.goal_contains, () => goalOf(request)) &&
    hasAll(when.system_contains, () => messages.find(({ role }) => role === "system")?.text ?? "") &&
    hasAll(when.last_contains, () => last?.text ?? "") &&
    when.any_contains.every((part) => texts.some((text) => text.includes(part))) &&
    (when.last_tool_contains.length === 0 || (isResult && hasAll(when.last_tool_contains, () => last.text))) &&
    (when.last_tool === null || (isResult && last.tool === when.last_tool)) &&
    isWithin(when.step, stepOf(request)) &&
    offers(when.tools, request.tools) &&
    isAsked(when.constraint, request.constraint) &&
    (when.thinking === null || when.thinking === request.thinking) &&
    (when.stream === null || when.stream === request.stream) &&
    (when.max_tokens === null || (request.max_tokens !== null && isWithin(when.max_tokens, request.max_tokens))) &&
    isWithin(when.request, numbers[count]) &&
    (when.matches === null || when.matches.test(texts.join("\n")))
  );
}

function hasAll(wanted: readonly string[], text: () => string): boolean {
  return wanted.length === 0 || wanted.every((part) => text().includes(part));
}

function isWithin(range: Range | null, value: number): boolean {
  return range === null || ((range.min === null || value >= range.min) && (range.max === null || value <= range.max));
}

function offers(wanted: When["tools"], tools: readonly string[]): boolean {
  if (wanted === null) return true;
  return typeof wanted === "string" ? tools.includes(wanted) : tools.length > 0 === wanted;
}

function isAsked(wanted: When["constraint"], asked: AskedForm): boolean {
  return wanted === null || wanted === asked || (wanted === "any" && asked !== "none");
}
