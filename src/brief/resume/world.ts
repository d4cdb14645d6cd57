/** What resuming needs of the world beside what handing off needs: somebody to ask, and somewhere to talk. */
import type { TaskStatus } from "../../core/tracker/task.ts";
import type { BriefWorld } from "../world.ts";

/** The answers that only a person may give, as flags; null and false: not given. */
export type Answers = {
  readonly pick: number | null;
  readonly base: string | null;
  readonly spec: string | null;
  readonly plan: string | null;
  readonly approved: boolean | null;
  readonly confirm: boolean;
  /** Task number to status. */
  readonly tasks: ReadonlyMap<number, TaskStatus>;
  readonly stage: "implement" | "verify" | null;
  readonly target: "verify" | "stop" | null;
  readonly worktree: string | null;
  readonly skipPrCheck: boolean;
  readonly pendingRecovered: boolean;
  readonly createWorktree: boolean;
};

export type ResumeWorld = BriefWorld & {
  readonly answers: Answers;
  /** The words behind `writ resume`, as they were typed. */
  readonly typed: readonly string[];
  /** How a turn stands in the store of this user: its state, and what continues it, if anything; null: it is not there. */
  turn(contractId: string): { readonly agent_state: string; readonly live: string | null } | null;
  /** A line of the answer, as it comes: the calls, the closing lines, what a question is about. */
  say(text: string): void;
  /** Drift, skills, what happened to a former flow: for standard error. */
  notice(text: string): void;
  /** What a person types at a prompt; null where nobody can be asked. */
  ask(prompt: string): string | null;
};
