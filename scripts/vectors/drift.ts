/** Runs the cases of area `drift`: what a name says, and the guards of a correction. */
import { type DriftInput, evaluateDrift } from "../../src/core/context/drift.ts";
import { isWhatName } from "../../src/core/context/name.ts";

/** @returns what the case should expect; undefined when the operation is not of this area */
export function run(op: string, input: unknown): unknown {
  switch (op) {
    case "is_what_key":
      return { what: isWhatName((input as { name: string }).name) };
    case "drift_guards": {
      const { applies, failed } = evaluateDrift(input as DriftInput);
      return { applies, failed: failed.toSorted() };
    }
    default:
      return undefined;
  }
}
