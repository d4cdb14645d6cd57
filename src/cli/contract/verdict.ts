/** What a close says beside its answer: what was skipped, what weakens a claim, and why it is no close. */
import { ADVICE_CODES } from "../../core/record/advice.ts";
import type { Issue } from "../../core/result.ts";
import type { CheckedClaims } from "../../editor/finalize.ts";
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
export function talkVerdict(out: Output, advice: readonly Issue[], { held, skipped }: CheckedClaims): void {
  for (const { reason, path, key } of skipped) {
    out.talk(`[SKIPPED ${reason}] ${path}${key === undefined ? "" : ` (key ${JSON.stringify(key)})`}`);
  }
  talkAdvice(out, advice);
  if (skipped.length + advice.length > 0) {
    out.talk(`${held} claims held, ${skipped.length} skipped, ${advice.length} advised`);
  }
}

/** Why a finalize keeps a checkpoint, and what makes it a close. */
export function talkUnclosed(out: Output, draftId: string): void {
  const close = JSON.stringify({ agent_status: { agent_state: "COMPLETE", next_action: "done" } });
  out.talk(
    `Not closed: agent_status.agent_state is IN_PROGRESS. Set it last, here to COMPLETE: writ contract fill --draft-id ${draftId} --json '${close}'`,
  );
}
