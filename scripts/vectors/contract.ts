/** Computes what the vectors of area `contract` expect, from the code that the product runs. */
import { canonicalize } from "../../src/core/contract/canonicalize.ts";
import type { Links } from "../../src/core/contract/chain.ts";
import { initialEnvelope } from "../../src/core/contract/envelope.ts";
import { closeGate } from "../../src/core/contract/gates.ts";
import { type Mutation, mutate } from "../../src/core/contract/mutate.ts";
import { codesOf } from "../../src/core/contract/rejection.ts";
import { repair } from "../../src/core/contract/repair.ts";
import { validate } from "../../src/core/contract/validate.ts";
import { parseValue } from "../../src/core/contract/value.ts";
import { exitOf, type WritError } from "../../src/core/error.ts";
import { parseJson } from "../../src/core/json/parse.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";

/** @returns what the case expects, or `undefined` for an operation that is not of this room */
export function run(op: string, input: unknown): unknown | undefined {
  switch (op) {
    case "validate":
      return validated(input as { envelope: JsonValue });
    case "sequence":
      return sequence(input as Sequence);
    case "canonicalize": {
      const { envelope, changed } = canonicalize((input as { envelope: JsonValue }).envelope);
      return { envelope, changed: changed.length > 0 };
    }
    case "repair": {
      const { envelope, lines } = repair((input as { envelope: JsonValue }).envelope);
      return { envelope, changed: lines.length > 0 };
    }
    case "finalize_gates":
      return finalizeGates(input as FinalizeGates);
    default:
      return undefined;
  }
}

function validated({ envelope }: { envelope: JsonValue }): unknown {
  const issues = validate(envelope);
  const errors = issues.map((issue) => [issue.code, issue.path ?? ""] as const);
  errors.sort(([leftCode, leftField], [rightCode, rightField]) =>
    leftCode === rightCode ? order(leftField, rightField) : order(leftCode, rightCode),
  );
  return { ok: issues.length === 0, errors };
}

function order(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

type Step =
  | { readonly verb: "set" | "add"; readonly field: string; readonly value: string }
  | { readonly verb: "fill"; readonly patch: JsonValue }
  | { readonly verb: "fill"; readonly text: string };

type Sequence = { readonly agent_id: string; readonly draft: JsonObject | null; readonly steps: readonly Step[] };

function sequence({ agent_id, draft, steps }: Sequence): unknown {
  let envelope = draft ?? initialEnvelope(agent_id);
  const outcomes: unknown[] = [];
  for (const step of steps) {
    const { outcome, envelope: next } = take(envelope, step);
    outcomes.push(outcome);
    envelope = next;
  }
  return { steps: outcomes, draft: envelope };
}

function take(envelope: JsonObject, step: Step): { outcome: unknown; envelope: JsonObject } {
  const mutation = mutationOf(step);
  if ("fault" in mutation) return { outcome: { kind: "error", error: mutation.fault }, envelope };
  const mutated = mutate(repair(envelope).envelope, mutation);
  if (!mutated.ok) return { outcome: refusal(mutated.error), envelope };
  const issues = validate(mutated.envelope);
  if (issues.length > 0) return { outcome: { kind: "rejected", codes: codesOf(issues).toSorted() }, envelope };
  return { outcome: { kind: "ok" }, envelope: canonicalize(mutated.envelope).envelope };
}

function mutationOf(step: Step): Mutation | { readonly fault: string } {
  if (step.verb === "fill") {
    if ("patch" in step) return step;
    const body = parseJson(step.text);
    return body.ok ? { verb: "fill", patch: body.value } : { fault: body.fault.code };
  }
  const value = parseValue(step.value);
  return value.ok ? { verb: step.verb, field: step.field, value: value.value } : { fault: value.fault.code };
}

function refusal(error: WritError): unknown {
  return error.status === "refused"
    ? { kind: "refused", reason: error.code, collisions: error.details.collisions }
    : { kind: "error", error: error.code };
}

type FinalizeGates = {
  readonly draft_id: string;
  readonly envelope: JsonObject;
  readonly chain: readonly Links[];
  readonly plan_task_id: number | null;
  readonly consolidation: boolean;
};

function finalizeGates(input: FinalizeGates): unknown {
  const issues = validate(input.envelope);
  if (issues.length > 0) return { code: "validation", codes: codesOf(issues).toSorted(), exit: exitOf("validation") };
  const decision = closeGate(input);
  switch (decision.outcome) {
    case "refuse": {
      const { code, issues: found } = decision.error;
      return { code, exit: exitOf(code), ...(code === "validation" ? { codes: codesOf(found).toSorted() } : {}) };
    }
    case "checkpoint":
      return { code: null, exit: 0, status: "checkpointed", cut_reason: "never_finalized" };
    case "close":
      return {
        code: null,
        exit: 0,
        status: "finalized",
        agent_state: decision.state,
        cut_reason: null,
        conclusion: decision.conclusion,
        conclusion_alias: decision.conclusion_alias,
      };
    default:
      return decision satisfies never;
  }
}
