/**
 * What a clean close does with `update_contracts`: evidence is deposited, proposals are stored, a correction is applied
 * where every guard holds. Nothing here refuses the close; refusals are stamped on the row.
 */
import { APPLY_FAILED, decisionNote, evaluateDrift } from "../core/context/drift.ts";
import { mergeContext } from "../core/context/merge.ts";
import type { ProposalRow } from "../core/context/repository.ts";
import { readEvidenceBatch } from "../core/contract/evidence-clause.ts";
import { splitPath } from "../core/contract/path.ts";
import { type Changed, updateNotices } from "../core/contract/proposal-notices.ts";
import type { HandoffRow, Tables } from "../core/contract/repository.ts";
import {
  entryText,
  readUpdates,
  splitUpdates,
  type UpdateEntry,
  type UpdateRefusal,
} from "../core/contract/updates.ts";
import { WritError } from "../core/error.ts";
import { parseJson } from "../core/json/parse.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../core/json/value.ts";
import type { ToolRecord } from "../core/record/tool-record.ts";
import type { World } from "./world.ts";

export type UpdatesWorld = World & {
  /** The real path of an artifact under the folder of evidence; null for any other path. */
  resolveArtifact(path: string): string | null;
};

export type SettledUpdates = {
  readonly refused: readonly UpdateRefusal[];
  /** Proposals of this envelope that the store holds. */
  readonly stored: number;
  readonly applied: readonly Changed[];
  readonly evidence_ids: readonly number[];
  readonly notices: readonly string[];
};

export type Settling = {
  readonly row: HandoffRow;
  readonly envelope: JsonObject;
  /** The turn's own record; null when none is bound to it. */
  readonly record: readonly ToolRecord[] | null;
};

/** Settles the proposals of one clean close, inside its transaction. Errors: those of the store. */
export function settleUpdates(world: UpdatesWorld, tables: Tables, settling: Settling): SettledUpdates {
  const { row, envelope } = settling;
  const { entries, refused } = readUpdates(valueAt(envelope, "update_contracts"));
  const { evidence, proposals } = splitUpdates(entries);
  const batch = depositEvidence(world, tables, row, evidence);
  const { stored, applied } = storeProposals(world, tables, settling, proposals);
  const all = [...refused, ...batch.refused].toSorted((one, other) => one.index - other.index);
  return {
    refused: all,
    stored,
    applied,
    evidence_ids: batch.ids,
    notices: noticesWith(tables, row, all),
  };
}

/** The notices of a row that is closed already. */
export function noticesOf(tables: Tables, row: HandoffRow): readonly string[] {
  return noticesWith(tables, row, storedRefusals(row));
}

/** The refusals that a row carries; none where they cannot be read. */
export function storedRefusals(row: HandoffRow): readonly UpdateRefusal[] {
  if (row.update_contracts_refused === null) return [];
  const parsed = parseJson(row.update_contracts_refused);
  // Our own text: a row edited by hand into another shape shows what it holds.
  return parsed.ok && isArray(parsed.value) ? (parsed.value as unknown as readonly UpdateRefusal[]) : [];
}

/** The column of a list of refusals: null when nothing was refused. */
export function refusalText(refused: readonly UpdateRefusal[]): string | null {
  return refused.length === 0 ? null : JSON.stringify(refused);
}

function noticesWith(tables: Tables, row: HandoffRow, refused: readonly UpdateRefusal[]): readonly string[] {
  const proposals = tables.proposals.listOf(row.contract_id);
  const pending = proposals.filter((one) => one.status === "pending").length;
  const proposed = { contract_id: row.contract_id, project: row.project ?? row.goal_project_token, pending };
  return updateNotices(
    proposed,
    refused,
    proposals.flatMap((one) => changeBy(row, one)),
  );
}

/** What a proposal changed without the orchestrator: one change or none. */
function changeBy(row: HandoffRow, { status, decided_by, drift, section }: ProposalRow): readonly Changed[] {
  const keyPath = isObject(drift) ? valueAt(drift, "key_path") : undefined;
  if (status !== "accepted" || decided_by !== correctorOf(row)) return [];
  if (typeof keyPath !== "string" || row.project === null) return [];
  return [{ project: row.project, section, key_path: splitPath(keyPath).join(".") }];
}

function correctorOf(row: HandoffRow): string {
  return `auto:${row.agent_id}`;
}

/** An entry that was deposited before, by this contract, is not deposited again. */
function depositEvidence(
  world: UpdatesWorld,
  tables: Tables,
  row: HandoffRow,
  entries: readonly UpdateEntry[],
): { readonly ids: readonly number[]; readonly refused: readonly UpdateRefusal[] } {
  const { deposits, refused } = readEvidenceBatch(entries, {
    briefExists: (id) => tables.tasks.briefExists(id),
    taskBelongsTo: (task, brief) => tables.tasks.find(task)?.brief_id === brief,
    resolveArtifact: world.resolveArtifact,
  });
  const ids: number[] = [];
  for (const { entry, deposit } of deposits) {
    const hash = world.sha256(entryText(entry));
    if (tables.evidence.hasEntry(row.contract_id, hash)) continue;
    ids.push(
      tables.evidence.insert({
        ...deposit,
        created_by_agent: deposit.created_by_agent ?? row.agent_name,
        source_contract_id: row.contract_id,
        source_entry_hash: hash,
        created_at: world.clock.now(),
      }),
    );
  }
  return { ids, refused };
}

const UNDECIDED = { status: "pending", decided_by: null, decided_at: null, decision_note: null } as const;

function storeProposals(
  world: UpdatesWorld,
  tables: Tables,
  settling: Settling,
  entries: readonly UpdateEntry[],
): { readonly stored: number; readonly applied: readonly Changed[] } {
  const { row } = settling;
  const before = new Map(tables.proposals.listOf(row.contract_id).map((one) => [one.entry_hash, one]));
  const present = new Set<string>();
  const applied: Changed[] = [];
  for (const entry of entries) {
    const hash = world.sha256(entryText(entry));
    if (present.has(hash)) continue;
    present.add(hash);
    const known = before.get(hash);
    if (known !== undefined) {
      if (known.status === "superseded") tables.proposals.decide(known.id, UNDECIDED);
      continue;
    }
    const id = tables.proposals.insert({
      handoff_id: row.id,
      contract_id: row.contract_id,
      entry_index: entry.index,
      entry_hash: hash,
      section: entry.contract,
      payload: entry.payload,
      drift: entry.drift ?? null,
      workspace: row.workspace,
      project: row.project,
      goal_project_token: row.goal_project_token,
      created_at: world.clock.now(),
    });
    if (entry.drift === undefined) continue;
    const change = correct(world, tables, settling, entry, id);
    if (change !== null) applied.push(change);
  }
  supersede(world, tables, [...before.values()], present);
  return { stored: present.size, applied };
}

/** A pending proposal that the envelope no longer makes is decided by the turn itself. */
function supersede(
  world: UpdatesWorld,
  tables: Tables,
  before: readonly ProposalRow[],
  present: ReadonlySet<string>,
): void {
  for (const one of before) {
    if (one.status !== "pending" || present.has(one.entry_hash)) continue;
    const decided_at = world.clock.now();
    tables.proposals.decide(one.id, { status: "superseded", decided_by: null, decided_at, decision_note: null });
  }
}

/** Applies a drift correction when every guard holds; else stamps the guards that do not. */
function correct(
  world: UpdatesWorld,
  tables: Tables,
  { row, record }: Settling,
  entry: UpdateEntry,
  proposalId: number,
): Changed | null {
  const section = tables.context.find(row.workspace, entry.contract);
  const stored: JsonObject = section === undefined ? {} : { [entry.contract]: section };
  const { applies, failed, evidence, key_path } = evaluateDrift({
    entry,
    stored,
    goal: row.goal,
    project: row.project,
    record: record === null ? null : record.filter(isRun),
  });
  if (!applies || evidence === null || key_path === null || row.project === null) {
    tables.proposals.stampFailedGuards(proposalId, failed);
    return null;
  }
  const by = correctorOf(row);
  try {
    tables.nested(() => {
      const at = world.clock.now();
      const payload = mergeContext(section, entry.payload);
      tables.context.put(row.workspace, entry.contract, payload, { at, by, proposal_id: proposalId });
      tables.proposals.decide(proposalId, {
        status: "accepted",
        decided_by: by,
        decided_at: at,
        decision_note: decisionNote(evidence),
      });
    });
  } catch (error) {
    // A store that fails may have undone the whole transaction: no close stands on it.
    if (error instanceof WritError) throw error;
    // Else the close stands whatever went wrong with the correction: the orchestrator decides.
    tables.proposals.stampFailedGuards(proposalId, [APPLY_FAILED]);
    return null;
  }
  return { project: row.project, section: entry.contract, key_path };
}

function isRun(record: ToolRecord): record is ToolRecord & { readonly command: string } {
  return record.tool === "bash" && record.command !== null;
}

/** What the stop lane stamps: the shape alone; nothing is stored, deposited or applied. */
export function shapeRefusals(value: JsonValue | undefined): readonly UpdateRefusal[] {
  return readUpdates(value).refused;
}
