/** A proof by a command: its status and what it printed, together. */
import { compilePattern } from "../pattern/re2.ts";
import type { Proof } from "./gate-file.ts";
import { type ProofOutcome, proofOutcome } from "./judge-proof.ts";

export type CommandProof = Extract<Proof, { kind: "command" }>;

export type CommandRun = {
  /** False: there is no such program, or none that may be run. */
  readonly is_started: boolean;
  /** Null when it was killed by a signal. */
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly ended_by: "itself" | "time" | "caller";
  /** Both streams in the order written, the middle cut. */
  readonly output: string;
};

/**
 * The verdict on a run. A program that is not there is INCONCLUSIVE: nothing was looked at.
 *
 * Errors: none
 * Source: delegation run, section 10.4
 */
export function judgeCommand(proof: CommandProof, run: CommandRun): ProofOutcome {
  const [program = ""] = proof.run;
  if (!run.is_started) return proofOutcome("INCONCLUSIVE", `no ${program}`);
  const why = faultOf(proof, run);
  if (why !== null) return proofOutcome("FAIL", `${why}${lastLine(run.output)}`);
  return proofOutcome("PASS", `ended in ${run.exit_code}${proof.match === undefined ? "" : " with the pinned text"}`);
}

function faultOf(proof: CommandProof, run: CommandRun): string | null {
  if (run.ended_by === "time") return `did not end within ${proof.timeout_sec} s`;
  if (run.ended_by === "caller") return "was stopped";
  if (run.exit_code === null) return `was ended by ${run.signal ?? "a signal"}`;
  if (proof.expect === "pass" && run.exit_code !== 0) return `ended in ${run.exit_code}, 0 is due`;
  if (proof.expect === "fail" && run.exit_code === 0) return "ended in 0, and it must fail";
  if (proof.match !== undefined && !matches(proof.match, run.output)) return `its output has no /${proof.match}/`;
  if (proof.not_match !== undefined && matches(proof.not_match, run.output)) {
    return `its output has /${proof.not_match}/`;
  }
  return null;
}

/** What it printed last, for whoever asks why; a line that is printed over ends with its carriage return. */
function lastLine(output: string): string {
  const line =
    output
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1)
      ?.trim() ?? "";
  return line === "" ? "; it printed nothing" : `; it printed last: ${line.slice(0, 160)}`;
}

function matches(pattern: string, text: string): boolean {
  const compiled = compilePattern(pattern);
  return compiled.ok && compiled.pattern.test(text);
}
