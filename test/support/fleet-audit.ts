/**
 * What must hold when a storm over a fleet is over, counted from what is on disk: node databases, ledgers, result documents,
 * records of calls, what nodes and seats wrote down.
 *
 * - every leg of a call that ended has exactly one published result, and a success is one;
 * - of a call that was killed, what a node had done is in its record or was collected;
 * - what a node acknowledged it has brought to an end, and no job ran twice at once on one node;
 * - no node held more than its backlog, and nothing is left open, half written or taken.
 */
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Summary } from "../../src/core/delegation/result.ts";
import { readRunEntry } from "../../src/core/delegation/run-entry.ts";
import { exitOfSummary } from "../../src/core/delegation/summary.ts";
import { DEFER_CLASSES } from "../../src/core/delegation/wire-result.ts";
import { type Leg, type Printed, readFolder } from "./fleet.ts";
import type { SeatSpan, SentCall, StormNode } from "./fleet-storm.ts";

export type FleetAudit = {
  readonly counts: Readonly<Record<string, number>>;
  /** What is wrong; empty is a clean audit. */
  readonly faults: readonly string[];
};

type Row = {
  readonly job_id: string;
  readonly state: string;
  readonly restarts: number;
  readonly reaped: number;
  readonly label: string;
  readonly result: string | null;
};

/** Statuses of processes that signals ended. */
const STOPPED: Readonly<Record<string, number>> = { SIGINT: 130 };
const KILLED = 137;
const SUCCESS_OF = new Set(["fast", "slow"]);
/** Two requests about one leg may touch: one's end is seen when its connection is closed. */
const TOUCH_MS = 25;

export function auditFleet(fleet: {
  readonly nodes: readonly StormNode[];
  readonly homes: readonly { readonly state: string; recovered(): Readonly<Record<string, unknown>> }[];
  /** Seats of delegators, of one slot each. */
  readonly seatsHere: readonly { readonly spans: readonly SeatSpan[] }[];
  readonly calls: readonly SentCall[];
}): FleetAudit {
  const audit = new Audit(fleet);
  audit.look();
  return { counts: Object.fromEntries(audit.counts), faults: audit.faults };
}

class Audit {
  readonly counts = new Map<string, number>();
  readonly faults: string[] = [];
  readonly #fleet: Parameters<typeof auditFleet>[0];
  /** Jobs by the tag of their leg, from what delegators sent. */
  readonly #jobs = new Map<string, Set<string>>();
  /** Rows of all nodes by job. */
  readonly #rows = new Map<string, Row>();
  readonly #recovered = new Map<string, unknown>();

  constructor(fleet: Parameters<typeof auditFleet>[0]) {
    this.#fleet = fleet;
  }

  look(): void {
    for (const home of this.#fleet.homes) {
      for (const [job, result] of Object.entries(home.recovered())) this.#recovered.set(job, result);
    }
    this.#count("results recovered", this.#recovered.size);
    for (const node of this.#fleet.nodes) this.#node(node);
    for (const call of this.#fleet.calls) this.#call(call);
    for (const { spans } of this.#fleet.seatsHere) {
      this.#count("requests to seats here", spans.length);
      const sorted = spans.toSorted((left, right) => left.from_ms - right.from_ms);
      for (const [at, span] of sorted.entries()) {
        const next = sorted[at + 1];
        if (next === undefined || span.to_ms - next.from_ms <= TOUCH_MS) continue;
        this.#fault(`a seat of one slot worked on ${span.tag} and ${next.tag} at once`);
      }
    }
  }

  #count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  #fault(text: string): void {
    if (this.faults.length < 50) this.faults.push(text);
  }

  // Nodes.

  #node(node: StormNode): void {
    for (const { method, body } of node.front.sent) {
      const sent = method === "POST" && body !== "" ? (JSON.parse(body) as Submitted) : null;
      const tag = /leg-\d+/.exec(sent?.contract.goal ?? "")?.[0];
      if (sent === null || tag === undefined) continue;
      this.#count("submits");
      this.#jobs.set(tag, (this.#jobs.get(tag) ?? new Set()).add(sent.job_id));
    }
    const rows = this.#rowsOf(node);
    for (const row of rows) {
      this.#rows.set(row.job_id, row);
      this.#count(`jobs: ${row.state}${row.reaped === 1 ? " (reaped)" : ""}`);
      if (row.restarts > 0) this.#count("jobs: restarted");
      if (!["done", "canceled"].includes(row.state)) this.#fault(`${node.id}: job ${row.job_id} is ${row.state}`);
      if (row.state === "done" && row.result === null) this.#fault(`${node.id}: job ${row.job_id} has no result`);
    }
    const there = new Set(rows.map(({ job_id }) => job_id));
    for (const job of node.front.acknowledged.keys()) {
      this.#count("jobs acknowledged");
      if (!there.has(job) && !node.robbed.has(job)) this.#fault(`${node.id}: acknowledged job ${job} is not there`);
    }
    if (node.held.most > node.max_queue) this.#fault(`${node.id} held ${node.held.most} of ${node.max_queue} jobs`);
    this.#count("health samples", node.held.asked);
    this.#runs(node);
    const left = readFolder(join(node.world.data, "run", "work"));
    if (left.length > 0) this.#fault(`${node.id}: folders of jobs are left: ${left.join(", ")}`);
    const slots = readFolder(join(node.world.data, "run", "slots")).flatMap((seat) =>
      readFolder(join(node.world.data, "run", "slots", seat)).filter((name) => /^\d+$/.test(name)),
    );
    if (slots.length > 0) this.#fault(`${node.id}: ${slots.length} slots are taken`);
  }

  #rowsOf(node: StormNode): readonly Row[] {
    const db = new Database(join(node.world.data, "run", "node.db"), { readonly: true });
    try {
      const check = db.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get();
      if (check?.integrity_check !== "ok") this.#fault(`${node.id}: the store says ${check?.integrity_check}`);
      return db
        .query<Row, []>(
          "SELECT job_id, state, restarts, reaped, label, result FROM jobs LEFT JOIN job_texts USING (seq) ORDER BY seq",
        )
        .all();
    } finally {
      db.close();
    }
  }

  /** A process runs a job once, and a seat works on one request about a leg at a time. */
  #runs(node: StormNode): void {
    for (const talk of node.talks) {
      const started = new Set<string>();
      for (const line of talk.split("\n")) {
        const [, job = "", what = ""] = /job (wrt-[0-9a-f]{24}) (starts on|goes back into the line)/.exec(line) ?? [];
        if (what === "starts on") {
          this.#count("runs");
          if (started.has(job)) this.#fault(`${node.id}: one process started job ${job} twice`);
          started.add(job);
        } else if (job !== "") started.delete(job);
        if (/by a fault of this program|a request ended in/.test(line))
          this.#fault(`${node.id}: ${line.slice(0, 400)}`);
      }
    }
    for (const [tag, spans] of Map.groupBy(node.spans, (span) => span.tag)) {
      this.#count("requests to seats", spans.length);
      const sorted = spans.toSorted((left, right) => left.from_ms - right.from_ms);
      for (const [at, { from_ms, to_ms }] of sorted.entries()) {
        const next = sorted[at + 1];
        if (next !== undefined && to_ms - next.from_ms > TOUCH_MS) {
          const by = Math.round(to_ms - next.from_ms);
          this.#fault(`${node.id}: ${tag} ran twice at once: from ${Math.round(from_ms)} on, for ${by} ms`);
        }
      }
    }
  }

  // Calls.

  #call(call: SentCall): void {
    const { ran, killed, label } = call;
    if (ran === null) {
      this.#fault(`${label} never ended`);
      return;
    }
    this.#count("legs", call.legs.length);
    const record = this.#recordOf(call);
    // A signal that comes before the process listens for it ends it as any other.
    if (killed !== null && ran.stdout === "" && [KILLED, STOPPED[killed]].includes(ran.exit)) {
      this.#killed(call, record);
      return;
    }
    const document = documentOf(ran.stdout);
    if (document === null) {
      this.#fault(
        `${label} ended in ${ran.exit} without a document: ${ran.stdout.slice(0, 200)}${ran.stderr.slice(-400)}`,
      );
      return;
    }
    this.#document(call, document);
    const stopped = killed !== null && ran.exit === STOPPED[killed] ? ran.exit : null;
    const exit = exitOfSummary(document.summary as unknown as Summary, call.legs.length, false, stopped);
    if (ran.exit !== exit) this.#fault(`${label} ended in ${ran.exit}, and its document says ${exit}`);
    const isWhole = record?.ended === true && record.results.length === call.legs.length;
    if (!isWhole && (document.summary.telemetry_lost ?? 0) === 0) this.#fault(`${label} has no whole record`);
  }

  #document({ label, legs }: SentCall, { results, summary }: Printed): void {
    if (results.map(({ index }) => index).join() !== legs.map((_, at) => at).join()) {
      this.#fault(`${label} has the results ${results.map(({ index }) => index).join()} of ${legs.length} legs`);
    }
    const buckets = ["succeeded", "deferred", "failed_verification", "failed"].map((name) => summary[name] ?? 0);
    if (buckets.reduce((sum, count) => sum + count, 0) !== legs.length) this.#fault(`${label}: ${buckets} is no sum`);
    for (const leg of results) this.#leg(label, leg, legs[leg.index]);
    for (const name of ["retried", "replaced", "orphaned", "waited", "telemetry_lost", "quarantined"]) {
      this.#count(`summary: ${name}`, summary[name] ?? 0);
    }
  }

  #leg(label: string, leg: Leg, sent: SentCall["legs"][number] | undefined): void {
    const what = `${label} ${sent?.tag} (${sent?.kind})`;
    const why = leg.reason ?? "";
    const kind = leg.status === "deferred" ? ` ${leg.defer_class}` : leg.status === "failed" ? ` ${prefixOf(why)}` : "";
    this.#count(`legs: ${leg.status}${kind}`);
    for (const attempt of leg.attempts) this.#count(`attempts: ${attempt.kind} ${attempt.status}`);
    if (sent === undefined) {
      this.#fault(`${what} was never sent`);
      return;
    }
    switch (leg.status) {
      case "succeeded":
        if (!SUCCESS_OF.has(sent.kind) || leg.output?.includes(`${sent.tag}.`) !== true) {
          this.#fault(`${what} succeeded with ${JSON.stringify(leg.output?.slice(0, 100))}`);
        }
        return;
      case "failed_verification":
        if (sent.kind !== "wrong") this.#fault(`${what} failed its checks with ${JSON.stringify(leg.output)}`);
        return;
      case "deferred":
        if (why === "" || !(DEFER_CLASSES as readonly string[]).includes(leg.defer_class ?? "")) {
          this.#fault(`${what} is deferred without a reason: ${JSON.stringify(leg)}`);
        }
        return;
      case "failed":
        if (why === "" || why.startsWith("internal")) this.#fault(`${what} failed: ${why}`);
        return;
      default:
        this.#fault(`${what} is ${leg.status}`);
    }
  }

  /** What a node had done for a call that was killed is in its record, or was collected. */
  #killed(call: SentCall, record: ReturnType<typeof readRunEntry>): void {
    const kept = new Set(record?.results.map(({ index }) => index) ?? []);
    for (const [index, { tag }] of call.legs.entries()) {
      if (kept.has(index)) {
        this.#count("legs of killed calls: in the record");
        continue;
      }
      const done = [...(this.#jobs.get(tag) ?? [])].filter((job) => {
        const row = this.#rows.get(job);
        return (
          row?.state === "done" && row.result !== null && !(JSON.parse(row.result) as { deferred: boolean }).deferred
        );
      });
      if (done.length === 0) this.#count("legs of killed calls: nothing was done");
      else if (done.some((job) => this.#recovered.has(job))) this.#count("legs of killed calls: recovered");
      else this.#fault(`${call.label} ${tag}: job ${done.join(", ")} was done, and nobody has its result`);
    }
  }

  #recordOf({ home, label }: SentCall): ReturnType<typeof readRunEntry> {
    const folder = join(home.state, "runs");
    for (const name of readFolder(folder).filter((each) => each.endsWith(".json"))) {
      const entry = readRunEntry(readFileSync(join(folder, name), "utf8"));
      if (entry === null) this.#fault(`${name} is no record`);
      else if (entry.label === label) return entry;
    }
    return null;
  }
}

type Submitted = { readonly job_id: string; readonly contract: { readonly goal: string } };

function documentOf(stdout: string): Printed | null {
  if (!/^\{[^\n]*\}\n$/.test(stdout)) return null;
  const document = JSON.parse(stdout) as Printed;
  return Array.isArray(document.results) ? document : null;
}

/** What a reason says, without what differs each time. */
function prefixOf(reason: string): string {
  const words = reason.replaceAll(/wrt-[0-9a-f]+|https?:\S+/g, "…").replaceAll(/\d+/g, "n");
  return words.split(/[;(]/)[0]?.trim().slice(0, 90) ?? "";
}
