/**
 * Why a command cannot go on. Every code stands once in `ERROR_CODES`, with the exit status it ends in;
 * the reference page of errors is made from this table.
 */
import type { JsonValue } from "./json/value.ts";
import type { Issue } from "./result.ts";

export const EXIT = {
  ok: 0,
  no: 1,
  usage: 2,
  refused: 3,
  unavailable: 4,
  internal: 70,
} as const;

export type ExitName = keyof typeof EXIT;

/** Code to exit status name, and when it is thrown. */
export const ERROR_CODES = {
  brief_unreadable: ["no", "a handoff brief holds what a consumer stops at; `code` of the document names it"],
  plan_findings: ["no", "a plan check has findings"],
  repair_stopped: ["no", "a plan cannot be repaired by its citations alone"],
  validation: ["no", "the envelope breaks a rule of form or a cross-check"],
  content_unverified: ["no", "the contract cites what the record refutes"],
  advised: ["no", "advice stands and --strict was given"],
  conclusion_required: ["no", "a clean close needs a non-blank conclusion"],
  consolidation_required: ["no", "the dispatch asked for a consolidation report"],
  no_such_field: ["no", "the path names nothing in the envelope"],
  attestation_refuted: ["no", "a statement or its signature does not hold"],
  record_broken: ["no", "the chain of the tool record does not fit"],

  usage: ["usage", "the command line makes no sense"],
  empty_path: ["usage", "a field path has no segment"],
  bad_json: ["usage", "a body is not strict JSON"],
  not_an_object: ["usage", "a patch is not a JSON object"],
  inexact_number: ["usage", "a number cannot be held exactly"],
  body_too_large: ["usage", "a body is larger than 8 MiB"],
  envelope_too_large: ["usage", "the envelope would be larger than 16 MiB"],
  too_deep: ["usage", "a value is nested deeper than 100 levels"],
  file_unreadable: ["usage", "a file named on the command line cannot be read"],
  bad_input: ["usage", "the arguments of a tool call make no sense"],
  bad_contract: ["usage", "a delegation contract is not valid, or does not open"],
  bad_config: ["usage", "the config, or a variable or option that stands for a key of it, is not valid"],
  bad_script: ["usage", "the script of a scripted seat is not valid"],
  bad_gate: ["usage", "a gate file is not valid"],
  bad_result: ["usage", "a saved answer is not what it should be"],
  no_leg: ["usage", "a result has no such leg, or no diff of it"],
  no_folder: ["usage", "a folder named on the command line is none"],
  no_pair: ["usage", "no saved answer belongs to a subtask of the contract"],
  template_unknown: ["usage", "there is no such template"],
  manifest_unusable: ["usage", "a folder of fixtures has no manifest that can be read"],
  tls_unusable: ["usage", "the certificate or the key of a node cannot be used"],
  no_token: ["usage", "a node would listen beyond this machine without a token"],
  key_unusable: ["usage", "a file is no Ed25519 key of the kind that is needed"],
  invalid_draft_id: ["usage", "a draft id is no safe file name"],

  list_overwrite: ["refused", "fill would displace entries of a populated list"],
  path_through_list: ["refused", "a path walks through a populated list"],
  not_a_list: ["refused", "add needs a list"],
  draft_exists: ["refused", "init does not blank a draft"],
  no_draft: ["refused", "there is no draft of that id"],
  draft_unreadable: ["refused", "the draft file does not parse"],
  nothing_recoverable: ["refused", "neither draft nor row holds an envelope"],
  ambiguous_draft: ["refused", "drafts of several agents could be meant"],
  ambiguous_agent_draft: ["refused", "several live drafts of one agent could be meant"],
  continuation_raced: ["refused", "another process opened the next contract first"],
  agent_id_mismatch: ["refused", "agent_status.agent_id is not the agent of the draft id"],
  plan_task_id_unresolved: ["refused", "--plan-task-id names no task"],
  blind_verification_required: ["refused", "a producer bound to a plan task closes NEEDS_VERIFICATION"],
  undo_conflict: ["refused", "a later change touched the same path"],
  settings_refused: ["refused", "a settings file is none that writ may change, or has no place for hooks"],
  nothing_to_undo: ["refused", "no change is left that could be undone"],
  no_such_change: ["refused", "the journal of this contract has no such change"],
  closed: ["refused", "the contract is closed"],
  not_closed: ["refused", "the contract is not closed yet"],
  nothing_to_prove: ["refused", "a closed contract cites no command whose run is on record"],
  key_exists: ["refused", "a key is never overwritten"],
  file_exists: ["refused", "a file is there, and --force was not given"],
  delegation_disabled: ["refused", "delegation is switched off in the config"],
  run_elsewhere: ["refused", "a delegation goes on in another process, which alone can end it"],
  no_run: ["refused", "no record of a past delegation has that id, or several have it"],
  leg_open: ["refused", "a leg of a delegation has no result yet, or was left without one"],
  not_agreed: ["refused", "the commands of a gate were not agreed to"],
  leg_unproved: ["refused", "the leg of a result did not succeed, or nobody has graded it, so its diff is not applied"],
  fixtures_wanting: ["refused", "nothing is pinned while the fixture gate finds something else"],
  node_refused: ["refused", "a node does not take the token"],
  nothing_pending: ["refused", "no proposal is pending"],
  answer_too_large: ["refused", "the answer to a tool call has more than 1 MiB"],
  no_section: ["refused", "there is no such section of project context"],
  no_row: ["refused", "there is no such row"],
  brief_exists: ["refused", "the workspace has a brief of that name"],
  evidence_refused: ["refused", "evidence names no brief or task, or cannot be kept under its name"],
  not_pending: ["refused", "the approval was decided before"],
  not_inside_a_turn: ["refused", "a turn does not consent to itself"],
  phase_refused: ["refused", "the phase tracker refuses a transition"],
  plan_refused: ["refused", "the plan tracker refuses a change of its list"],
  handoff_not_written: ["refused", "a handoff brief cannot be written"],
  not_found: ["refused", "what a brief is to be read from, or resumed in, is not there"],
  unreadable: ["refused", "a handoff brief cannot be read"],
  not_an_input: ["refused", "what was named is nothing that can be resumed"],
  not_idle: ["refused", "the worktree already carries a flow"],
  worktree: ["refused", "a brief names no worktree that can be resumed"],
  other_repository: ["refused", "the worktree belongs to another repository"],
  spec_header: ["refused", "a spec is deferred, or its grant cannot be read"],
  candidates: ["refused", "no spec, plan or ledger is found that a flow could go on with"],
  pr_identity: ["refused", "a brief and the worktree or its spec name different pull requests"],
  git: ["refused", "a git call failed"],
  infeasible: ["refused", "a task list cannot be restored as it is stated"],
  host: ["refused", "a ledger is not ready to be continued"],
  restore: ["refused", "a restore met another writer"],
  legs: ["refused", "the legs of a coordinated flow cannot be admitted"],
  seed: ["refused", "a spec cannot be taken up from here"],
  answer_needed: ["refused", "a person has to answer, and nobody was asked"],

  git_missing: ["unavailable", "git is not on PATH; `code` of the document is git"],
  gh: ["unavailable", "gh is missing, or failed"],
  store_busy: ["unavailable", "the store stayed locked for 30 seconds; that of a flow for 10"],
  store_too_new: ["unavailable", "the store was written by a newer writ"],
  store_failed: ["unavailable", "the store or a draft file cannot be read or written"],
  file_unwritable: ["unavailable", "a file named on the command line cannot be written"],
  job_folder_failed: ["unavailable", "the folder of a job cannot be made or read"],
  folder_gone: ["unavailable", "the folder that writ was started in was deleted"],
  copy_failed: ["unavailable", "no fresh copy of a folder can be made"],
  proof_inconclusive: ["unavailable", "a command that was to be repeated did not run to its end"],
  settings_busy: ["unavailable", "a settings file was changed by others all the time"],
  state_failed: ["unavailable", "the folder in which delegation keeps its state cannot be made, read or written"],
  seat_unavailable: ["unavailable", "the server of a seat does not answer, or does not say what it serves"],
  node_running: ["unavailable", "another node serves the state folder"],
  node_silent: ["unavailable", "a node does not answer, or not as a node does"],
  port_unavailable: ["unavailable", "a port cannot be opened, or is taken"],
  calls_full: ["unavailable", "as many delegations wait in line as an MCP server keeps"],
  output_failed: ["unavailable", "standard output cannot be written"],

  internal: ["internal", "a defect in writ"],
} as const satisfies Record<string, readonly [ExitName, string]>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The exit status that an error code ends in. */
export function exitOf(code: ErrorCode): number {
  return EXIT[ERROR_CODES[code][0]];
}

type More = {
  readonly path?: string | null;
  readonly hint?: string | null;
  readonly cause?: unknown;
  /** The issues behind the error, all of them. */
  readonly issues?: readonly Issue[];
  /** The word in the JSON form: found wanting, refused by a screen, or (default) an error. */
  readonly status?: ErrorStatus;
  /** What the JSON form of this error carries besides `code`, `path`, `message` and `hint`. */
  readonly details?: Readonly<Record<string, JsonValue>>;
  /** Lines that follow the message where a person reads it. */
  readonly lines?: readonly string[];
  readonly layout?: ErrorLayout;
};

/**
 * How a person reads it: behind its status word (default); as "Stop: …" with what follows indented; or as it is. The last
 * two call the hint one.
 */
export type ErrorLayout = "word" | "stop" | "plain";

export type ErrorStatus = "error" | "rejected" | "refused" | "broken";

/** The one error that is thrown on purpose. Anything else that is thrown is a defect. */
export class WritError extends Error {
  override readonly name = "WritError";
  readonly path: string | null;
  readonly hint: string | null;
  readonly issues: readonly Issue[];
  readonly status: ErrorStatus;
  readonly details: Readonly<Record<string, JsonValue>>;
  readonly lines: readonly string[];
  readonly layout: ErrorLayout;

  constructor(
    readonly code: ErrorCode,
    message: string,
    more: More = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.path = more.path ?? null;
    this.hint = more.hint ?? null;
    this.issues = more.issues ?? [];
    this.status = more.status ?? "error";
    this.details = more.details ?? {};
    this.lines = more.lines ?? [];
    this.layout = more.layout ?? "word";
  }
}
