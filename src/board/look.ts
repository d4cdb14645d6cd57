/** What each page reads of the store. Every list has a bound. */
import type { Address } from "../core/board/address.ts";
import type { Approvals } from "../core/board/approvals-page.ts";
import { readClaims } from "../core/board/claims.ts";
import { GROUPS } from "../core/board/groups.ts";
import type { Overview, TurnList } from "../core/board/overview-page.ts";
import type { BoardDetail, BoardTable } from "../core/board/repository.ts";
import { MOMENTS, type RecordState, type TurnAddress, type TurnView } from "../core/board/turn-view.ts";
import { verifyChain } from "../core/record/digest.ts";
import type { BoardWorld } from "./world.ts";

/** Turns of one group on the first page, of a list on one page, under another turn. */
const GROUP_TURNS = 8;
const LIST_TURNS = 50;
const CHILDREN = 20;

const WORKSPACES = 100;
const EVIDENCE = 100;
const TURN_APPROVALS = 10;
const PENDING = 25;
const DECIDED = 25;

/** Records that are recomputed for one page, at most. */
const RECOMPUTED = 1000;

export function readOverview(board: BoardTable, { filter }: Extract<Address, { page: "overview" }>): Overview {
  const counts = board.countGroups(filter);
  const turns = GROUPS.flatMap((group) =>
    (counts.get(group) ?? 0) === 0 ? [] : ([[group, board.listTurns(group, filter, null, GROUP_TURNS)]] as const),
  );
  return { workspaces: board.listWorkspaces(WORKSPACES), counts, turns: new Map(turns) };
}

export function readList(board: BoardTable, address: Extract<Address, { page: "list" }>): TurnList {
  const { group, filter, before } = address;
  const turns = board.listTurns(group, filter, before, LIST_TURNS + 1);
  return {
    workspaces: board.listWorkspaces(WORKSPACES),
    counts: board.countGroups(filter),
    turns: turns.slice(0, LIST_TURNS),
    more: turns.length > LIST_TURNS,
  };
}

/** Null when there is no such row. */
export function readTurn(
  world: Pick<BoardWorld, "sha256">,
  board: BoardTable,
  { id, kinds, part }: TurnAddress,
): TurnView | null {
  const turn = board.findTurn(id);
  if (turn === null) return null;
  const claims = readClaims(turn.raw_handoff_json.text);
  const moments = board.listMoments(id, kinds, (part - 1) * MOMENTS, MOMENTS + 1);
  return {
    turn,
    claims,
    claimedRun: claims.command === null ? null : board.findRun(id, claims.command),
    record: recordState(world, board, turn),
    chain: board.listChain(id),
    children: board.listChildren(id, CHILDREN),
    evidence: board.listEvidence(id, claims.cited, EVIDENCE),
    approvals: board.listApprovals({ turn_id: id, pending: null, limit: TURN_APPROVALS }),
    moments: moments.slice(0, MOMENTS),
    more: moments.length > MOMENTS,
  };
}

export function readApprovals(board: BoardTable): Approvals {
  return {
    pending: board.listApprovals({ turn_id: null, pending: true, limit: PENDING }),
    waiting: board.countPending(),
    decided: board.listApprovals({ turn_id: null, pending: false, limit: DECIDED }),
  };
}

/** Recomputes the chain of records, and holds it against the head that a close stored. */
function recordState(world: Pick<BoardWorld, "sha256">, board: BoardTable, turn: BoardDetail): RecordState {
  const { record_head, record_count } = turn;
  if (turn.records === 0) {
    return (record_count ?? 0) > 0 ? { state: "broken", seq: null } : { state: "empty" };
  }
  const records = board.listRecords(turn.id, RECOMPUTED);
  if (records === null) return { state: "unread" };
  const chain = verifyChain(records, world.sha256);
  if (!chain.ok) return { state: "broken", seq: chain.seq };
  // Records that came after the close stand behind the stored head.
  if (record_count !== null) {
    const head = record_count === 0 ? null : (records[record_count - 1]?.digest ?? "nothing");
    if (head !== record_head) return { state: "broken", seq: null };
  }
  return { state: "whole" };
}
