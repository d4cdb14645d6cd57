/** Runs the cases of area "delegation-lint". */

import type { Document } from "../../src/core/delegation/document.ts";
import { lintContract } from "../../src/core/delegation/lint.ts";
import type { JsonObject } from "../../src/core/json/value.ts";

type Input = {
  readonly contract: {
    readonly goal: string;
    readonly context?: readonly Document[];
    readonly acceptance?: readonly string[];
    readonly output_schema?: JsonObject;
  };
};

/** @returns what the case should expect; undefined when it names an operation, which this area has not */
export function run(op: string, input: unknown): unknown {
  if (op !== "") return undefined;
  const { goal, context = [], acceptance = [], output_schema = null } = (input as Input).contract;
  const found = lintContract({ goal, context, acceptance, output_schema });
  return {
    codes: [...new Set(found.map(({ code }) => code))].sort(),
    warnings: found.map(({ code, check }) => (check === undefined ? { code } : { code, check })),
  };
}
