/** How a command ended that ran apart from us, for a proof. */
export type CommandEnd = {
  /** False when there was no such program, or none that may be run; `exit_code` is then what a shell says. */
  readonly is_started: boolean;
  /** Null when it was killed by a signal. */
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** What ended it: itself, the bound on its time, or the caller's signal. */
  readonly ended_by: "itself" | "time" | "caller";
  /** Milliseconds since the epoch. */
  readonly started_ms: number;
  readonly ended_ms: number;
  /** Something kept its output open and out of our reach; what came later was not kept. */
  readonly cut: boolean;
};
