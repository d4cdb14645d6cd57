/** What a gate says in the end, as data: on disk, and with `--json` on standard output. */
import * as v from "valibot";
import { counted } from "../counted.ts";
import { parseJson } from "../json/parse.ts";

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

const VerdictWord = v.picklist(["PASS", "FAIL", "INCONCLUSIVE"]);
const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

const ProofReport = v.object({
  kind: v.string(),
  when: v.picklist(["before", "after"]),
  /** What a run was to be; null for a proof that runs nothing. */
  expect: v.nullable(v.picklist(["pass", "fail"])),
  verdict: VerdictWord,
  detail: v.string(),
});
export type ProofReport = v.InferOutput<typeof ProofReport>;

const LegReport = v.object({
  name: v.string(),
  verdict: VerdictWord,
  cause: v.string(),
  /** What was looked at and what was found; "" for a PASS. */
  detail: v.string(),
  node: v.string(),
  seat: v.string(),
  scripted: v.boolean(),
  wall_ms: v.pipe(v.number(), v.minValue(0)),
  /** Of the delegation; null where none was made. */
  exit: v.nullable(Count),
  steps: Count,
  diff_files: v.pipe(v.array(v.string()), v.readonly()),
  diff_bytes: Count,
  diff: v.string(),
  applied: v.boolean(),
  proofs: v.pipe(v.array(ProofReport), v.readonly()),
});
export type LegReport = Omit<v.InferOutput<typeof LegReport>, "cause"> & { readonly cause: Cause };

const GateReportShape = v.object({
  gate: v.string(),
  form: v.string(),
  verdict: VerdictWord,
  /** Not every leg of the set was looked at. */
  partial: v.boolean(),
  scripted: v.boolean(),
  /** RFC 3339, UTC. */
  ran_at: v.string(),
  writ_version: v.string(),
  route: v.picklist(["local", "remote"]),
  /** "" for this machine's seat. */
  remote: v.string(),
  protections: v.object({ sandbox: v.boolean(), network: v.boolean(), group_kill: v.boolean() }),
  legs: v.pipe(v.array(LegReport), v.readonly()),
});
/** As it is read back, `cause` may be a word of another version. */
export type GateReport = v.InferOutput<typeof GateReportShape>;

/** A report that was kept on disk; null where it is none. Errors: none, whatever the text */
export function readGateReport(text: string): GateReport | null {
  const parsed = parseJson(text);
  const read = parsed.ok ? v.safeParse(GateReportShape, parsed.value) : null;
  return read?.success === true ? read.output : null;
}

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
export function legLine(leg: GateReport["legs"][number]): string {
  const place = leg.node === "" ? "—" : `${leg.node}/${leg.seat}${leg.scripted ? " (scripted)" : ""}`;
  const files = leg.diff_files.length === 0 ? "no files" : `files=${leg.diff_files.join(",")} ${leg.diff_bytes} B`;
  const why = leg.verdict === "PASS" ? colours(leg) : `${leg.cause}: ${leg.detail}`;
  return `${leg.verdict} ${leg.name} ${(leg.wall_ms / 1000).toFixed(1)}s ${place} ${files} — ${why}`;
}

/** What the runs before and after said: `red → green`; how many proofs held, where nothing was run before. */
function colours({ proofs }: GateReport["legs"][number]): string {
  const runs = proofs.filter(({ kind }) => kind === "bun_test" || kind === "command");
  const before = runs.find(({ when }) => when === "before");
  if (before === undefined) return counted(proofs.length, "proof holds", "proofs hold");
  return `${before.expect === "fail" ? "red" : "green"} → green`;
}

/** The last line of a gate: its verdict, what played the seat, and whether all of the set was looked at. */
export function verdictLine({
  verdict,
  scripted,
  partial,
  legs,
}: Pick<GateReport, "verdict" | "scripted" | "partial" | "legs">): string {
  const count = (which: Verdict) => legs.filter((leg) => leg.verdict === which).length;
  // What was looked at decides: a part is the reason only where nothing else is.
  const isReason = verdict === "INCONCLUSIVE" && count("INCONCLUSIVE") === 0;
  const part = partial ? `, ${isReason ? "since it is" : "of"} a part of the set` : "";
  const seat = scripted ? " (scripted seat)" : "";
  return `${verdict}${seat}${part}: ${counted(legs.length, "leg")}, ${count("PASS")} PASS, ${count("FAIL")} FAIL, ${count("INCONCLUSIVE")} INCONCLUSIVE`;
}
