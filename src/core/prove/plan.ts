/**
 * What of a closed turn can be repeated, and what its end must be to agree with the row.
 *
 * The row rests on the last run of the command that its verification cites. What was redacted in the record cannot be
 * typed again, and is not guessed.
 */
import type { ClosedTurn } from "../contract/closed-turn.ts";
import { WritError } from "../error.ts";
import { isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { lastRunOf } from "../record/content-checks.ts";
import { quoted } from "../record/quoted.ts";
import { REDACTED, redact, type ValueRedactor } from "../record/redact.ts";
import type { ToolRecord } from "../record/tool-record.ts";
import { readsPass } from "../record/verdict.ts";

/** How a command ended; both null: it is not known. */
export type Ending = { readonly exit_code: number | null; readonly signal: string | null };

/** What the row says of the end. */
export type Expected = Ending & {
  /** It failed, and with which status is not known. */
  readonly failed: boolean;
  /** Who says so: the recorded run, or the envelope where the run's status was not kept. */
  readonly from: "record" | "envelope";
};

export type ProofPlan = {
  readonly run: ToolRecord & { readonly command: string };
  readonly expected: Expected;
};

/**
 * Finds the run to repeat.
 *
 * @param values redacts by value what was cited, as the record was redacted
 * Errors: `nothing_to_prove`
 */
export function planProof(turn: ClosedTurn, values: ValueRedactor | null): ProofPlan {
  const report = valueAt(turn.envelope, "evidence_report");
  const verification = isObject(report) ? valueAt(report, "verification") : undefined;
  const command = isObject(verification) ? valueAt(verification, "command") : undefined;
  if (!isObject(verification) || typeof command !== "string" || command.trim() === "") {
    throw nothing(turn, "its verification cites no command");
  }
  const shown = quoted(redact(command.trim(), "command", values));
  const run = lastRunOf(command, turn.record.filter(isRun), values);
  if (run === null) throw nothing(turn, `no run of ${shown} is in its record`);
  if ([run.command, ...(run.argv ?? [])].some((text) => text.includes(REDACTED))) {
    throw nothing(turn, `the record keeps ${shown} redacted`);
  }
  const expected = expectedOf(run, verification);
  if (expected === null) throw nothing(turn, `how ${shown} ended was not kept`);
  return { run, expected };
}

/** Whether an end is the one that the row says. One that is not known agrees with nothing. */
export function agrees(expected: Expected, end: Ending): boolean {
  if (end.exit_code === null && end.signal === null) return false;
  if (expected.failed) return end.exit_code !== 0;
  return expected.exit_code === end.exit_code && expected.signal === end.signal;
}

function expectedOf(run: ToolRecord, verification: JsonObject): Expected | null {
  const { exit_code, signal, failed } = run;
  if (signal !== null) return { exit_code: null, signal, failed: false, from: "record" };
  if (exit_code !== null) return { exit_code, signal: null, failed: false, from: "record" };
  if (failed) return { exit_code: null, signal: null, failed: true, from: "record" };
  const result = valueAt(verification, "result");
  if (typeof result !== "string" || !readsPass(result)) return null;
  const claimed: JsonValue = valueAt(verification, "expect_exit") ?? 0;
  if (typeof claimed !== "number") return null;
  return { exit_code: claimed, signal: null, failed: false, from: "envelope" };
}

function isRun(record: ToolRecord): record is ToolRecord & { readonly command: string } {
  return record.tool === "bash" && record.command !== null;
}

function nothing(turn: ClosedTurn, why: string): WritError {
  return new WritError("nothing_to_prove", `There is nothing to prove of "${turn.row.contract_id}": ${why}`, {
    details: { contract_id: turn.row.contract_id },
    hint: "Only a cited command whose run is on record can be repeated: writ run -- COMMAND",
  });
}
