/**
 * Holds what a contract cites (its verification and its verbatim outputs) against what its turn's record and the
 * evidence store hold.
 *
 * A finding is a claim that the record refutes; whatever could not be compared is named as skipped. Prose is not judged.
 * What weakens a claim without refuting it is in `advice.ts`.
 *
 * Source: docs/contract.md "Content checks"
 */
import { isArray, isObject, type JsonObject, type JsonValue, jsonType, valueAt } from "../json/value.ts";
import type { Issue } from "../result.ts";
import { type ExcerptOutcome, findIn, fragmentsOf, parseExcerpt, type SearchableOutput } from "./excerpt.ts";
import { quoted } from "./quoted.ts";
import { redact, type ValueRedactor } from "./redact.ts";
import { type CommandRuns, outputsOf, RunIndex } from "./run-index.ts";
import { isRunnable } from "./runnable.ts";
import type { RecordedRun } from "./tool-record.ts";
import { isVerdict, readsPass } from "./verdict.ts";
import { quoteWords, splitWords } from "./words.ts";

/** What the checks read of a row of the evidence table. */
export type EvidenceRow = {
  readonly id: number;
  readonly brief_id: number | null;
  readonly task_id: number | null;
  readonly polarity: string;
};

export type SkipReason =
  | "command_not_string"
  | "result_not_pass"
  | "no_tool_record"
  | "proven_by_evidence"
  | "exit_not_kept"
  | "unattributed"
  | "entry_not_readable"
  | "no_quote"
  | "output_not_kept"
  | "output_truncated"
  | "order_not_kept"
  | "output_redacted"
  | "unread_key"
  | "quote_not_string";

/** Something that could not be compared. `key` comes with `unread_key` and `quote_not_string` only. */
export type Skipped = {
  readonly check: "command" | "exit" | "evidence" | "verbatim";
  readonly path: string;
  readonly reason: SkipReason;
  readonly key?: string;
};

export type ContentClaims<Run extends RecordedRun = RecordedRun> = {
  /** `evidence_report.verification` and `evidence_report.verbatim_outputs`, whatever they are. */
  readonly verification: JsonValue | undefined;
  readonly verbatim_outputs: JsonValue | undefined;
  /** The runs of the turn, oldest first; null when no record is bound to it. Empty is not null: nothing was run. */
  readonly record: readonly Run[] | null;
  /** The evidence row of an id, or null. Asked for well-formed ids only. */
  readonly evidence: (id: number) => EvidenceRow | null;
  /** What the turn is bound to, which is the scope of its evidence. */
  readonly turn: { readonly brief_id: number | null; readonly plan_task_id: number | null };
  /** Whether a word names an executable file on PATH. */
  readonly isProgram: (word: string) => boolean;
  /** Redacts by value what was cited, as the record was redacted; absent: by shape only. */
  readonly values?: ValueRedactor | null;
};

export type ContentCheck<Run extends RecordedRun = RecordedRun> = {
  readonly findings: readonly Issue[];
  readonly skipped: readonly Skipped[];
  /** How many claims were compared and hold: the verdict on the command, each id of evidence, each quote. */
  readonly held: number;
  /** The run that a clean "pass" rests on, of which advice speaks; null when there is none. */
  readonly restsOn: Run | null;
};

const VERIFICATION = "evidence_report.verification";
const COMMAND = `${VERIFICATION}.command`;
const EVIDENCE_IDS = `${VERIFICATION}.evidence_ids`;
const VERBATIM = "evidence_report.verbatim_outputs";

/** Result and state in one call: COMPLETE does not take a result that is no pass. */
const SAY_WHAT_IS_SO = `writ contract fill --json '{"agent_status":{"agent_state":"BLOCKED","next_action":"..."},"conclusion":"...","evidence_report":{"verification":{"result":"fail"}}}'`;

const READ_KEYS: ReadonlySet<string> = new Set(["command", "excerpt", "output", "evidence_id"]);
const QUOTE_KEYS = ["excerpt", "output"] as const;

/**
 * Checks every claim and reports all that is wrong at once: the verification first, then the verbatim outputs by index.
 *
 * @returns findings, which refuse a clean close when there are any, and what was skipped, in the order of the checks
 * Errors:  none, whatever the two values are
 */
export function checkContent<Run extends RecordedRun>(claims: ContentClaims<Run>): ContentCheck<Run> {
  const checker: Checker<Run> = {
    claims,
    runs: claims.record === null ? null : new RunIndex(claims.record, claims.values ?? null),
    findings: [],
    skipped: [],
    held: 0,
  };
  const restsOn = checkVerification(checker);
  if (isArray(claims.verbatim_outputs)) {
    for (const [index, entry] of claims.verbatim_outputs.entries())
      checkVerbatim(checker, entry, `${VERBATIM}[${index}]`);
  }
  return { findings: checker.findings, skipped: checker.skipped, held: checker.held, restsOn };
}

/**
 * The last run of a command in a record, oldest first, or null: the one that a verdict on the command rests on. The
 * command is compared as `checkContent` does: exactly as run, after redaction.
 */
export function lastRunOf<Run extends RecordedRun>(
  command: string,
  record: readonly Run[],
  values: ValueRedactor | null = null,
): Run | null {
  return new RunIndex(record, values).find(command)?.runs.at(-1) ?? null;
}

type Checker<Run extends RecordedRun> = {
  readonly claims: ContentClaims<Run>;
  /** Null when no record is bound. */
  readonly runs: RunIndex<Run> | null;
  readonly findings: Issue[];
  readonly skipped: Skipped[];
  held: number;
};

function checkVerification<Run extends RecordedRun>(checker: Checker<Run>): Run | null {
  const { claims, findings, skipped } = checker;
  const { verification } = claims;
  if (!isObject(verification)) return null;

  const command = nonBlankString(valueAt(verification, "command"));
  if (isNotString(valueAt(verification, "command"))) {
    skipped.push({ check: "command", path: COMMAND, reason: "command_not_string" });
  }

  const verdict = command !== null && isVerdict(command);
  if (verdict) findings.push(commandIsVerdict(shown(command, claims.values)));

  const ids = valueAt(verification, "evidence_ids") ?? null;
  const citesEvidence = ids !== null && !(isArray(ids) && ids.length === 0);
  const idFindings = checkEvidenceIds(ids, claims);
  for (const finding of idFindings) findings.push(finding);
  if (isArray(ids) && idFindings.length === 0) checker.held += ids.length;
  if (command === null || verdict) return null;

  let found: CommandRuns<Run> | null = null;
  if (checker.runs === null) {
    if (!isRunnable(command, claims.isProgram)) {
      findings.push(commandNotRunnable(shown(command, claims.values)));
      return null;
    }
  } else {
    found = checker.runs.find(command);
    if (found === null && !citesEvidence) {
      findings.push(notRun(checker.runs, command, "command_not_run", COMMAND, claims.values));
      return null;
    }
    if (found === null && idFindings.length > 0) return null;
  }

  const last = checkExit(checker, verification, command, found);
  return idFindings.length === 0 ? last : null;
}

/** Judges the status of the last run against a result of "pass"; answers with that run where it does not refute it. */
function checkExit<Run extends RecordedRun>(
  checker: Checker<Run>,
  verification: JsonObject,
  command: string,
  found: CommandRuns<Run> | null,
): Run | null {
  const { claims, runs, findings, skipped } = checker;
  const skip = (reason: SkipReason): null => {
    skipped.push({ check: "exit", path: COMMAND, reason });
    return null;
  };
  const expectExit = valueAt(verification, "expect_exit") ?? null;
  if (expectExit !== null && !isExitStatus(expectExit)) {
    findings.push({
      code: "expect_exit_malformed",
      path: `${VERIFICATION}.expect_exit`,
      message: `Expected exit ${shownValue(expectExit)} is not an integer from 0 to 255`,
      hint: "Give the exit status that the command should end in, or leave the key out for 0",
    });
    return null;
  }
  const expected = expectExit ?? 0;
  const result = valueAt(verification, "result");
  if (typeof result !== "string" || !readsPass(result)) return skip("result_not_pass");
  if (runs === null) return skip("no_tool_record");
  const last = found?.runs.at(-1);
  if (last === undefined) return skip("proven_by_evidence");

  if (last.exit_code === expected) {
    checker.held += 1;
    return last;
  }
  // A signal ended it: whatever number stands for that, it is not 0.
  const hasFailed = last.failed === true || (last.signal ?? null) !== null;
  if (last.exit_code === null && !(hasFailed && expected === 0)) {
    skip("exit_not_kept");
    return last;
  }
  const ended = last.exit_code === null ? "failed" : `ended in exit ${last.exit_code}`;
  const setExpected =
    last.exit_code === null ? "" : `; or, where the command is meant to end in ${last.exit_code}, set expect_exit`;
  findings.push({
    code: "exit_mismatch",
    path: `${VERIFICATION}.result`,
    message: `Result ${quoted(result)} is refuted: the last run of ${quoted(shown(command, claims.values))} ${ended}, expected exit ${expected}`,
    hint: `Mend the work and run the command again; or say what is so, in a state that does not need a pass: ${SAY_WHAT_IS_SO}${setExpected}`,
  });
  return null;
}

function checkVerbatim<Run extends RecordedRun>(checker: Checker<Run>, entry: JsonValue, path: string): void {
  const { claims, findings, skipped } = checker;
  const skip = (reason: SkipReason, key?: string): void => {
    skipped.push({ check: "verbatim", path, reason, ...(key === undefined ? {} : { key }) });
  };
  if (!isObject(entry)) {
    skip(typeof entry === "string" ? "unattributed" : "entry_not_readable");
    return;
  }

  for (const key of Object.keys(entry)) if (!READ_KEYS.has(key)) skip("unread_key", key);
  let text: string | null = null;
  for (const key of QUOTE_KEYS) {
    const value = valueAt(entry, key);
    if (typeof value === "string") text ??= value;
    else if (isNotString(value)) skip("quote_not_string", key);
  }
  const command = nonBlankString(valueAt(entry, "command"));
  if (isNotString(valueAt(entry, "command"))) skip("command_not_string");

  const evidenceId = valueAt(entry, "evidence_id") ?? null;
  const evidenceIssue = evidenceId === null ? null : checkEvidenceId(evidenceId, `${path}.evidence_id`, claims, false);
  if (evidenceIssue !== null) findings.push(evidenceIssue);
  const evidence = evidenceId === null ? "none" : evidenceIssue === null ? "holds" : "refuted";

  const outcome = text === null ? "no_quote" : judgeQuote(checker, { path, text, command, evidence });
  if (typeof outcome === "string") skip(outcome);
  else if (outcome !== null) findings.push(outcome);
  // Where evidence is refuted the quote was not compared; its finding says so.
  else if (evidence !== "refuted") checker.held += 1;
}

type Quote = {
  readonly path: string;
  readonly text: string;
  readonly command: string | null;
  readonly evidence: "none" | "holds" | "refuted";
};

/** Why a quote could not be compared, what refutes it, or null when it holds (or its evidence is refuted already). */
function judgeQuote<Run extends RecordedRun>(
  { claims, runs }: Checker<Run>,
  { path, text, command, evidence }: Quote,
): SkipReason | Issue | null {
  if (command === null && evidence === "none") return "unattributed";
  if (fragmentsOf(text).length === 0) {
    return {
      code: "excerpt_empty",
      path,
      message: `Excerpt ${quoted(text)} shows nothing of the output`,
      hint: "Quote at least one word of what the command printed",
    };
  }
  if (command === null) return evidence === "holds" ? "proven_by_evidence" : null;
  if (runs === null) return "no_tool_record";
  const found = runs.find(command);
  if (found === null) {
    if (evidence === "none") return notRun(runs, command, "verbatim_command_not_run", path, claims.values);
    return evidence === "holds" ? "proven_by_evidence" : null;
  }

  const outcome = compareQuote(text, outputsOf(found), claims.values ?? null);
  if (outcome === "found") return null;
  if (outcome !== "not_found") return outcome;
  const excerpt = quoted(redact(text, "output", claims.values));
  const ran = found.runs.length === 1 ? "its run" : `any of its ${found.runs.length} runs`;
  return {
    code: "excerpt_not_found",
    path,
    message: `Excerpt ${excerpt} is not in what ${quoted(shown(command, claims.values))} printed in ${ran}`,
    hint: "Quote the output as it was printed, with ... where something is left out, or run the command again",
  };
}

/** From what ends the comparison to what refutes the quote. */
const OUTCOME_ORDER: readonly ExcerptOutcome[] = [
  "found",
  "output_truncated",
  "output_not_kept",
  "order_not_kept",
  "output_redacted",
  "not_found",
];

/** Holds a quote against the outputs of a command: one that holds it is enough, else the best excuse counts. */
function compareQuote(
  quote: string,
  outputs: readonly SearchableOutput[],
  values: ValueRedactor | null,
): ExcerptOutcome {
  // What has the shape of a secret is taken for the one that the record masked. A mark behind a word such as "token:" hides
  // any word, and is none of that: what it hides is not known.
  const redacted = redact(quote, "command", values);
  // The record may have been written where other variables were set: what stands in it as it was quoted is no lie.
  const forms = redacted === quote ? [quote] : [redacted, quote];
  let best = OUTCOME_ORDER.length - 1;
  for (const excerpt of forms.map(parseExcerpt)) {
    for (const output of outputs) {
      best = Math.min(best, OUTCOME_ORDER.indexOf(findIn(excerpt, output)));
      if (best === 0) return "found";
    }
  }
  return OUTCOME_ORDER[best] as ExcerptOutcome;
}

function checkEvidenceIds(ids: JsonValue, claims: ContentClaims): readonly Issue[] {
  if (ids === null) return [];
  if (!isArray(ids)) {
    return [
      {
        code: "evidence_id_malformed",
        path: EVIDENCE_IDS,
        message: `Evidence ids are a list, not ${shownValue(ids)}`,
        hint: "Give the ids that writ evidence add printed, for example [7]",
      },
    ];
  }
  const malformed = ids.flatMap((id, index) =>
    isEvidenceId(id) ? [] : [malformedId(id, `${EVIDENCE_IDS}[${index}]`)],
  );
  if (malformed.length > 0) return malformed;
  return ids.flatMap((id, index) => checkEvidenceId(id, `${EVIDENCE_IDS}[${index}]`, claims, true) ?? []);
}

/** What is wrong with a cited evidence id, or null. A quote may rest on evidence of a failure, a verification may not. */
function checkEvidenceId(id: JsonValue, path: string, claims: ContentClaims, positive: boolean): Issue | null {
  if (!isEvidenceId(id)) return malformedId(id, path);
  const row = claims.evidence(id);
  if (row === null) {
    return {
      code: "evidence_missing",
      path,
      message: `Evidence ${id} does not exist`,
      hint: "Cite an id that writ evidence add printed; writ evidence list shows those of a brief",
    };
  }
  if (positive && row.polarity !== "positive") {
    return {
      code: "evidence_not_positive",
      path,
      message: `Evidence ${id} is ${row.polarity}: it does not prove a command`,
      hint: "Cite evidence of polarity positive",
    };
  }
  const { brief_id, plan_task_id } = claims.turn;
  if (brief_id !== null && row.brief_id === brief_id && row.task_id === plan_task_id) return null;
  return {
    code: "evidence_out_of_scope",
    path,
    message: `Evidence ${id} belongs to ${scopeOf(row.brief_id, row.task_id)}, the turn to ${scopeOf(brief_id, plan_task_id)}`,
    hint:
      brief_id === null
        ? "A turn without a brief is proven by no evidence: cite a command that ran in it"
        : "Cite evidence that was recorded for the turn's own brief and task",
  };
}

// An integer above 2^53-1 may be another one than was written, so no row is looked up by it.
function isEvidenceId(value: JsonValue): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
}

function malformedId(id: JsonValue, path: string): Issue {
  return {
    code: "evidence_id_malformed",
    path,
    message: `Evidence id ${shownValue(id)} is not a positive integer that can be held exactly`,
    hint: "Give the number that writ evidence add printed, without quotes",
  };
}

function commandIsVerdict(command: string): Issue {
  return {
    code: "command_is_verdict",
    path: COMMAND,
    message: `Command ${quoted(command)} is a verdict, not a command`,
    hint: "Name the command that was run, exactly as run; the verdict belongs in verification.result",
  };
}

function commandNotRunnable(command: string): Issue {
  return {
    code: "command_not_runnable",
    path: COMMAND,
    message: `Command ${quoted(command)} does not begin with anything that can be run`,
    hint: "Begin with a program on PATH, a path (./check.sh), cd, source or export",
  };
}

function notRun<Run extends RecordedRun>(
  runs: RunIndex<Run>,
  command: string,
  code: "command_not_run" | "verbatim_command_not_run",
  path: string,
  values: ValueRedactor | null | undefined,
): Issue {
  const cited = shown(command, values);
  const nearest = runs.nearest(cited);
  const among = runs.count === 1 ? "the one command" : `among the ${runs.count} commands`;
  return {
    code,
    path,
    message:
      nearest === null
        ? `Command ${quoted(cited)} was not run: the turn ran no command`
        : `Command ${quoted(cited)} is not ${among} that the turn ran`,
    hint:
      nearest === null
        ? `${callThatRuns(cited)} runs it under capture`
        : `${callThatRuns(cited)} runs it under capture. Of what ran cite, exactly as recorded, only what shows the claim; the nearest: ${nearest}`,
  };
}

/** The call under which a cited command is recorded as it was cited. */
function callThatRuns(cited: string): string {
  return splitWords(cited) === null ? `writ run -c ${quoteWords([cited])}` : `writ run -- ${cited}`;
}

function nonBlankString(value: JsonValue | undefined): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** True for a value that is there and not null, and no string. */
function isNotString(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && typeof value !== "string";
}

function isExitStatus(value: JsonValue): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255;
}

function scopeOf(briefId: number | null, taskId: number | null): string {
  if (briefId === null) return "no brief";
  return `brief ${briefId}, ${taskId === null ? "no task" : `task ${taskId}`}`;
}

/** A cited command as the record would hold it, so that a message repeats no secret. */
function shown(command: string, values: ValueRedactor | null | undefined): string {
  return redact(command.trim(), "command", values);
}

function shownValue(value: JsonValue): string {
  if (typeof value === "string") return quoted(value);
  if (isArray(value) || isObject(value)) return `an ${jsonType(value)}`;
  return String(value);
}
