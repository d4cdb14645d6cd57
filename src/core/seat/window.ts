/**
 * How much a conversation may be: the window of a seat, what of it is kept for the answer, and what a text takes.
 *
 * Source: delegation run, sections 2.3 (completion budgets) and 5.6
 */
import { utf8Length } from "../utf8.ts";
import type { ChatMessage, ToolSpec } from "./endpoint.ts";
import { LOOP_LIMITS } from "./limits.ts";

/** Completion budgets of a seat with a window; null is a window that is not known. */
export function completionBudgets(
  seat: { readonly step_tokens: number; readonly final_tokens: number },
  ctx: number | null,
): { readonly step_tokens: number; readonly final_tokens: number } {
  const { step_tokens, final_tokens } = seat;
  if (ctx === null) return { step_tokens, final_tokens };
  return {
    step_tokens: Math.max(1, Math.min(step_tokens, Math.floor(ctx / 4))),
    final_tokens: Math.max(1, Math.min(final_tokens, Math.floor(ctx / 2))),
  };
}

/**
 * Tokens that the messages of one request may have; null where the window is not known, and then there is no budget.
 *
 * @param tool_tokens what the specifications of the offered tools take
 */
export function inputBudget(ctx: number | null, max_tokens: number, tool_tokens: number): number | null {
  if (ctx === null) return null;
  return Math.max(0, Math.floor(ctx - max_tokens - Math.min(512, ctx / 16) - tool_tokens));
}

/** Characters that one tool result keeps. `ceiling`: of the config, in tokens, and it only narrows; 0 for none. */
export function observationCap(budget: number | null, ceiling: number): number {
  const { least_observation, read_bytes } = LOOP_LIMITS;
  const byWindow = budget === null ? read_bytes : Math.max(least_observation, Math.floor((budget * 3) / 2));
  // Three bytes are a token wherever nothing better is known.
  return Math.min(byWindow, read_bytes, ceiling > 0 ? ceiling * 3 : read_bytes);
}

/** The estimate of a text's tokens that needs no server. */
export function estimateTokens(text: string): number {
  return tokensOfBytes(utf8Length(text));
}

export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / 3);
}

/** The text of a message that a model reads. */
export function messageText(message: ChatMessage): string {
  if (message.role !== "assistant" || message.tool_calls === undefined) return message.content;
  const calls = message.tool_calls.map(({ function: { name, arguments: given } }) => `${name}${given}`);
  return `${message.content}${calls.join("")}`;
}

/** Bytes of all messages, as far as a model reads them. */
export function messageBytes(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + utf8Length(messageText(message)), 0);
}

export function toolBytes(tools: readonly ToolSpec[]): number {
  return tools.reduce((sum, tool) => sum + utf8Length(JSON.stringify(tool)), 0);
}

/** What the last usage said of the estimate, within the bounds in which it can be believed. */
export function calibrate(prompt_tokens: number, estimated: number): number {
  return estimated > 0 ? Math.min(2, Math.max(0.7, prompt_tokens / estimated)) : 1;
}

/** Cuts the middle out of a text that has more than so many characters, and says how much. */
export function cutMiddle(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const cut = text.length - characters;
  const mark = `\n[… ${cut} characters cut …]\n`;
  const head = Math.ceil(characters / 2);
  return `${text.slice(0, wholeAt(text, head))}${mark}${text.slice(wholeAt(text, text.length - (characters - head)))}`;
}

/** The place itself, or one further where it would split a pair. */
function wholeAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}
