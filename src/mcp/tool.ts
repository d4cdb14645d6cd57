/** What a tool is: one file a tool, which exports it as `tool`; the server lists and calls them. */

import { errorDocument } from "../cli/print.ts";
import { exitOf, type WritError } from "../core/error.ts";
import type { JsonObject, JsonValue } from "../core/json/value.ts";
import type { Delegation } from "./delegation.ts";

export type Tool = {
  readonly name: string;
  /** What a model reads: what it does, when to call it, what it answers. */
  readonly description: string;
  /** The JSON Schema that clients see; the arguments are read by `read`, with every problem at once. */
  readonly inputSchema: JsonObject & { readonly type: "object" };
  /** What a client may take for granted: it changes nothing here; it reaches other machines or models. */
  readonly reads: boolean;
  readonly reachesOut?: boolean;
  /** Errors: a `WritError` becomes an answer with `isError`; anything else that is thrown is a defect. */
  run(call: ToolCall): Promise<ToolAnswer>;
};

/** What holds for the whole life of a server. */
export type ServerSetting = {
  /** Where `context_paths` are read: `--read-root`, else the working folder. Absolute. */
  readonly readRoot: string;
  /** `--read-root` was given: a call may narrow it and do nothing else. */
  readonly isReadRootGiven: boolean;
  /** Null where delegation is switched off. */
  readonly delegation: Delegation | null;
};

export type ToolCall = {
  readonly server: ServerSetting;
  /** The arguments as they were written: a JSON text, of any kind. */
  readonly arguments: string;
  /** Aborted when the client cancels the call, or the server ends. */
  readonly signal: AbortSignal;
  /** Tells how far it is; null where the client did not ask. Never waits. */
  readonly progress: ((done: Progress) => void) | null;
};

/** `progress` grows with each. */
export type Progress = { readonly progress: number; readonly total: number; readonly message: string };

export type ToolAnswer = {
  /** JSON: what the command prints with `--json`. */
  readonly text: string;
  /** The same as a value, where it is an object. */
  readonly value: JsonObject | null;
  readonly isError: boolean;
  /** What the command says on standard error, line by line. */
  readonly talk: readonly string[];
};

/** A document as an answer. */
export function answered(value: JsonObject, isError: boolean, talk: readonly string[] = []): ToolAnswer {
  return { text: JSON.stringify(value), value, isError, talk };
}

/** A JSON value that is the product itself. */
export function produced(value: JsonValue, talk: readonly string[] = []): ToolAnswer {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return { text: JSON.stringify(value), value: isObject ? (value as JsonObject) : null, isError: false, talk };
}

/** An error as an answer: the object that the command prints. */
export function refused(error: WritError, talk: readonly string[] = []): ToolAnswer {
  return answered(errorDocument(error), exitOf(error.code) !== 0, talk);
}
