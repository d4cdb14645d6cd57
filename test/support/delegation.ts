/** Tools that delegate, called in a world in which nothing but a script happens. */
import { mergeConfig } from "../../src/core/config/merge.ts";
import { readConfig } from "../../src/core/config/read.ts";
import { WritError } from "../../src/core/error.ts";
import type { JsonObject } from "../../src/core/json/value.ts";
import { openDelegation } from "../../src/mcp/delegation.ts";
import { type Progress, refused, type Tool, type ToolAnswer } from "../../src/mcp/tool.ts";
import { manualClock } from "./manual-clock.ts";
import { type Script, scriptedWorld } from "./scripted-place.ts";

type Ask = {
  readonly signal?: AbortSignal;
  /** Gets what a client would be told. */
  readonly told?: Progress[];
};

/** @param config the keys that matter; seats and nodes are those of the script's places */
export function scriptedDelegation(script: Script, config: object = {}, readRoot = "/") {
  const clock = manualClock();
  const made = scriptedWorld(script, clock);
  const remotes = made.remotes.map(({ url }) => ({ url }));
  const seats = [
    { name: "pool", base_url: "http://127.0.0.1:1", model: "m", engine: "openai", ctx_tokens: 8192, slots: 2 },
  ];
  const merged = mergeConfig(readConfig(JSON.stringify({ seats, remotes, ...config })), {});
  if (!merged.ok) throw new Error(JSON.stringify(merged.issues));
  const delegation = openDelegation(merged.config, async () => made.world);
  const start = (tool: Tool, args: unknown, { signal = new AbortController().signal, told }: Ask = {}) => {
    const server = { readRoot, isReadRootGiven: false, delegation };
    const text = typeof args === "string" ? args : JSON.stringify(args);
    const progress = told === undefined ? null : (each: Progress) => void told.push(each);
    return tool.run({ server, arguments: text, signal, progress }).catch((error: unknown) => {
      if (error instanceof WritError) return refused(error);
      throw error;
    });
  };
  return {
    ...made,
    clock,
    calls: delegation.calls,
    /** Begins a call and leaves it to itself. */
    start,
    /** Calls a tool and lets time go on until it answers. */
    call: (tool: Tool, args: unknown, ask?: Ask) => clock.drive(start(tool, args, ask)),
  };
}

/** The object of an answer, which its text says as well. */
export function objectOf({ text, value }: ToolAnswer): JsonObject {
  if (value === null || JSON.stringify(JSON.parse(text)) !== JSON.stringify(value))
    throw new Error(`not one object: ${text}`);
  return value;
}
