/** Runs the cases of operation "stamp": a list as finalize rewrites it. */
import type { JsonValue } from "../../src/core/json/value.ts";
import { stampList } from "../../src/core/record/stamp.ts";

/** @returns what the case should expect; undefined when the operation is another */
export function run(op: string, input: unknown): unknown {
  if (op !== "stamp") return undefined;
  const { agent, recorded } = input as { agent: readonly JsonValue[]; recorded: readonly string[] | null };
  return { list: stampList(agent, recorded) };
}
