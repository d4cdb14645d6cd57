/** How the board sorts turns: by state, and those that were cut apart from all. */
import type { RowState } from "../contract/state.ts";

/** A state, or "CUT": the turn ended without its agent closing it. */
export type Group = RowState | "CUT";

/** Who has the next move: somebody else than the agent, the agent, nobody. */
export type Lane = { readonly name: string; readonly title: string; readonly groups: readonly Group[] };

export const LANES: readonly Lane[] = [
  {
    name: "waiting",
    title: "Waiting for someone",
    groups: ["APPROVAL_REQUEST", "BLOCKED", "NEEDS_INPUT", "NEEDS_VERIFICATION"],
  },
  { name: "working", title: "At work", groups: ["IN_PROGRESS", "DISPATCHED"] },
  { name: "ended", title: "Ended", groups: ["COMPLETE", "CUT"] },
];

export const GROUPS: readonly Group[] = LANES.flatMap((lane) => lane.groups);

/** What a person reads for a group. */
export const GROUP_TITLES: Readonly<Record<Group, string>> = {
  DISPATCHED: "Dispatched",
  IN_PROGRESS: "In progress",
  APPROVAL_REQUEST: "Approval request",
  BLOCKED: "Blocked",
  NEEDS_INPUT: "Needs input",
  NEEDS_VERIFICATION: "Needs verification",
  COMPLETE: "Complete",
  CUT: "Cut",
};

export function isGroup(word: string): word is Group {
  return Object.hasOwn(GROUP_TITLES, word);
}

/** The mark of a birth: nothing closed the row since. Such a turn is at work, not cut. */
export const NEVER_FINALIZED = "never_finalized";

/** @param state of a row; a word that is no state, edited in by hand, counts as cut */
export function groupOf(state: string, cutReason: string | null): Group {
  if (cutReason !== null && cutReason !== NEVER_FINALIZED) return "CUT";
  return isGroup(state) ? state : "CUT";
}
