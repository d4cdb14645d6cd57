/** One turn in a list. */

import { joined, type Markup, markup, type Piece } from "../html/markup.ts";
import { counted, LENGTHS, line } from "../html/shown-text.ts";
import type { Address } from "./address.ts";
import { hrefOf } from "./address.ts";
import { GROUP_TITLES, type Group, groupOf, NEVER_FINALIZED } from "./groups.ts";
import type { BoardTurn, RunEnd } from "./repository.ts";
import { age } from "./when.ts";

/** @param isMixed the list has turns of several groups: then each says its own */
export function renderCard(turn: BoardTurn, from: Address, now_ms: number, isMixed: boolean): Markup {
  const group = groupOf(turn.agent_state, turn.cut_reason);
  const facts = factsOf(turn, from, isMixed);
  return markup`<li class="card" data-group="${group}">
<div class="card-head"><h3><a href="${turnHref(turn.id, from)}">${nameOf(turn)}</a></h3> <span class="quiet">#${turn.id}</span> <span class="age">${age(turn.last_at, now_ms)}</span></div>
${turn.goal !== null && markup`<p class="goal">${line(turn.goal)}</p>\n`}${
  turn.conclusion !== null &&
  markup`<p class="conclusion"><span class="unseen">Conclusion: </span>${line(turn.conclusion)}</p>\n`
}${facts.length > 0 && markup`<p class="facts">${joined(facts, markup`<span class="dot" aria-hidden="true"> · </span>`)}</p>`}
</li>
`;
}

function factsOf(turn: BoardTurn, from: Address, isMixed: boolean): readonly Piece[] {
  const group = groupOf(turn.agent_state, turn.cut_reason);
  const facts: Piece[] = [];
  if (isMixed) facts.push(badge(group));
  if (group === "CUT")
    facts.push(markup`<span class="word">${line(turn.cut_reason ?? turn.agent_state, LENGTHS.word)}</span>`);
  facts.push(counted(turn.changes, "write"));
  facts.push(turn.records === 0 ? "no runs" : counted(turn.records, "record"));
  if (turn.last_run !== null) facts.push(markup`last ${exitMark(turn.last_run)}`);
  if ((turn.advice ?? 0) > 0) facts.push(markup`<span class="advice">${turn.advice} advice</span>`);
  if ((turn.skipped ?? 0) > 0) facts.push(`${turn.skipped} skipped`);
  if (turn.continues_handoff_id !== null) {
    facts.push(
      markup`continues <a href="${turnHref(turn.continues_handoff_id, from)}">#${turn.continues_handoff_id}</a>`,
    );
  }
  return facts;
}

export function turnHref(id: number, from: Address): string {
  return hrefOf({ page: "turn", id, kinds: "all", part: 1 }, from);
}

/** The agent's name, else its id. */
export function nameOf(turn: Pick<BoardTurn, "agent_name" | "agent_id">): Markup | null {
  return line(turn.agent_name ?? turn.agent_id, LENGTHS.word);
}

export function badge(group: Group): Markup {
  return markup`<span class="badge" data-group="${group}">${GROUP_TITLES[group]}</span>`;
}

/** How a turn ended, or that nothing has ended it. */
export function endText(cutReason: string | null): Piece {
  if (cutReason === null) return "closed by its agent";
  if (cutReason === NEVER_FINALIZED) return "not closed yet";
  return markup`cut: <span class="word">${line(cutReason, LENGTHS.word)}</span>`;
}

/** "exit 0", the signal, or that nobody knows: a number that was not kept is never shown as one. */
export function exitMark(run: Pick<RunEnd, "exit_code" | "signal" | "failed">): Markup {
  if (run.signal !== null) return markup`<span class="exit bad">killed by ${line(run.signal, LENGTHS.word)}</span>`;
  if (run.exit_code !== null) {
    return markup`<span class="exit ${run.exit_code === 0 ? "good" : "bad"}">exit ${run.exit_code}</span>`;
  }
  return run.failed
    ? markup`<span class="exit bad">failed</span>`
    : markup`<span class="exit unknown">exit unknown</span>`;
}
