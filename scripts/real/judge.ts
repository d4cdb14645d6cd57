/**
 * What must hold of a call of `writ delegate --json`, whatever the model made of the work. Written from the
 * specification of the result document and of the exit statuses, and from nothing in `src/`: a mistake there is to be
 * seen here.
 *
 * Source: delegation run, sections 1.2, 1.3, 3
 */
import type { Run } from "./runs.ts";

/** How a call ended. `status` is null when it had to be ended. */
export type Ended = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** One row of the table. */
export type Row = {
  readonly leg: string;
  readonly status: string;
  readonly defer_class: string;
  readonly stop_reason: string;
  readonly steps: number;
  readonly repack: string;
  readonly prompt: number;
  readonly completion: number;
  readonly sec: number;
  readonly why: string;
};

type Leg = Readonly<Record<string, unknown>>;
type Document = { readonly ok: unknown; readonly summary: Leg; readonly results: readonly Leg[] };

const BUCKETS = ["succeeded", "deferred", "failed_verification", "failed"] as const;
const CLASSES = ["abstention", "budget", "infrastructure", "config", "contract", "capacity", "write", "canceled"];
const STOPS = [
  ...["done", "finish", "forced_final", "budget", "wall", "empty", "reasoning_starved", "tool_call_cut"],
  ...["unparsed_tool_call", "repetition", "context", "error", "canceled"],
];
const MODES = ["none", "lossless", "grammar", "json_schema", "json_object", "prompt"];

/**
 * Holds a call against what every call keeps.
 *
 * @returns rows for the table, and what does not hold; none means that all of it does
 */
export function judge(run: Run, ended: Ended): { readonly rows: readonly Row[]; readonly faults: readonly string[] } {
  const { status, stdout, stderr } = ended;
  if (status === null) return nothing(run, `it was not done after ${run.limit_sec} s`);
  if (status === 70 || status >= 128) return nothing(run, `it ended in ${status}: ${stderr.trim().slice(-300)}`);
  const document = parse(stdout);
  if (document === null) return nothing(run, `stdout is not one result document: ${stdout.trim().slice(0, 200)}`);

  const faults: string[] = [];
  const must = (holds: boolean, fault: string) => {
    if (!holds) faults.push(`${run.name}: ${fault}`);
  };
  must(/[^\n]\n$/.test(stdout), "stdout does not end with one line feed");
  must(document.ok === (status === 0), `ok is ${document.ok}, and the exit status ${status}`);

  const { summary, results } = document;
  must(results.length === run.legs.length, `${results.length} results for ${run.legs.length} legs`);
  const counted = BUCKETS.map((bucket) => results.filter((leg) => leg.status === bucket).length);
  BUCKETS.forEach((bucket, place) => {
    must(summary[bucket] === counted[place], `summary.${bucket} is ${summary[bucket]}, and ${counted[place]} legs are`);
  });
  const sum = BUCKETS.reduce((total, bucket) => total + numberAt(summary, bucket), 0);
  must(sum === results.length, `the buckets sum to ${sum} and not to ${results.length}`);
  const blamed = results.filter(({ defer_class }) => defer_class === "infrastructure" || defer_class === "config");
  must(summary.infrastructure === blamed.length, `summary.infrastructure is ${summary.infrastructure}`);
  const wanted = numberAt(summary, "failed") > 0 ? 1 : numberAt(summary, "infrastructure") > 0 ? 4 : 0;
  must(status === wanted, `the exit status is ${status} and not ${wanted}`);

  results.forEach((leg, place) => {
    for (const fault of legFaults(leg, run.legs[place])) must(false, `leg ${place + 1}: ${fault}`);
    must(leg.index === place, `leg ${place + 1}: its index is ${leg.index}`);
  });
  return { rows: results.map((leg, place) => rowOf(run, leg, place)), faults };
}

/** What does not hold of one leg. */
function legFaults(leg: Leg, asked: Run["legs"][number] | undefined): readonly string[] {
  const faults: string[] = [];
  const must = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  const { status } = leg;
  must(
    BUCKETS.some((bucket) => bucket === status),
    `its status is ${status}`,
  );
  must(leg.deferred === (status === "deferred"), `deferred is ${leg.deferred} on a leg that is ${status}`);
  must(status === "succeeded" || textAt(leg, "reason") !== "", `it is ${status} and says no reason`);
  must(status !== "deferred" || CLASSES.includes(textAt(leg, "defer_class")), `its class is "${leg.defer_class}"`);
  must((leg.failed === true) === (status === "failed"), `failed is ${leg.failed} on a leg that is ${status}`);
  must(leg.scripted === undefined, "a scripted seat answered");
  must(leg.stop_reason === undefined || STOPS.includes(textAt(leg, "stop_reason")), `it stopped by ${leg.stop_reason}`);
  const mode = textAt(objectAt(leg, "repack"), "mode");
  must(mode === "" || MODES.includes(mode), `its repack mode is ${mode}`);
  must(/^[0-9a-f]{64}$/.test(textAt(leg, "contract_sha256")), "it names no contract_sha256");

  const outcomes = listAt(leg, "acceptance");
  const passed = outcomes.filter(({ outcome }) => outcome === "pass").length;
  if (asked === undefined || status === "deferred" || status === "failed") {
    must(outcomes.length === 0, `acceptance was judged on a leg that is ${status}`);
    return faults;
  }
  const judged = outcomes.map(({ check }) => check);
  must(
    asked.acceptance.every((check) => judged.includes(check)),
    "a check of the contract was not judged",
  );
  if (status === "succeeded") {
    must(passed === outcomes.length, `it succeeded with ${outcomes.length - passed} checks that do not pass`);
    must(leg.acceptance_failures === undefined, "it succeeded and has acceptance_failures");
    must(asked.acceptance.length === 0 || outcomes.length > 0, "it succeeded, and nothing was judged");
    must(!asked.hasSchema || typeof leg.structured === "object", "it succeeded without the structured answer");
    must(!asked.isWrite || textAt(leg, "diff") !== "", "it succeeded without a diff");
  } else {
    must(passed < outcomes.length, "verification failed, and every check passes");
  }
  return faults;
}

function rowOf(run: Run, leg: Leg, place: number): Row {
  const tokens = objectAt(leg, "tokens");
  const failures = Array.isArray(leg.acceptance_failures) ? leg.acceptance_failures.map(String) : [];
  return {
    leg: run.legs.length === 1 ? run.name : `${run.name}#${place + 1}`,
    status: textAt(leg, "status"),
    defer_class: textAt(leg, "defer_class"),
    stop_reason: textAt(leg, "stop_reason"),
    steps: numberAt(leg, "steps"),
    repack: textAt(objectAt(leg, "repack"), "mode"),
    prompt: numberAt(tokens, "prompt"),
    completion: numberAt(tokens, "completion"),
    sec: numberAt(leg, "wall_ms") / 1000,
    why: failures.length > 0 ? failures.join("; ") : textAt(leg, "reason"),
  };
}

/** A call of which there is nothing to judge. */
function nothing(run: Run, fault: string) {
  const empty = { defer_class: "", stop_reason: "", steps: 0, repack: "", prompt: 0, completion: 0, sec: 0 };
  return { rows: [{ leg: run.name, status: "NO RESULT", ...empty, why: fault }], faults: [`${run.name}: ${fault}`] };
}

/** The rows, with their columns under each other. */
export function renderTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.leg,
    row.status,
    row.defer_class,
    String(row.steps),
    row.stop_reason,
    row.repack,
    `${row.prompt}+${row.completion}`,
    row.sec.toFixed(0),
    row.why.replace(/\s+/g, " ").slice(0, 160),
  ]);
  const all = [["leg", "status", "class", "steps", "stop", "repack", "tokens", "s", "reason, or checks"], ...cells];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  return all
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function parse(stdout: string): Document | null {
  try {
    const value = JSON.parse(stdout);
    const isDocument = isObject(value) && isObject(value.summary) && Array.isArray(value.results);
    return isDocument && value.results.every(isObject) ? (value as unknown as Document) : null;
  } catch {
    return null; // no JSON, or more than one document
  }
}

function isObject(value: unknown): value is Record<string, unknown> & { readonly results: readonly unknown[] } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectAt(leg: Leg, key: string): Leg {
  const value = leg[key];
  return isObject(value) ? value : {};
}

function listAt(leg: Leg, key: string): readonly Leg[] {
  const value = leg[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textAt(leg: Leg, key: string): string {
  const value = leg[key];
  return typeof value === "string" ? value : "";
}

function numberAt(leg: Leg, key: string): number {
  const value = leg[key];
  return typeof value === "number" ? value : 0;
}
