/**
 * Recording evidence: in its row where it is a short text, else in a file of its own.
 *
 * The file is written before the row and outside of its transaction, so that a long copy keeps nobody waiting; a row
 * that is refused takes the file and its folders back.
 */
import type { Tables } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { pathPartFault } from "../core/evidence/path-part.ts";
import { type EvidenceType, inlineText, type Payload, type Polarity } from "../core/evidence/payload.ts";
import type { EvidenceRow, KeptBlob, NewEvidence } from "../core/evidence/repository.ts";
import { seekBrief } from "../core/task/brief.ts";
import type { BriefRow } from "../core/task/repository.ts";
import type { World } from "./world.ts";

export type EvidenceRequest = {
  readonly brief: string;
  readonly ac_id: string;
  readonly type: EvidenceType;
  readonly polarity: Polarity;
  readonly task_id: number | null;
  /** Null: the agent of the turn at work. */
  readonly created_by: string | null;
  readonly workspace: string | null;
};

/**
 * Records one payload under an acceptance criterion of a brief.
 *
 * Errors: `evidence_refused` for an unknown brief, a task of another brief, a name that is no path part, or a link in
 * the way; `file_unreadable` from the payload; `store_busy`, `store_failed`.
 */
export function addEvidence(world: World, request: EvidenceRequest, payload: Payload): EvidenceRow {
  checkPart(request.ac_id, "acceptance id", "--ac");
  const { brief } = world.store.read((tables) => findHome(world, tables, request));
  const text = inlineText(payload.head);
  const blob = text === null ? keep(world, brief, request, payload) : null;
  const size_bytes = blob?.size_bytes ?? payload.head.length;
  try {
    return world.store.write((tables) => {
      const home = findHome(world, tables, request);
      const id = tables.evidence.insert(rowOf(world, request, home, { text, blob, size_bytes }));
      const row = tables.evidence.findRow(id);
      if (row === null) throw new Error("A row of evidence is missing after its insert");
      return row;
    });
  } catch (error) {
    blob?.discard();
    throw error;
  }
}

type Home = { readonly brief: BriefRow; readonly agent_name: string | null };

function findHome(world: World, tables: Tables, request: EvidenceRequest): Home {
  const { workspace, brief } = seekBrief(tables, world, { name: request.brief, workspace: request.workspace });
  if (brief === null) {
    throw refused("--brief", `there is no brief "${request.brief}" in workspace "${workspace}"`, BRIEF_HINT);
  }
  if (request.task_id !== null && tables.tasks.find(request.task_id)?.brief_id !== brief.id) {
    const hint = `See its tasks with: writ task list --brief ${brief.name}`;
    throw refused("--task", `the plan of brief "${brief.name}" has no task ${request.task_id}`, hint);
  }
  const turn = world.contractId === null ? null : tables.handoffs.find(world.contractId);
  return { brief, agent_name: turn?.agent_name ?? null };
}

const BRIEF_HINT = "See what there is with: writ task brief list";

function keep(world: World, brief: BriefRow, request: EvidenceRequest, payload: Payload): KeptBlob {
  checkPart(brief.workspace, "workspace", "--workspace");
  checkPart(brief.name, "brief", "--brief");
  const { workspace, name } = brief;
  const place = { workspace, brief: name, ac_id: request.ac_id, name: `${world.mint.uuid()}${payload.extension}` };
  return world.evidence.keep(place, payload.pieces());
}

type Stored = { readonly text: string | null; readonly blob: KeptBlob | null; readonly size_bytes: number };

function rowOf(world: World, request: EvidenceRequest, home: Home, { text, blob, size_bytes }: Stored): NewEvidence {
  return {
    brief_id: home.brief.id,
    ac_id: request.ac_id,
    task_id: request.task_id,
    type: request.type,
    polarity: request.polarity,
    text,
    artifact_path: blob?.path ?? null,
    size_bytes,
    created_by_agent: request.created_by ?? home.agent_name,
    source_contract_id: world.contractId,
    source_entry_hash: null,
    created_at: world.clock.now(),
  };
}

function checkPart(name: string, what: string, path: string): void {
  const fault = pathPartFault(name);
  if (fault === null) return;
  throw refused(path, `the ${what} "${name}" ${fault}`, "It names a folder of evidence: use letters, digits, - and _");
}

function refused(path: string, why: string, hint: string): WritError {
  return new WritError("evidence_refused", `Evidence is refused: ${why}`, { path, hint });
}
