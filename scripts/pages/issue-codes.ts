/**
 * The codes inside of documents, below the `code` of an error: what each is about. Every list is complete: the compiler
 * holds those that have a type to it, and `test/docs/errors.test.ts` the others to the code.
 */
import type { CheckErrorCode } from "../../src/core/acceptance/parse.ts";
import { BRIEF_ISSUE_CODES, briefIssueText } from "../../src/core/brief/issue.ts";
import type { ConfigIssueCode } from "../../src/core/config/issue.ts";
import type { UpdateRefusalCode } from "../../src/core/contract/updates.ts";
import type { FormCode } from "../../src/core/contract/validate.ts";
import { FINDING_CODES } from "../../src/core/delegation/finding.ts";
import type { DelegationIssueCode } from "../../src/core/delegation/issue.ts";
import type { LintCode } from "../../src/core/delegation/lint.ts";
import { NODE_ERRORS, type NodeErrorCode } from "../../src/core/node/job.ts";
import { CHECKS } from "../../src/core/plan/finding.ts";
import type { AdviceCode } from "../../src/core/record/advice.ts";
import type { SkipReason } from "../../src/core/record/content-checks.ts";
import type { ArgumentCode } from "../../src/mcp/arguments.ts";

export type IssueCodes = {
  /** A heading. */
  readonly title: string;
  /** Where they stand in documents, and whether they refuse. */
  readonly where: string;
  readonly codes: Readonly<Record<string, string>>;
};

const ENVELOPE: Readonly<Record<FormCode, string>> = {
  MISSING_FIELD: "a field that is due is missing",
  FIELD_TYPE: "a field has a value of another type",
  PLAN_STATUS: "`agent_status.agent_state` is none of the six states",
  AGENT_ID_FORMAT: "`agent_status.agent_id` is no agent id",
  VERIFICATION_RESULT: "COMPLETE needs a verification that passed",
  VERIFICATION_SHAPE: "a verification lacks what its type asks for",
  APPROVAL_REQUEST_SHAPE: "APPROVAL_REQUEST without an approval request, or one without its content",
  COMPLETE_SHAPE: "COMPLETE needs `next_action` done and no pending steps",
  FAILURE_REPORT_SHAPE: "a failure report is none",
  MISPLACED_KEY: "a field stands at another level than its own",
  UNKNOWN_FIELD: "there is no such field",
  FILE_REFERENCE_SHAPE: "an entry of a list of files names none",
};

/** Codes of the envelope that are more than form. */
export const ENVELOPE_BEYOND = {
  APPROVAL_ID_NOT_PENDING: "`approval_request.approval_id` names no approval that is pending",
  NEEDS_VERIFICATION_UNBOUND: "NEEDS_VERIFICATION in a turn without a task or a parent that somebody could verify",
} as const;

/** What the record refutes. */
export const CONTENT_FINDINGS = {
  command_not_run: "`verification.command` is nothing that the turn ran",
  verbatim_command_not_run: "the command of a quote is nothing that the turn ran",
  exit_mismatch: "the last run of the command ended in another way than the claim says",
  expect_exit_malformed: "`expect_exit` is no exit status",
  excerpt_empty: "a quote is empty",
  excerpt_not_found: "a quote is not in what its command printed",
  evidence_id_malformed: "an id of evidence is no positive whole number",
  evidence_missing: "there is no evidence of that id",
  evidence_not_positive: "the evidence speaks against the claim",
  evidence_out_of_scope: "the evidence belongs to another brief or task",
  command_is_verdict: "in a turn without a record: the command is a verdict such as `all tests pass`",
  command_not_runnable: "in a turn without a record: the command is nothing that a shell could run",
} as const;

const SKIPPED: Readonly<Record<SkipReason, string>> = {
  command_not_string: "a command is no text",
  result_not_pass: "the result is none that a run could refute",
  no_tool_record: "no record belongs to the turn",
  proven_by_evidence: "evidence proves it, so the command is not looked for",
  exit_not_kept: "nobody told how the run ended",
  unattributed: "a quote names no command",
  entry_not_readable: "an entry is no object",
  no_quote: "an entry quotes nothing",
  output_not_kept: "nothing of the output was kept",
  output_truncated: "the quote may stand in the part that was not kept",
  order_not_kept: "the two streams were recorded apart, so that nobody knows what stood beside what",
  output_redacted: "the quote fits where the output was masked",
  unread_key: "a key that is not read",
  quote_not_string: "a quote is no text",
};

const ADVICE: Readonly<Record<AdviceCode, string>> = {
  stale: "a file changed after the cited run",
  masked: "the status of the command says nothing",
  cached: "an earlier result was shown",
  no_tests: "nothing ran",
};

const UPDATES: Readonly<Record<UpdateRefusalCode, string>> = {
  not_an_array: "`update_contracts` is no list",
  entry_not_object: "an entry is no object",
  contract_missing: "an entry names no section",
  payload_missing: "an entry has no payload",
  payload_not_object: "a payload is no object",
  evidence_rejected: "evidence in an entry cannot be kept",
  project_unowned: "no workspace owns the project",
  project_ambiguous: "several workspaces own the project",
};

const CONFIG: Readonly<Record<ConfigIssueCode, string>> = {
  file_missing: "the file that was named is not there",
  file_unreadable: "the file cannot be read",
  file_too_large: "the file has more than 1 MiB",
  not_json: "the file does not parse",
  too_deep: "a value is nested too deep",
  duplicate_key: "a key is given twice",
  not_an_object: "an object is due",
  unknown_key: "there is no such key",
  missing_key: "a key that is due is missing",
  type_mismatch: "a value has another type",
  out_of_range: "a number is out of its range",
  bad_value: "a value cannot be used",
  not_unique: "a name is given twice",
  no_such_seat: "a name names no seat",
  reserved_key: "a key that writ sets by itself",
  bad_url: "an address is none that can be used",
  literal_secret: "a key where the name of a variable is due",
  bad_token: "a token is too short, or holds what no header can carry",
  not_built: "this executable does not have it",
  more: "there are more issues than are listed",
};

const ARGUMENTS: Readonly<Record<ArgumentCode, string>> = {
  not_an_object: "the arguments are no object, or an argument is none where one is due",
  unknown_argument: "the tool has no such argument",
  duplicate_argument: "an argument is given twice, or under two names",
  missing_argument: "an argument that is due is missing",
  bad_argument: "an argument cannot be used, or does not go with another",
  bad_json: "the text of a value does not parse",
  inexact_number: "a number of a value cannot be held exactly",
  too_deep: "a value is nested too deep",
  empty_path: "the path of a field has no segment",
  invalid_draft_id: "a draft id is no safe file name",
};

const CONTRACT: Readonly<Record<DelegationIssueCode, string>> = {
  file_unreadable: "the file cannot be read",
  file_too_large: "the file is larger than a contract file may be",
  not_json: "the file does not parse",
  too_deep: "a value is nested too deep",
  duplicate_key: "a key is given twice",
  not_an_object: "a contract is no object",
  no_subtasks: "a list without a contract",
  too_many_subtasks: "more than 8 contracts",
  type_mismatch: "a value has another type",
  read_root: "the read root is no folder that can be read",
  path_empty: "a path is empty",
  path_nul: "a path holds a NUL",
  path_outside: "a path leads out of the read root",
  path_missing: "there is no such file",
  path_link: "a path leads over a link",
  path_not_a_directory: "a part of a path is no folder",
  path_is_a_directory: "a path names a folder",
  path_not_a_file: "a path names no regular file",
  path_changed: "a file was changed while it was read",
  not_text: "a document is no UTF-8 text",
  goal_required: "there is no goal, or a blank one",
  thinking: "`thinking` is none of its words",
  write_root: "`write_root` is none that can be used",
  too_many_docs: "more documents than a contract may have",
  doc_name: "the name of a document cannot be used",
  doc_collision: "two documents have one name",
  context_too_large: "the documents together are too large",
  output_schema: "the schema cannot be used",
  acceptance: "a check does not parse; `cause` says why",
};

const CHECK: Readonly<Record<CheckErrorCode, string>> = {
  no_verb: "it does not begin with a verb",
  unknown_verb: "there is no such verb",
  empty_argument: "nothing stands behind the verb",
  bad_pattern: "the pattern is none of RE2",
  min_items_shape: "`min_items` takes a field and a number",
  field_required: "the verb needs a field",
  not_an_integer: "a number is none",
  minimum_below_one: "a minimum is below 1",
  negative_count: "a count is below 0",
  empty_alternative: "an alternative is empty",
  repeated_alternative: "an alternative is given twice",
  qualifier_field_colon: "the colon behind `@field=NAME` is missing",
  qualifier_field_name: "`@field=` names no field",
  qualifier_empty_tail: "nothing stands behind a qualifier",
  qualifier_field_spelling: "`@field:` where `@field=NAME:` is meant",
  qualifier_grounded_absence: "what must be absent cannot be grounded",
};

const LINT: Readonly<Record<LintCode, string>> = {
  "SHAPE-ONLY": "the checks look at the shape of an answer alone",
  "PARROT-PASSABLE": "an answer that says the goal again would pass",
  UNGROUNDED: "a check matches nothing in the documents",
  "AUTHORITY-UNREACHABLE": "no answer can close the check",
};

/** Of files that are read strictly: gate files and scripts. */
export const DOCUMENT_ISSUES = {
  not_json: "the file does not parse, or is no UTF-8",
  too_large: "the file is larger than it may be",
  type_mismatch: "a value has another type",
  missing_key: "a key that is due is missing",
  unknown_key: "there is no such key",
  bad_value: "a value, or several together, cannot be used",
  no_match: "a command of a gate pins no text: its status alone proves nothing",
} as const;

export const ATTESTATION = {
  not_an_attestation: "it is neither a statement nor a signed envelope",
  dsse_malformed: "the signed envelope has not its members",
  payload_type: "the signed envelope holds something else than a statement",
  bad_json: "the payload does not parse",
  inexact_number: "the payload has a number that cannot be held exactly",
  too_deep: "a value of the payload is nested too deep",
  not_signed: "a key was given, and nobody signed it",
  signature_invalid: "the signature is not of that key, or not of that text",
  statement_type: "it is no statement of in-toto, version 1",
  predicate_type: "it is a statement of another kind",
  subject_malformed: "there is not exactly one subject with a name and a digest",
  subject_name: "the row or a run is of another contract than the subject names",
  subject_digest: "the envelope inside is not the one that the subject names",
  predicate_malformed: "a part is missing: the envelope, the row, or the record",
  not_closed: "the row is not that of a closed turn",
  record_malformed: "a run is none, or holds what the chain does not cover",
  record_broken: "the chain of the record does not fit",
  record_count: "there are not as many runs as it says",
  record_head: "the chain ends in another digest than it says",
} as const;

const NODE: Readonly<Record<NodeErrorCode, string>> = {
  unauthorized: "the token is missing or wrong",
  misdirected: "the request is for another host",
  unsupported_media_type: "the body is not said to be JSON",
  too_large: "the body is too large",
  bad_request: "the request makes no sense",
  bad_job_id: "the id of the job is none",
  previously_failed: "the job ended there before without a result",
  id_conflict: "the id stands for another contract",
  draining: "the node takes nothing new",
  protocol: "the node speaks another version",
  schema_version: "the node does not take contracts of that version",
  hop: "a contract travels once: it came from a node",
  hash_mismatch: "the contract is not the one that its digest names",
  bad_contract: "the contract is not valid",
  write_door_closed: "the contract has a `write_root`, and the door is shut",
  seat_unfit: "no seat there can do it",
  queue_full: "there is no room",
  storage: "the node cannot keep the job",
  not_found: "there is no such job, or no such path",
  not_done: "the job has not ended",
  running: "the job runs, and cannot be taken back",
  terminal: "the job has ended",
  too_many_streams: "too many listen already",
  too_many_connections: "too many are connected already",
  timeout: "the request took too long to come",
  method_not_allowed: "the path does not take that method",
  internal: "a defect",
};

/** In the order in which they are printed. */
export const ISSUE_CODES: readonly IssueCodes[] = [
  {
    title: "Of an envelope",
    where: "`errors[].code` of `validation`, and `codes`. They refuse the write, or the close.",
    codes: { ...ENVELOPE, ...ENVELOPE_BEYOND },
  },
  {
    title: "Of a close",
    where: "`errors[].code` of `content_unverified`. They refuse the close.",
    codes: CONTENT_FINDINGS,
  },
  {
    title: "What could not be compared",
    where: "`content_checks.skipped[].reason`. They refuse nothing.",
    codes: SKIPPED,
  },
  {
    title: "What weakens a claim",
    where: "`content_checks.advice[].code`; `errors[].code` of `advised`. They refuse with `--strict` alone.",
    codes: ADVICE,
  },
  {
    title: "Of entries of update_contracts",
    where: "`refused[].code` of `contract validate`, `proposals.refused[].code` of `contract finalize`.",
    codes: UPDATES,
  },
  {
    title: "Of a config",
    where: "`issues[].code` of `config check` and of `bad_config`.",
    codes: CONFIG,
  },
  {
    title: "Of the arguments of a tool",
    where: "`issues[].code` of `bad_input`, of a tool of `writ mcp`.",
    codes: ARGUMENTS,
  },
  {
    title: "Of a delegation contract",
    where: "`issues[].code` of `lint` and of `bad_contract`.",
    codes: CONTRACT,
  },
  { title: "Of a check that does not parse", where: "`issues[].cause`, beside `acceptance`.", codes: CHECK },
  {
    title: "Of checks that prove little",
    where: "`warnings[].code` of `lint`; at the beginning of each line of `acceptance_lint`.",
    codes: LINT,
  },
  {
    title: "Of a gate file, and of a script",
    where: "`issues[].code` of `gate check`, `bad_gate` and `bad_script`.",
    codes: DOCUMENT_ISSUES,
  },
  {
    title: "Of fixtures",
    where: "`findings[].code` of `gate fixtures` and of `fixtures_wanting`.",
    codes: FINDING_CODES,
  },
  {
    title: "Of a statement",
    where: "`errors[].code` of `attestation_refuted`.",
    codes: ATTESTATION,
  },
  {
    title: "Of a handoff brief",
    where:
      "`issues[].code` of `brief check`; a stop is also the `code` of the error of `brief show` and `resume`, in the place of `brief_unreadable`.",
    codes: Object.fromEntries(BRIEF_ISSUE_CODES.map((code) => [code, briefIssueText(code).replaceAll("%", "…")])),
  },
  {
    title: "Of a plan",
    where: "`findings[].check` and, behind the colon, `findings[].class` of `plan check`: what is due.",
    codes: Object.fromEntries(
      Object.entries(CHECKS).flatMap(([check, classes]) =>
        Object.entries(classes).map(([name, [due]]) => [`${check}: ${name}`, due]),
      ),
    ),
  },
  {
    title: "Of a node",
    where: "`attempts[].code`, with the HTTP status in `attempts[].http`.",
    codes: Object.fromEntries(
      Object.entries(NODE).map(([code, text]) => [code, `${NODE_ERRORS[code as NodeErrorCode]}: ${text}`]),
    ),
  },
];
