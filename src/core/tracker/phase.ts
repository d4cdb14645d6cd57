/** The five phases of a flow, always in this order, and what is kept of each. */

export const PHASE_NAMES = ["brainstorm", "plan", "implement", "verify", "ship"] as const;
export type PhaseName = (typeof PHASE_NAMES)[number];

export const PHASE_STATUSES = ["pending", "in_progress", "complete", "skipped"] as const;
export type PhaseStatus = (typeof PHASE_STATUSES)[number];

/** A reason survives on a skipped phase only, a substep on one that is in progress. */
export type Phase = {
  readonly name: PhaseName;
  readonly status: PhaseStatus;
  /** One line, never empty. */
  readonly reason?: string;
  /** One line, trimmed, never empty. */
  readonly substep?: string;
};

export function isPhaseName(word: string): word is PhaseName {
  return (PHASE_NAMES as readonly string[]).includes(word);
}
