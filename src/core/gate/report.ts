/** What a gate says in the end, as data: on disk, and with `--json` on standard output. */
import type { Proof } from "./gate-file.ts";
import type { Protections } from "./proof-place.ts";

export type Verdict = "PASS" | "FAIL" | "INCONCLUSIVE";

/**
 * Why a leg is not a PASS; "" where it is one. `fixture`: not in its staged state. `deferred`, `acceptance`, `files`,
 * `patch`, `proof`: the work is wrong. `unreachable`, `tool`, `time`, `sandbox`: it could not be looked at.
 */
export type Cause =
  | ""
  | "fixture"
  | "deferred"
  | "acceptance"
  | "files"
  | "patch"
  | "proof"
  | "unreachable"
  | "tool"
  | "time"
  | "sandbox";

export type ProofReport = {
  readonly kind: Proof["kind"];
  readonly when: Proof["when"];
  /** What a run was to be; null for a proof that runs nothing. */
  readonly expect: "pass" | "fail" | null;
  readonly verdict: Verdict;
  readonly detail: string;
};

export type LegReport = {
  readonly name: string;
  readonly verdict: Verdict;
  readonly cause: Cause;
  /** What was looked at and what was found; "" for a PASS. */
  readonly detail: string;
  readonly node: string;
  readonly seat: string;
  readonly scripted: boolean;
  readonly wall_ms: number;
  /** Of the delegation; null where none was made. */
  readonly exit: number | null;
  readonly steps: number;
  readonly diff_files: readonly string[];
  readonly diff_bytes: number;
  readonly diff: string;
  readonly applied: boolean;
  readonly proofs: readonly ProofReport[];
};

export type GateReport = {
  readonly gate: string;
  readonly form: string;
  readonly verdict: Verdict;
  /** Not every leg of the set was looked at. */
  readonly partial: boolean;
  readonly scripted: boolean;
  readonly ran_at: string;
  readonly writ_version: string;
  readonly route: "local" | "remote";
  /** "" for this machine's seat. */
  readonly remote: string;
  readonly protections: Protections;
  readonly legs: readonly LegReport[];
};

/**
 * The verdict over all legs: FAIL wins over INCONCLUSIVE, INCONCLUSIVE over PASS. Nothing looked at is no PASS, and
 * neither is a part of the set.
 */
export function verdictOver(legs: readonly { readonly verdict: Verdict }[], isPartial: boolean): Verdict {
  if (legs.some(({ verdict }) => verdict === "FAIL")) return "FAIL";
  if (legs.length === 0 || isPartial) return "INCONCLUSIVE";
  return legs.some(({ verdict }) => verdict === "INCONCLUSIVE") ? "INCONCLUSIVE" : "PASS";
}

/** A leg in one line: `PASS t1 18.2s node-b/pool-b files=clamp.ts 412 B — red → green`. */
export function legLine(leg: LegReport): string {
  const place = leg.node === "" ? "—" : `${leg.node}/${leg.seat}${leg.scripted ? " (scripted)" : ""}`;
  const files = leg.diff_files.length === 0 ? "no files" : `files=${leg.diff_files.join(",")} ${leg.diff_bytes} B`;
  const why = leg.verdict === "PASS" ? colours(leg) : `${leg.cause}: ${leg.detail}`;
  return `${leg.verdict} ${leg.name} ${(leg.wall_ms / 1000).toFixed(1)}s ${place} ${files} — ${why}`;
}

/** What the runs before and after said: `red → green`; how many proofs held, where nothing was run before. */
function colours({ proofs }: LegReport): string {
  const runs = proofs.filter(({ kind }) => kind === "bun_test" || kind === "command");
  const before = runs.find(({ when }) => when === "before");
  if (before === undefined) return `${proofs.length} proofs hold`;
  return `${before.expect === "fail" ? "red" : "green"} → green`;
}

/** The last line of a gate: its verdict, and what played the seat. */
export function verdictLine({
  verdict,
  scripted,
  partial,
  legs,
}: Pick<GateReport, "verdict" | "scripted" | "partial" | "legs">): string {
  const count = (which: Verdict) => legs.filter((leg) => leg.verdict === which).length;
  const part = partial ? ", a part of the set" : "";
  const seat = scripted ? " (scripted seat)" : "";
  return `${verdict}${seat}: ${legs.length} legs${part}, ${count("PASS")} PASS, ${count("FAIL")} FAIL, ${count("INCONCLUSIVE")} INCONCLUSIVE`;
}
