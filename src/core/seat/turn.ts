/**
 * What one answer of a model comes to: calls to carry out, a final answer, the same step asked again in another way, or
 * the end of the run.
 *
 * Source: delegation run, sections 5.4 and 5.5
 */
import { isBlank, trimBlank } from "../delegation/blank.ts";
import type { JsonObject } from "../json/value.ts";
import { valueAt } from "../json/value.ts";
import { utf8Length } from "../utf8.ts";
import { NO_ARGUMENTS, type ReadArguments, readArguments } from "./arguments.ts";
import { degenerateRun } from "./degenerate.ts";
import type { Completion, ReceivedCall, SentCall, ToolSpec } from "./endpoint.ts";
import { splitThinking } from "./final-text.ts";
import { LOOP_LIMITS } from "./limits.ts";
import { callsInText } from "./markup.ts";
import { NOTES } from "./prompt.ts";
import {
  callCutTwice,
  type Defer,
  emptyAnswer,
  incoherent,
  stepsOver,
  unparsedToolCall,
  unreadableCalls,
} from "./reasons.ts";
import { findLoop, trimmedLoop } from "./repetition.ts";
import { specOf } from "./tool-specs.ts";

/** A call as it will stand in the history, and what is to be done about it. */
export type PlannedCall = {
  readonly sent: SentCall;
  /** As the seat wrote it; in `sent` it is spelled as every server takes it back. */
  readonly name: string;
  /** As the seat wrote them, for telling repeats. */
  readonly given: string;
  readonly plan:
    | { readonly kind: "run"; readonly values: JsonObject; readonly notes: readonly string[] }
    | { readonly kind: "refuse"; readonly message: string }
    | { readonly kind: "unknown" };
};

export type FinalAnswer = {
  readonly text: string;
  readonly stop_reason: "done" | "finish" | "forced_final" | "repetition";
  readonly isTruncated: boolean;
};

/** Why a step is asked again. Each may happen once in a step, but for what the server could not read. */
export type Again = "call_cut" | "answer_cut" | "thinking_off" | "empty" | "unparsed" | "repetition" | "unreadable";

export type Decision =
  /** `answer`: the seat finished with these calls; those in front of `finish` are carried out first. */
  | {
      readonly kind: "calls";
      readonly content: string;
      readonly calls: readonly PlannedCall[];
      readonly answer: FinalAnswer | null;
      readonly isFromText: boolean;
    }
  | { readonly kind: "answer"; readonly answer: FinalAnswer }
  | { readonly kind: "again"; readonly why: Again; readonly note: string | null }
  | { readonly kind: "stop"; readonly defer: Defer };

/** Where the run stands when an answer is judged. */
export type Standing = {
  readonly step: number;
  /** The answer was demanded: no tools were sent. */
  readonly isFinal: boolean;
  readonly offered: readonly ToolSpec[];
  /** Of the request. */
  readonly max_tokens: number;
  readonly step_tokens: number;
  readonly final_tokens: number;
  readonly thinking: "auto" | "on" | "off";
  /** How often this step was asked again so far, by why. */
  readonly again: ReadonlyMap<Again, number>;
  /** Corrective requests that the run has left. */
  readonly corrections: number;
  /** Ids of calls that stand in the conversation. */
  readonly usedIds: ReadonlySet<string>;
};

/** The kinds of asking again that are corrections: they take from the run's own small number. */
export function isCorrection(why: Again): boolean {
  return why === "empty" || why === "unparsed" || why === "repetition" || why === "unreadable";
}

/**
 * Judges one answer.
 *
 * Errors: none, whatever the model wrote; time is linear in it
 */
export function judgeTurn(completion: Completion, standing: Standing): Decision {
  const { answer: content, hasReasoning } = splitThinking(completion.content);
  const text = { content, hasReasoning: hasReasoning || !isBlank(completion.reasoning), completion };
  const names = standing.offered.map(({ name }) => name);
  const known = standing.isFinal ? [] : names;
  if (completion.calls.length > 0) {
    return judgeCalls(completion.calls, text, standing, false);
  }
  const read = callsInText(content, known);
  if (read.kind === "none") return judgeAnswer(content, text, standing);
  if (read.kind === "calls") return judgeCalls(read.calls, { ...text, content: read.rest }, standing, true);
  if (completion.is_cut) return judgeCutCall(null, standing);
  return askAgain("unparsed", standing.isFinal ? NOTES.calls_over : NOTES.unparsed_call, standing, () =>
    unparsedToolCall(),
  );
}

/**
 * Judges what a server says that could not read the arguments of the model's own call.
 *
 * @param is_cut it misses their end
 */
export function judgeUnreadable(is_cut: boolean, message: string, standing: Standing): Decision {
  if (is_cut) return judgeCutCall(null, standing);
  const count = standing.again.get("unreadable") ?? 0;
  if (standing.corrections === 0) return { kind: "stop", defer: unreadableCalls(message) };
  // The same request would bring the same answer.
  const more = count === 0 ? "" : "; take another way to say it";
  return { kind: "again", why: "unreadable", note: `the arguments of your last call were not valid JSON${more}` };
}

type Text = {
  readonly content: string;
  readonly hasReasoning: boolean;
  /** There is nothing but calls, which are not wanted any more. */
  readonly hasCalls?: boolean;
  readonly completion: Completion;
};

function judgeCalls(received: readonly ReceivedCall[], text: Text, standing: Standing, isFromText: boolean): Decision {
  const calls = received.slice(0, LOOP_LIMITS.answered_calls_per_turn).map((call) => ({
    call,
    read: readArguments(call.arguments, specOf(call.name) ?? ANY_TOOL, text.completion.is_cut),
  }));
  const cut = calls.find(({ read }) => read.kind === "cut");
  if (cut !== undefined) return judgeCutCall(cut.call, standing);
  const planned = planCalls(calls, standing);
  const finish = planned.findIndex(({ name, plan }) => name === "finish" && plan.kind === "run");
  const finishing = finish < 0 || finish >= LOOP_LIMITS.calls_per_turn ? undefined : planned[finish];
  if (finishing?.plan.kind === "run") {
    const given = valueAt(finishing.plan.values, "answer");
    const answer = typeof given === "string" && !isBlank(given) ? given : text.content;
    const judged = judgeAnswer(answer, { ...text, completion: { ...text.completion, is_cut: false } }, standing);
    if (judged.kind !== "answer") return judged;
    const stop_reason = judged.answer.stop_reason === "done" ? "finish" : judged.answer.stop_reason;
    const calls = standing.isFinal ? [] : planned.slice(0, finish);
    return { kind: "calls", content: text.content, calls, answer: { ...judged.answer, stop_reason }, isFromText };
  }
  // Calls in an answer that was demanded are passed over: what it says beside them counts.
  if (standing.isFinal) return judgeAnswer(text.content, { ...text, hasCalls: true }, standing);
  return { kind: "calls", content: text.content, calls: planned, answer: null, isFromText };
}

const ANY_TOOL: ToolSpec = { name: "tool", description: "", parameters: { type: "object", properties: {} } };

type ReadCall = { readonly call: ReceivedCall; readonly read: ReadArguments };

function planCalls(calls: readonly ReadCall[], { step, usedIds }: Standing): readonly PlannedCall[] {
  const ids = new Set(usedIds);
  return calls.map(({ call, read }, index) => {
    let id = call.id ?? "";
    if (id === "" || ids.has(id)) id = `call_${step}_${index + 1}`;
    while (ids.has(id)) id = `${id}_`;
    ids.add(id);
    const sent: SentCall = {
      id,
      type: "function",
      function: { name: sentName(call.name), arguments: read.kind === "cut" ? NO_ARGUMENTS : read.sent },
    };
    return { sent, name: call.name, given: call.arguments, plan: planOf(call.name, read) };
  });
}

function planOf(name: string, read: ReadArguments): PlannedCall["plan"] {
  if (specOf(name) === null) return { kind: "unknown" };
  if (read.kind === "ok") return { kind: "run", values: read.values, notes: read.notes };
  return { kind: "refuse", message: read.kind === "refused" ? read.message : "" };
}

/** A name as every server takes it back. */
function sentName(name: string): string {
  const plain = name.slice(0, 64).replace(/[^A-Za-z0-9_-]/g, "_");
  return plain === "" ? "unknown" : plain;
}

function judgeCutCall(call: ReceivedCall | null, standing: Standing): Decision {
  if (standing.again.has("call_cut")) {
    const { step_tokens, final_tokens } = standing;
    const bytes = call === null ? null : utf8Length(call.arguments);
    return { kind: "stop", defer: callCutTwice({ tool: call?.name ?? null, bytes, step_tokens, final_tokens }) };
  }
  const canEdit = standing.offered.some(({ name }) => name === "edit_file");
  return { kind: "again", why: "call_cut", note: canEdit ? NOTES.call_cut_edit : NOTES.call_cut };
}

function judgeAnswer(content: string, text: Text, standing: Standing): Decision {
  const { completion } = text;
  const answer = trimBlank(content);
  const broken = degenerateRun(answer === "" ? completion.reasoning : answer);
  if (broken !== null) return { kind: "stop", defer: incoherent(broken) };
  if (answer === "") return judgeEmpty(text, standing);
  const stop_reason = standing.isFinal ? "forced_final" : "done";
  const loop = findLoop(answer, completion.is_cut);
  if (loop !== null) {
    if (!standing.again.has("repetition") && standing.corrections > 0) {
      return { kind: "again", why: "repetition", note: NOTES.repetition };
    }
    return {
      kind: "answer",
      answer: { text: trimmedLoop(loop), stop_reason: "repetition", isTruncated: true },
    };
  }
  if (completion.is_cut && canGrow(standing)) return { kind: "again", why: "answer_cut", note: null };
  return { kind: "answer", answer: { text: answer, stop_reason, isTruncated: completion.is_cut } };
}

function canGrow({ again, max_tokens, final_tokens }: Standing): boolean {
  return !again.has("answer_cut") && max_tokens < final_tokens;
}

function judgeEmpty({ hasReasoning, hasCalls = false, completion }: Text, standing: Standing): Decision {
  const { again, thinking, isFinal, step } = standing;
  if (hasReasoning && thinking === "auto") return { kind: "again", why: "thinking_off", note: null };
  if (completion.is_cut && canGrow(standing)) return { kind: "again", why: "answer_cut", note: null };
  const reasoned = hasReasoning || (completion.usage?.reasoning_tokens ?? 0) > 0;
  const end = () =>
    isFinal ? stepsOver(step) : emptyAnswer(reasoned && completion.is_cut ? "reasoning_starved" : "empty");
  if (again.has("thinking_off")) return { kind: "stop", defer: end() };
  return askAgain("empty", hasCalls ? NOTES.calls_over : NOTES.empty, standing, end);
}

/** A correction, where the step and the run still have one; else the end. */
function askAgain(why: Again, note: string, { again, corrections }: Standing, end: () => Defer): Decision {
  return again.has(why) || corrections === 0 ? { kind: "stop", defer: end() } : { kind: "again", why, note };
}
