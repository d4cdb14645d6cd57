/**
 * `finalize`: the agent's own close. What the contract cites is held against what the record and the evidence
 * hold; a refusal at any step leaves everything as it was.
 */
import { bareBirth } from "../core/contract/birth.ts";
import { canonicalize } from "../core/contract/canonicalize.ts";
import { bindingOf, briefOf } from "../core/contract/chain.ts";
import { withoutCutMarks } from "../core/contract/envelope.ts";
import { isText } from "../core/contract/fold.ts";
import { closeGate } from "../core/contract/gates.ts";
import { chainOf, liveLink } from "../core/contract/links.ts";
import { repair } from "../core/contract/repair.ts";
import type { HandoffRow, Tables } from "../core/contract/repository.ts";
import { isRefusal } from "../core/contract/send-back.ts";
import { isClosed, isTerminal } from "../core/contract/state.ts";
import { WritError } from "../core/error.ts";
import {
  compactJson,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  sameJson,
  valueAt,
  withKey,
} from "../core/json/value.ts";
import { advise } from "../core/record/advice.ts";
import { checkContent, lastRunOf, type Skipped } from "../core/record/content-checks.ts";
import { verifyChain } from "../core/record/digest.ts";
import type { ValueRedactor } from "../core/record/redact.ts";
import { stampList } from "../core/record/stamp.ts";
import type { ToolRecord } from "../core/record/tool-record.ts";
import { readsPass } from "../core/record/verdict.ts";
import type { Issue } from "../core/result.ts";
import { draftText, recordChange } from "./journal.ts";
import { type Loaded, loadDraft, recordNews } from "./load.ts";
import { type Address, resolveTarget, type Target } from "./target.ts";
import {
  noticesOf,
  refusalText,
  type SettledUpdates,
  settleUpdates,
  storedRefusals,
  type UpdatesWorld,
} from "./updates.ts";
import type { World } from "./world.ts";
import { assertValid, checkEnvelope, Publication, withBirthMark } from "./write.ts";

/** What the claims of a contract are held against, besides the store. */
export type CheckWorld = World & {
  /** Whether the word names a program on PATH. */
  isProgram(word: string): boolean;
  /** Files of the work tree around `cwd` that were modified after the instant (RFC 3339); at most five. */
  changedAfter(cwd: string, instant: string): readonly string[];
  /** Redacts by value, as the record was redacted; null when there is nothing to redact. */
  readonly values: ValueRedactor | null;
};

export type CloseWorld = CheckWorld & UpdatesWorld;

/** What became of the claims of a close: how many hold, and those that could not be compared. */
export type CheckedClaims = {
  readonly held: number;
  readonly skipped: readonly Skipped[];
  /** Why a result of "pass" was held against nothing that ran and no evidence; null where it was, or none is claimed. */
  readonly unheld: "no_record" | "no_command" | null;
};

/** Why COMPLETE would be refused, and whether because what the verification says is refuted, in any state. */
export type Incomplete = { readonly why: string; readonly isRefuted: boolean };

export const NO_CLAIMS: CheckedClaims = { held: 0, skipped: [], unheld: null };

export type CloseRequest = {
  readonly address: Address;
  readonly workspace: string | null;
  readonly session_id: string | null;
  readonly plan_task_id: number | null;
  /** Advice refuses too. */
  readonly strict: boolean;
};

export type Closing = {
  readonly status: "finalized" | "checkpointed";
  /** The contract that was addressed: another link of the chain than the one that was closed, where it is continued. */
  readonly addressed: string;
  readonly draft_id: string;
  readonly handoff_id: number;
  /** False when the contract was final already and nothing was written. */
  readonly created: boolean;
  readonly agent_state: string;
  readonly content_checks: JsonObject | null;
  readonly conclusion_alias: string | null;
  readonly advice: readonly Issue[];
  readonly claims: CheckedClaims;
  /** Of a checkpoint: why COMPLETE would be refused; null where nothing but the state is in the way. */
  readonly incomplete: Incomplete | null;
  readonly sanitized: readonly string[];
  readonly warnings: readonly string[];
  readonly proposals: Pick<SettledUpdates, "stored" | "refused" | "applied">;
  /** What the orchestrator is told of the turn's proposals. */
  readonly notices: readonly string[];
  /** The rows of evidence that this close deposited. */
  readonly evidence_ids: readonly number[];
};

/**
 * Closes the live link of the addressed contract, or checkpoints it while its state is IN_PROGRESS.
 *
 * Errors: those of the load; `validation`, `agent_id_mismatch`, `plan_task_id_unresolved`,
 * `blind_verification_required`, `consolidation_required`, `conclusion_required`, `content_unverified`, `advised`,
 * `closed`; `store_busy`, `store_failed`.
 */
export function finalizeContract(world: CloseWorld, request: CloseRequest): Closing {
  const target = resolveTarget(world, request.address);
  const stale = staleAround(world, target);
  const publication = new Publication(world);
  try {
    const closing = world.store.write((tables) => closeInside(world, tables, request, target, stale, publication));
    return { ...closing, warnings: publication.publish() };
  } catch (error) {
    publication.discard();
    throw error;
  }
}

function closeInside(
  world: CloseWorld,
  tables: Tables,
  request: CloseRequest,
  target: Target,
  stale: StaleFiles,
  publication: Publication,
): Omit<Closing, "warnings"> {
  publication.discard();
  const { draft_id, row } = liveOf(tables, target.draft_id);
  const loaded = loadDraft(world, tables, { draft_id, named: target.named, row });
  const { envelope: sound, lines: sanitized } = repair(loaded.envelope);
  assertValid(sound, tables);
  const verdict = examineClose(world, tables, { ...request, draft_id, row, envelope: sound, stale });

  if (row !== null && isTerminal(row.agent_state)) {
    return {
      status: "finalized",
      addressed: target.draft_id,
      draft_id,
      handoff_id: row.id,
      created: false,
      agent_state: row.agent_state,
      content_checks: storedChecks(row),
      conclusion_alias: null,
      advice: verdict.advice,
      claims: verdict.claims,
      incomplete: null,
      sanitized: [],
      proposals: { stored: tables.proposals.listOf(draft_id).length, refused: storedRefusals(row), applied: [] },
      notices: noticesOf(tables, row),
      evidence_ids: [],
    };
  }
  const { envelope: canonical } = canonicalize(verdict.envelope);
  const marked = row === null ? canonical : withBirthMark(row, canonical);
  const unmarked = verdict.outcome === "close" ? withoutCutMarks(marked) : marked;
  // Only the order of keys differs, as in a second close within one second: the text stays the one that was journalled.
  const final = sameJson(unmarked, sound) ? sound : unmarked;
  const id = row?.id ?? insertRow(world, tables, request, draft_id, final);
  const updates = verdict.outcome === "close" ? settle(world, tables, id, final, verdict.record.runs) : null;
  tables.handoffs.close(id, {
    agent_id: agentIdOf(final),
    agent_state: verdict.state,
    cut_reason: verdict.outcome === "close" ? null : (row?.cut_reason ?? "never_finalized"),
    raw_handoff_json: compactJson(final),
    conclusion: verdict.conclusion,
    content_checks: verdict.content_checks === null ? null : compactJson(verdict.content_checks),
    update_contracts_refused: updates === null ? null : refusalText(updates.refused),
    record_head: verdict.outcome === "close" ? verdict.record.head : null,
    record_count: verdict.outcome === "close" ? verdict.record.count : null,
    closed_at: verdict.outcome === "close" ? world.clock.now() : null,
    session_id: request.session_id,
    plan_task_id: request.plan_task_id,
    brief_id: verdict.brief_id,
  });
  publication.stage(draft_id, draftText(final));
  journalClose(world, tables, draft_id, loaded, sound, final);
  return {
    status: verdict.outcome === "close" ? "finalized" : "checkpointed",
    addressed: target.draft_id,
    draft_id,
    handoff_id: id,
    created: true,
    agent_state: verdict.state,
    content_checks: verdict.content_checks,
    conclusion_alias: verdict.conclusion_alias,
    advice: verdict.advice,
    claims: verdict.claims,
    incomplete: verdict.incomplete,
    sanitized,
    proposals: { stored: updates?.stored ?? 0, refused: updates?.refused ?? [], applied: updates?.applied ?? [] },
    notices: updates?.notices ?? [],
    evidence_ids: updates?.evidence_ids ?? [],
  };
}

function settle(
  world: CloseWorld,
  tables: Tables,
  id: number,
  envelope: JsonObject,
  record: readonly ToolRecord[] | null,
): SettledUpdates {
  const row = tables.handoffs.findById(id);
  if (row === null) throw new Error(`Row ${id} is missing inside its own close`);
  return settleUpdates(world, tables, { row, envelope, record });
}

function journalClose(
  world: World,
  tables: Tables,
  draft_id: string,
  loaded: Loaded,
  sound: JsonObject,
  final: JsonObject,
): void {
  recordNews(world, tables, draft_id, loaded);
  recordChange(world, tables, { draft_id, verb: "repair", before: loaded.envelope, after: sound });
  recordChange(world, tables, { draft_id, verb: "finalize", before: sound, after: final });
}

/** The live link of the chain that the id is in; the id itself when it has no row. */
export function liveOf(
  tables: Tables,
  draftId: string,
): { readonly draft_id: string; readonly row: HandoffRow | null } {
  const addressed = tables.handoffs.find(draftId);
  if (addressed === null) return { draft_id: draftId, row: null };
  const row = liveLink(tables.handoffs, addressed);
  return { draft_id: row.contract_id, row };
}

export type CloseVerdict = {
  readonly outcome: "close" | "checkpoint";
  readonly envelope: JsonObject;
  readonly state: string;
  readonly conclusion: string | null;
  readonly conclusion_alias: string | null;
  readonly content_checks: JsonObject | null;
  /** `runs` is null when no record is bound to the turn. */
  readonly record: {
    readonly head: string | null;
    readonly count: number;
    readonly runs: readonly ToolRecord[] | null;
  };
  readonly advice: readonly Issue[];
  readonly claims: CheckedClaims;
  readonly incomplete: Incomplete | null;
  readonly brief_id: number | null;
};

export type CloseInput = {
  readonly draft_id: string;
  readonly row: HandoffRow | null;
  /** Valid in form, and cross-checked. */
  readonly envelope: JsonObject;
  readonly plan_task_id: number | null;
  readonly strict: boolean;
  readonly stale: StaleFiles;
};

/** Every step of a close that can refuse, and what the close would write. Touches nothing. */
export function examineClose(world: CheckWorld, tables: Tables, input: CloseInput): CloseVerdict {
  const { draft_id, row } = input;
  const chain = row === null ? [] : chainOf(tables.handoffs, row);
  const gate = closeGate({
    draft_id,
    envelope: input.envelope,
    chain,
    plan_task_id: input.plan_task_id,
    consolidation: chain.some((link) => link.consolidation !== 0),
    task_exists: input.plan_task_id === null || tables.tasks.find(input.plan_task_id) !== null,
  });
  if (gate.outcome === "refuse") throw gate.error;
  if (gate.outcome === "checkpoint" && row !== null && isClosed(row.agent_state)) {
    throw new WritError(
      "closed",
      `The contract "${draft_id}" is closed (${row.agent_state}) and does not go back to IN_PROGRESS`,
      {
        hint: "A write with set, add or fill opens a new contract that continues it",
      },
    );
  }

  const isBound = tables.records.isBound([draft_id, ...chain.map((link) => link.contract_id)]);
  const record = tables.records.list(draft_id);
  const newest = record.at(-1);
  const place = { head: newest?.digest ?? null, count: record.length, runs: isBound ? record : null };
  const stamped = stamp(gate.envelope, isBound ? record : null);
  const scope = scopeOf(tables, chain, input.plan_task_id);
  if (gate.outcome === "checkpoint") {
    return {
      outcome: "checkpoint",
      envelope: stamped,
      state: "IN_PROGRESS",
      conclusion: null,
      conclusion_alias: null,
      content_checks: null,
      record: place,
      advice: [],
      claims: NO_CLAIMS,
      incomplete: whyIncomplete(world, tables, input),
      brief_id: scope.brief_id,
    };
  }

  const isImported =
    row !== null && isClosed(row.agent_state) && row.cut_reason === null && row.content_checks === null;
  const checked = isImported ? null : checkClaims(world, tables, input, isBound ? record : null, scope);
  const content_checks: JsonObject | null =
    checked === null
      ? null
      : {
          version: 1,
          bound: isBound,
          runs: place.count,
          record_head: place.head,
          skipped: checked.claims.skipped,
          advice: checked.advice,
          checked_at: world.clock.now(),
        };
  return {
    outcome: "close",
    envelope: content_checks === null ? stamped : withKey(stamped, "content_checks", content_checks),
    state: gate.state,
    conclusion: gate.conclusion,
    conclusion_alias: gate.conclusion_alias,
    content_checks,
    record: place,
    advice: checked?.advice ?? [],
    claims: checked?.claims ?? NO_CLAIMS,
    incomplete: null,
    brief_id: scope.brief_id,
  };
}

/** What a close in COMPLETE would be refused for, as it stands. A conclusion that is missing is one call away. */
function whyIncomplete(world: CheckWorld, tables: Tables, input: CloseInput): Incomplete | null {
  const status = valueAt(input.envelope, "agent_status");
  if (!isObject(status)) return null;
  const declared = withKey(withKey(status, "agent_state", "COMPLETE"), "next_action", "done");
  const stated = withKey(input.envelope, "agent_status", declared);
  const envelope = isText(valueAt(stated, "conclusion")) ? stated : withKey(stated, "conclusion", "to be written");
  const [issue] = checkEnvelope(envelope, tables);
  if (issue !== undefined) return { why: issue.message, isRefuted: false };
  try {
    examineClose(world, tables, { ...input, envelope });
    return null;
  } catch (error) {
    if (!(error instanceof WritError) || !isRefusal(error)) throw error;
    const [first] = error.issues;
    return { why: first?.message ?? error.message, isRefuted: first?.code === "exit_mismatch" };
  }
}

/** Errors: `content_unverified`; `advised` when advice is to refuse. */
function checkClaims(
  world: CheckWorld,
  tables: Tables,
  input: CloseInput,
  record: readonly ToolRecord[] | null,
  scope: Scope,
): { readonly claims: CheckedClaims; readonly advice: readonly Issue[] } {
  const { verification, verbatim } = claimsOf(input.envelope);
  const { findings, skipped, held, restsOn } = checkContent({
    verification,
    verbatim_outputs: verbatim,
    record: record === null ? null : runsOf(record),
    evidence: (id) => tables.evidence.find(id),
    turn: scope,
    isProgram: world.isProgram,
    values: world.values,
  });
  const broken = brokenChain(world, record ?? []);
  const all = broken === null ? findings : [...findings, broken];
  if (all.length > 0) {
    throw new WritError("content_unverified", "content_unverified -- the contract cites what the record refutes.", {
      status: "rejected",
      issues: all,
    });
  }
  const advice = restsOn === null ? [] : adviceFor(restsOn, input.stale);
  if (advice.length > 0 && input.strict) {
    throw new WritError("advised", "advised -- the claim is weak, and --strict was given.", {
      status: "rejected",
      issues: advice,
    });
  }
  const isHeld = restsOn !== null || skipped.some(({ reason }) => reason === "proven_by_evidence");
  return { claims: { held, skipped, unheld: isHeld ? null : unheldOf(verification, record) }, advice };
}

function unheldOf(verification: JsonValue | undefined, record: readonly ToolRecord[] | null): CheckedClaims["unheld"] {
  if (!isObject(verification)) return null;
  const result = valueAt(verification, "result");
  if (typeof result !== "string" || !readsPass(result)) return null;
  return record === null ? "no_record" : "no_command";
}

function adviceFor(run: Run, stale: StaleFiles): readonly Issue[] {
  const edited = stale.edits.filter((edit) => edit.seq > run.seq).map((edit) => edit.path);
  const changed = stale.seq === run.seq ? stale.paths : [];
  return advise({ run, stalePaths: [...new Set([...edited, ...changed])] });
}

type Run = ToolRecord & { readonly command: string };

function runsOf(record: readonly ToolRecord[]): readonly Run[] {
  return record.filter((one): one is Run => one.tool === "bash" && one.command !== null);
}

function claimsOf(envelope: JsonObject): {
  readonly verification: JsonValue | undefined;
  readonly verbatim: JsonValue | undefined;
} {
  const report = valueAt(envelope, "evidence_report");
  if (!isObject(report)) return { verification: undefined, verbatim: undefined };
  return { verification: valueAt(report, "verification"), verbatim: valueAt(report, "verbatim_outputs") };
}

function brokenChain(world: World, record: readonly ToolRecord[]): Issue | null {
  const chain = verifyChain(record, world.sha256);
  if (chain.ok) return null;
  return {
    code: "record_broken",
    path: "tool_record",
    message: `The record does not fit at ${chain.seq}: expected ${chain.expected}, found ${chain.found}`,
    hint: "The record of this turn was changed after it was written; see: writ record verify",
  };
}

/** Files that changed after the run that the claim rests on. Asked before the transaction: git is another program. */
export type StaleFiles = {
  /** The run that was asked about; null when there is none. */
  readonly seq: number | null;
  readonly paths: readonly string[];
  readonly edits: readonly { readonly seq: number; readonly path: string }[];
};

export function staleAround(world: CheckWorld, target: Target): StaleFiles {
  const found = world.store.read((tables) => {
    const { draft_id, row } = liveOf(tables, target.draft_id);
    const record = tables.records.list(draft_id);
    if (record.length === 0) return null;
    const { envelope } = loadDraft(world, tables, { draft_id, named: target.named, row });
    const { verification } = claimsOf(envelope);
    const command = isObject(verification) ? valueAt(verification, "command") : undefined;
    const run = typeof command === "string" ? lastRunOf(command, runsOf(record), world.values) : null;
    const edits = record.flatMap((one) =>
      one.tool === "edit" && one.path !== null ? [{ seq: one.seq, path: one.path }] : [],
    );
    return { run, edits };
  });
  if (found === null) return { seq: null, paths: [], edits: [] };
  const { run, edits } = found;
  if (run === null || run.cwd === null || run.ended_at === null) return { seq: run?.seq ?? null, paths: [], edits };
  return { seq: run.seq, paths: world.changedAfter(run.cwd, run.ended_at), edits };
}

type Scope = { readonly brief_id: number | null; readonly plan_task_id: number | null };

/** What the turn is for: the brief and the task that its evidence must belong to. */
function scopeOf(tables: Tables, chain: readonly HandoffRow[], planTaskId: number | null): Scope {
  const binding = bindingOf(chain, planTaskId);
  const parent = binding.parent_handoff_id === null ? null : tables.handoffs.findById(binding.parent_handoff_id);
  const briefOfTask = (id: number | null) => (id === null ? null : (tables.tasks.find(id)?.brief_id ?? null));
  return {
    brief_id:
      briefOf(chain) ??
      briefOfTask(binding.plan_task_id) ??
      parent?.brief_id ??
      briefOfTask(parent?.plan_task_id ?? null),
    plan_task_id: binding.plan_task_id ?? parent?.plan_task_id ?? null,
  };
}

/** The envelope with its two lists rewritten from the record; null: there is no bound record. */
function stamp(envelope: JsonObject, record: readonly ToolRecord[] | null): JsonObject {
  const report = valueAt(envelope, "evidence_report");
  if (record === null || !isObject(report)) return envelope;
  const recorded = {
    commands_run: distinct(record.flatMap((one) => (one.tool === "bash" && one.command !== null ? [one.command] : []))),
    files_checked: distinct(record.flatMap((one) => (one.tool === "read" && one.path !== null ? [one.path] : []))),
  };
  let rewritten = report;
  for (const [name, list] of Object.entries(recorded)) {
    const agent = valueAt(report, name);
    rewritten = withKey(rewritten, name, stampList(isArray(agent) ? agent : [], list));
  }
  return withKey(envelope, "evidence_report", rewritten);
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

function agentIdOf(envelope: JsonObject): string {
  const status = valueAt(envelope, "agent_status");
  const id = isObject(status) ? valueAt(status, "agent_id") : undefined;
  return typeof id === "string" ? id : "";
}

function storedChecks(row: HandoffRow): JsonObject | null {
  if (row.content_checks === null) return null;
  try {
    const value = JSON.parse(row.content_checks) as JsonValue;
    return isObject(value) ? value : null;
  } catch {
    return null; // edited by hand: there is nothing readable to show
  }
}

/** A turn that was never dispatched gets its row at its close. */
function insertRow(world: World, tables: Tables, request: CloseRequest, draftId: string, envelope: JsonObject): number {
  const workspace = request.workspace ?? world.workspace ?? "me";
  tables.workspaces.ensure(workspace, world.clock.now());
  const bare = bareBirth({
    contract_id: draftId,
    agent_id: agentIdOf(envelope),
    workspace,
    raw_handoff_json: compactJson(envelope),
    created_at: world.clock.now(),
  });
  const { session_id, plan_task_id } = request;
  return tables.handoffs.insertBirth({ ...bare, session_id, plan_task_id }).id;
}
