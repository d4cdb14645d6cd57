/** What a close says beside its answer: what was skipped, what weakens a claim, and why it is no close. */
import { counted } from "../../core/counted.ts";
import { ADVICE_CODES } from "../../core/record/advice.ts";
import type { Issue } from "../../core/result.ts";
import type { CheckedClaims, Incomplete } from "../../editor/finalize.ts";
import type { Output } from "../command.ts";

/** What `--strict` does, for the help of the two verbs that take it. */
export const STRICT_TEXT = `Refuse on advice too (${ADVICE_CODES.join(", ")}); what was skipped never refuses`;

/** Each advice on a line of its own, and what to do about it under it. */
export function talkAdvice(out: Output, advice: readonly Issue[]): void {
  for (const issue of advice) {
    out.talk(`[ADVICE ${issue.code}] ${issue.message}`);
    if (issue.hint !== null) out.talk(`    ${issue.hint}`);
  }
}

/** For a person: each claim that was not compared, each advice, and the sum, where there is anything to say. */
export function talkVerdict(out: Output, advice: readonly Issue[], { held, skipped, unheld }: CheckedClaims): void {
  for (const { reason, path, key } of skipped) {
    out.talk(`[SKIPPED ${reason}] ${path}${key === undefined ? "" : ` (key ${JSON.stringify(key)})`}`);
  }
  talkAdvice(out, advice);
  if (unheld !== null) out.talk(`[NOTE] "pass" was held against nothing that ran: ${UNHELD[unheld]}`);
  if (skipped.length + advice.length > 0) {
    out.talk(`${counted(held, "claim")} held, ${skipped.length} skipped, ${advice.length} advised`);
  }
}

const UNHELD: Readonly<Record<NonNullable<CheckedClaims["unheld"]>, string>> = {
  no_record: "nothing was recorded in this turn; writ run -- CMD records a command",
  no_command: "the verification names no command",
};

/** Why a finalize keeps a checkpoint, and what makes it a close. */
export function talkUnclosed(out: Output, draftId: string, incomplete: Incomplete | null): void {
  const close =
    incomplete === null
      ? { agent_status: { agent_state: "COMPLETE", next_action: "done" } }
      : {
          agent_status: { agent_state: "BLOCKED", next_action: "..." },
          ...(incomplete.isRefuted ? { evidence_report: { verification: { result: "fail" } } } : {}),
        };
  const how =
    incomplete === null
      ? ". Set it last, here to COMPLETE"
      : `, and COMPLETE would be refused: ${incomplete.why}. Mend that, or close as it stands`;
  out.talk(
    `Not closed: agent_status.agent_state is IN_PROGRESS${how}: writ contract fill --draft-id ${draftId} --json '${JSON.stringify(close)}'`,
  );
}
