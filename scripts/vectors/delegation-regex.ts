/** Runs the conformance vectors of the area `delegation-regex`: one operation, without a name. */
import { compilePattern } from "../../src/core/pattern/re2.ts";

/** What a pattern finds in a text, as a vector's `expect` spells it; undefined for an operation of another area. */
export function run(op: string, input: unknown): unknown | undefined {
  if (op !== "") return undefined;
  const { pattern: source, text } = input as { readonly pattern: string; readonly text: string };
  const compiled = compilePattern(source);
  if (!compiled.ok) return { result: "invalid" };
  const first = compiled.pattern.first(text);
  // The two ways to ask go through different engines of the library.
  if ((first !== null) !== compiled.pattern.test(text)) return { result: "torn" };
  return first === null ? { result: "no-match" } : { result: "match", first };
}
