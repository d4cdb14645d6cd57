/** The outcomes of an answer's checks as its contract can have them: the judge's, but for what no answer can close. */
import { isUnreachable } from "../acceptance/authority.ts";
import { evaluateChecks, type Outcome } from "../acceptance/evaluate.ts";
import type { Answer } from "../acceptance/evidence.ts";
import { parseCheck } from "../acceptance/parse.ts";
import { oneLine } from "../acceptance/quoting.ts";
import type { DelegationContract } from "./contract.ts";

/** Errors: none */
export function evaluateAnswer(contract: DelegationContract, answer: Answer): readonly Outcome[] {
  const lines = contract.acceptance;
  return evaluateChecks(lines, answer).map((outcome, index) => outOfReach(outcome, lines[index] ?? "", contract));
}

/** A check that no seat can close is unknown, also where an answer brings a field that the schema never asked for. */
function outOfReach(outcome: Outcome, line: string, contract: DelegationContract): Outcome {
  const parsed = parseCheck(line);
  if (!parsed.ok || outcome.authority !== "field" || !isUnreachable(parsed.check, contract)) return outcome;
  const { check, verb, authority } = outcome;
  const reason = `${oneLine(check)}: unknown at field authority: the schema does not declare this field`;
  return { check, verb, authority, outcome: "unknown", reason };
}
