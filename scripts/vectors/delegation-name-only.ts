/** Runs the cases of area "delegation-name-only". */
import { judgeNameOnly } from "../../src/core/delegation/name-only.ts";
import { readSource, type SourceNode } from "../../src/core/json/source.ts";

/** @returns what the case should expect; undefined when it names an operation, which this area has not */
export function run(op: string, input: unknown): unknown {
  if (op !== "") return undefined;
  const sets = input as { readonly old: unknown; readonly new: unknown };
  return { exempt: judgeNameOnly(sourceOf(sets.old), sourceOf(sets.new)).exempt };
}

function sourceOf(value: unknown): SourceNode {
  const read = readSource(JSON.stringify(value));
  if (!read.ok) throw new Error(read.fault.message);
  return read.node;
}
