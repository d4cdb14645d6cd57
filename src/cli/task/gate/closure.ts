/** What a gate answers with, and what followed for its task. */
import type { JsonObject } from "../../../core/json/value.ts";
import type { DerivedClosure, Settled } from "../../../task/gate.ts";
import type { Output } from "../../command.ts";

/** Prints the gate and what followed; a derivation that failed is talk, since the gate stands. */
export function printSettled(out: Output, json: boolean, { gate, derived_closure }: Settled, line: string): number {
  const { error } = derived_closure;
  if (error !== null) out.talk(`Warning: the gate stands, and task ${gate.task_id} could not follow: ${error.message}`);
  if (json) out.document({ ok: true, ...gate, derived_closure: documentOf(derived_closure) });
  else {
    out.line(line);
    const follows = followLine(derived_closure);
    if (follows !== null) out.line(follows);
  }
  return 0;
}

function documentOf({ error, ...closure }: DerivedClosure): JsonObject {
  const { code, path, message, hint } = error ?? {};
  return {
    ...closure,
    error:
      error === null
        ? null
        : { code: code ?? "internal", path: path ?? null, message: message ?? "", hint: hint ?? null },
  };
}

function followLine({ task_id, outcome, after }: DerivedClosure): string | null {
  switch (outcome) {
    case "moved":
      return `task id=${task_id} ${after}`;
    case "producer":
      return `task id=${task_id} stays ${after}: the settling turn worked on it`;
    case "skipped":
      return `task id=${task_id} stays skipped`;
    case "unchanged":
    case "failed":
      return null;
    default:
      return outcome satisfies never;
  }
}
