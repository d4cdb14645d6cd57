/** Runs the cases of area "delegation-speed-scan". */
import { speedTerm } from "../../src/core/delegation/speed.ts";

/** @returns what the case should expect; undefined when it names an operation, which this area has not */
export function run(op: string, input: unknown): unknown {
  if (op !== "") return undefined;
  return { speed_term: speedTerm((input as { check: string }).check) !== null };
}
