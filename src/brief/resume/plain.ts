/**
 * What is told beside the answer when a brief is taken up: all that a plain one says, where it was written, and how the turn
 * stands that it tells of. It goes to standard error and stops nothing.
 */
import type { Brief } from "../../core/brief/brief.ts";
import { turnOf } from "../../core/brief/turn-text.ts";
import { isClosed } from "../../core/contract/state.ts";
import { toplevelOf } from "../git-facts.ts";
import { noticeDrift } from "./entry.ts";
import type { ResumeWorld } from "./world.ts";

/** Whether the turn that a brief tells of can still be taken over. */
export function noticeTurn(world: ResumeWorld, { intent }: Brief): void {
  const id = turnOf(intent);
  if (id === null) return;
  const turn = world.turn(id);
  if (turn === null) {
    world.notice(`Warning: turn ${id} is not in the store of this user (WRIT_DATA_DIR)`);
    return;
  }
  if (!isClosed(turn.agent_state)) {
    world.notice(`To take over the turn: export WRIT_CONTRACT_ID=${id}`);
    return;
  }
  const next = turn.live === null ? "" : `; ${turn.live} continues it`;
  world.notice(`Warning: turn ${id} was closed since the brief was written (${turn.agent_state})${next}`);
}

/** A plain brief that names no worktree: what it says beside its intent, and what is not as it was. */
export function noticePlain(world: ResumeWorld, brief: Brief): void {
  world.notice(`Title: ${brief.title}`);
  for (const { text, rejected } of brief.decisions) world.notice(`Decision: ${rejected ? "rejected: " : ""}${text}`);
  for (const question of brief.open_questions) world.notice(`Open question: ${question}`);
  const written = brief.repo_state?.fields?.toplevel ?? null;
  if (written === null) return;
  const here = toplevelOf(world, world.cwd);
  if (here === written) noticeDrift(world, brief, here);
  else world.notice(`Warning: the brief was written in ${written}; this is ${here ?? "no checkout"}`);
}
