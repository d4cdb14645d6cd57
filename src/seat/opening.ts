/**
 * How the conversation of a job begins: the task, and the documents where they are few enough to be read for the seat.
 *
 * Source: delegation run, sections 5.2 and 5.12
 */
import type { DelegationContract } from "../core/delegation/contract.ts";
import type { TraceEntry } from "../core/delegation/wire-result.ts";
import type { SentCall, ToolSpec } from "../core/seat/endpoint.ts";
import type { History, ToolResult, Turn } from "../core/seat/history.ts";
import { singleShotMessage, systemMessage, userMessage } from "../core/seat/prompt.ts";
import { utf8Length } from "../core/utf8.ts";
import type { Conversation } from "./conversation.ts";
import type { Toolbox } from "./toolbox.ts";

/** @param tools none in single-shot mode */
export function openingOf(contract: DelegationContract, tools: readonly ToolSpec[]): History {
  const user = tools.length === 0 ? singleShotMessage(contract) : userMessage(contract);
  return { system: systemMessage(tools, contract.write_root), user, turns: [] };
}

export type Seeded = { readonly turn: Turn; readonly trace: readonly TraceEntry[] };

/**
 * The reads of all documents, as if the seat had asked for them. They cost no step and are cut last.
 *
 * @param budget tokens for the messages of a step; null where the window is not known
 * @returns      null where there are none, or where they take more than half of it
 */
export async function seedReads(
  contract: DelegationContract,
  room: { readonly budget: number | null; readonly characters: number },
  parts: { readonly conversation: Conversation; readonly toolbox: Toolbox; readonly signal: AbortSignal },
): Promise<Seeded | null> {
  const { conversation, toolbox, signal } = parts;
  if (contract.context.length === 0) return null;
  const calls: SentCall[] = [];
  const results: ToolResult[] = [];
  const trace: TraceEntry[] = [];
  let bytes = 0;
  for (const [index, { name }] of contract.context.entries()) {
    const id = `seed_${index + 1}`;
    const values = { path: name };
    const { text, status } = await toolbox.call("read_file", values, room.characters, signal);
    bytes += utf8Length(text);
    if (room.budget !== null && conversation.tokensOf(bytes) > room.budget / 2) return null;
    calls.push({ id, type: "function", function: { name: "read_file", arguments: JSON.stringify(values) } });
    results.push({ call_id: id, tool: "read_file", text, state: "whole", isPinned: true });
    trace.push({ step: 0, tool: "read_file", status, obs_chars: text.length, seeded: true });
  }
  return { turn: { step: 0, content: "", calls, results }, trace };
}
