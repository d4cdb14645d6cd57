/** The conversation with a seat as the loop keeps it: what was asked, and turn by turn what was called and came of it. */
import type { ChatMessage, SentCall } from "./endpoint.ts";

export type ToolResult = {
  readonly call_id: string;
  readonly tool: string;
  readonly text: string;
  /** How much of it is left: all; a word on the later result that says the same; head and tail; a word that it was there. */
  readonly state: "whole" | "reference" | "ends" | "marker";
  /** Of a reference, the result that says the same. */
  readonly same_as?: string;
  /** Cut only when nothing else is left to cut. */
  readonly isPinned: boolean;
};

/** One turn of the seat with calls: a result for each call, in their order. */
export type Turn = {
  /** 0: reads that were made for the seat before its first turn. */
  readonly step: number;
  readonly content: string;
  readonly calls: readonly SentCall[];
  readonly results: readonly ToolResult[];
};

export type History = {
  readonly system: string;
  readonly user: string;
  readonly turns: readonly Turn[];
};

/**
 * The messages of a request.
 *
 * @param note what is said behind the conversation this once; null for nothing
 */
export function messagesOf({ system, user, turns }: History, note: string | null): readonly ChatMessage[] {
  const messages: ChatMessage[] = [
    { role: "system", content: system },
    { role: "user", content: user },
  ];
  for (const { content, calls, results } of turns) {
    messages.push({ role: "assistant", content, tool_calls: calls });
    for (const { call_id, text } of results) messages.push({ role: "tool", tool_call_id: call_id, content: text });
  }
  if (note !== null) messages.push({ role: "user", content: note });
  return messages;
}
