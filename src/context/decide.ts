/** The orchestrator's decision on what a turn proposed: accepted proposals are merged, rejected ones are marked. */
import { mergeContext, PROJECT_IDENTITY, splitByOwner } from "../core/context/merge.ts";
import type { ProposalRow } from "../core/context/repository.ts";
import { liveLink } from "../core/contract/links.ts";
import type { HandoffRow, Tables } from "../core/contract/repository.ts";
import type { UpdateRefusal } from "../core/contract/updates.ts";
import { WritError } from "../core/error.ts";
import { parseJson } from "../core/json/parse.ts";
import { isArray, type JsonObject } from "../core/json/value.ts";
import { assertOutsideTurn } from "./sections.ts";
import type { ReadingWorld, World } from "./world.ts";

export type DecisionRequest = {
  /** A contract id or a handoff id. */
  readonly id: string;
  /** Only the proposal of this entry; null: every pending one. */
  readonly entry: number | null;
  readonly by: string;
};

/** What accepting does, or would do, with one entry or one key of it. */
export type Outcome = {
  readonly proposal_id: number;
  readonly entry: number;
  readonly section: string;
  /** The project key of a split payload; null for a whole entry. */
  readonly key: string | null;
  /** Null when no workspace owns the key. */
  readonly workspace: string | null;
  readonly action: "insert" | "merge" | "refuse";
  readonly code: string | null;
  readonly reason: string | null;
};

export type Accepted = {
  readonly contract_id: string;
  readonly handoff_id: number;
  readonly dry_run: boolean;
  readonly accepted: number;
  readonly outcomes: readonly Outcome[];
};

/**
 * Merges the pending proposals of a turn into project context, in one transaction. A proposal of which nothing could be
 * merged stays pending.
 *
 * Errors: `not_inside_a_turn`, `no_row`, `nothing_pending`.
 */
export function acceptProposals(world: World, request: DecisionRequest): Accepted {
  assertOutsideTurn(world, "accepts");
  return world.store.write((tables) => {
    const plan = planAccept(tables, request);
    for (const { proposal, merges } of plan.steps) {
      const refused = plan.refused.filter((one) => one.index === proposal.entry_index);
      merge(world, tables, { proposal, merges, refused }, request.by);
    }
    if (plan.refused.length > 0) stampRefusals(tables, plan.row, plan.refused);
    return accepted(plan, false);
  });
}

/** What accepting would do. Reads and writes nothing. Errors: as `acceptProposals`. */
export function previewAccept(world: ReadingWorld, request: DecisionRequest): Accepted {
  assertOutsideTurn(world, "accepts");
  const preview = world.store?.read((tables) => accepted(planAccept(tables, request), true));
  if (preview === undefined) throw noRow(request.id);
  return preview;
}

function accepted({ row, steps, outcomes }: Plan, isDryRun: boolean): Accepted {
  return { contract_id: row.contract_id, handoff_id: row.id, dry_run: isDryRun, accepted: steps.length, outcomes };
}

export type Rejected = {
  readonly contract_id: string;
  readonly handoff_id: number;
  readonly rejected: readonly number[];
};

/** Marks pending proposals as rejected and changes nothing else. Errors: as `acceptProposals`. */
export function rejectProposals(world: World, request: DecisionRequest & { readonly reason: string | null }): Rejected {
  assertOutsideTurn(world, "decides on");
  return world.store.write((tables) => {
    const { row, proposals } = pendingOf(tables, request);
    for (const { id } of proposals) {
      tables.proposals.decide(id, {
        status: "rejected",
        decided_by: request.by,
        decided_at: world.clock.now(),
        decision_note: request.reason,
      });
    }
    return { contract_id: row.contract_id, handoff_id: row.id, rejected: proposals.map((one) => one.entry_index) };
  });
}

function pendingOf(
  tables: Tables,
  { id, entry }: DecisionRequest,
): { readonly row: HandoffRow; readonly proposals: readonly ProposalRow[] } {
  const row = tables.handoffs.find(id) ?? (/^[1-9]\d{0,14}$/.test(id) ? tables.handoffs.findById(Number(id)) : null);
  if (row === null) throw noRow(id);
  const all = tables.proposals.listOf(row.contract_id).filter((one) => one.status === "pending");
  const proposals = entry === null ? all : all.filter((one) => one.entry_index === entry);
  if (proposals.length > 0) return { row, proposals };
  const live = liveLink(tables.handoffs, row);
  const waiting =
    live.id === row.id ? 0 : tables.proposals.listOf(live.contract_id).filter((one) => one.status === "pending").length;
  const which = entry === null ? "no proposal" : `no proposal of entry ${entry}`;
  throw new WritError("nothing_pending", `Contract "${row.contract_id}" has ${which} that is pending`, {
    hint:
      waiting > 0
        ? `It is continued by ${live.contract_id}, which has ${waiting}: writ context accept ${live.id}`
        : `See them all: writ contract proposals list --contract-id ${row.contract_id} --status all`,
  });
}

function noRow(id: string): WritError {
  return new WritError("no_row", `There is no contract or row "${id}"`, {
    hint: "See the rows with: writ contract list",
  });
}

type Merge = { readonly workspace: string; readonly payload: JsonObject };

type Plan = {
  readonly row: HandoffRow;
  /** The proposals that are merged, in their order. */
  readonly steps: readonly { readonly proposal: ProposalRow; readonly merges: readonly Merge[] }[];
  readonly outcomes: readonly Outcome[];
  readonly refused: readonly UpdateRefusal[];
};

function planAccept(tables: Tables, request: DecisionRequest): Plan {
  const { row, proposals } = pendingOf(tables, request);
  const made = new Set<string>();
  const planned = proposals.map((proposal) => {
    const share =
      proposal.section === PROJECT_IDENTITY ? splitIdentity(tables, proposal) : whole(tables, row, proposal);
    // An earlier proposal of the same turn makes the section that a later one merges into.
    const outcomes = share.outcomes.map((one) =>
      one.action === "insert" && made.has(one.section) ? { ...one, action: "merge" as const } : one,
    );
    made.add(proposal.section);
    return { ...share, proposal, outcomes };
  });
  return {
    row,
    steps: planned.filter(({ merges }) => merges.length > 0),
    outcomes: planned.flatMap(({ outcomes }) => outcomes),
    refused: planned.flatMap(({ refused }) => refused),
  };
}

type Share = Pick<Plan, "outcomes" | "refused"> & { readonly merges: readonly Merge[] };

function whole(tables: Tables, { workspace }: HandoffRow, proposal: ProposalRow): Share {
  const action = tables.context.find(workspace, proposal.section) === undefined ? "insert" : "merge";
  const outcome = { ...about(proposal), key: null, workspace, action, code: null, reason: null } as const;
  return { merges: [{ workspace, payload: proposal.payload }], outcomes: [outcome], refused: [] };
}

/** Each key goes to the workspace that owns its project. */
function splitIdentity(tables: Tables, proposal: ProposalRow): Share {
  const owners = tables.context
    .listWorkspaces(PROJECT_IDENTITY)
    .map(({ workspace, payload }) => ({ workspace, keys: Object.keys(payload) }));
  const { owned, refused } = splitByOwner(proposal.entry_index, proposal.payload, owners);
  const base = about(proposal);
  const merged = owned.flatMap(({ workspace, keys }) =>
    keys.map((key): Outcome => ({ ...base, key: key.stored, workspace, action: "merge", code: null, reason: null })),
  );
  const left = refused.map(
    ({ key, code, reason }): Outcome => ({ ...base, key, workspace: null, action: "refuse", code, reason }),
  );
  return { merges: owned, outcomes: [...merged, ...left], refused };
}

function about({ id, entry_index, section }: ProposalRow): Pick<Outcome, "proposal_id" | "entry" | "section"> {
  return { proposal_id: id, entry: entry_index, section };
}

/** What no workspace took is kept with the decision: the rest of the proposal is decided all the same. */
function merge(
  world: World,
  tables: Tables,
  { proposal, merges, refused }: { proposal: ProposalRow; merges: readonly Merge[]; refused: readonly UpdateRefusal[] },
  by: string,
): void {
  const at = world.clock.now();
  for (const { workspace, payload } of merges) {
    const after = mergeContext(tables.context.find(workspace, proposal.section), payload);
    tables.context.put(workspace, proposal.section, after, { at, by, proposal_id: proposal.id });
  }
  const left = refused.map(({ key, code }) => `${key ?? "all"} (${code})`);
  const decision_note = left.length === 0 ? null : `left out: ${left.join(", ")}`;
  tables.proposals.decide(proposal.id, { status: "accepted", decided_by: by, decided_at: at, decision_note });
}

/** Appends to what the close had refused; the same refusal is not stamped twice. */
function stampRefusals(tables: Tables, row: HandoffRow, refused: readonly UpdateRefusal[]): void {
  const parsed = row.update_contracts_refused === null ? null : parseJson(row.update_contracts_refused);
  const before = parsed?.ok === true && isArray(parsed.value) ? parsed.value : [];
  const known = new Set(before.map((one) => JSON.stringify(one)));
  const added = refused.filter((one) => !known.has(JSON.stringify(one)));
  tables.handoffs.stampRefused(row.id, JSON.stringify([...before, ...added]));
}
