/** Places that play a script instead of running a model: each job takes its time of the given clock and ends as it is told. */
import type { Job, WireResult } from "../../src/core/delegation/wire-result.ts";
import type { PlaceRecord, Probe } from "../../src/core/placement/place.ts";
import type { LocalPlace, PlaceOutcome, PlaceRun, RemotePlace, Structured } from "../../src/core/placement/port.ts";
import { delegate } from "../../src/delegate/delegate.ts";
import type { Call, DelegateEvent, DelegateWorld } from "../../src/delegate/world.ts";
import { legsOf, sha256, wireResultOf } from "./legs.ts";
import { type ManualClock, manualClock } from "./manual-clock.ts";
import { placeRecord, seatRecord } from "./places.ts";

/** One job: how it goes. What is left out is a plain success after a second. */
export type Play = {
  readonly takes_ms?: number;
  /** Before it begins it waits so long for its seat. */
  readonly waits_ms?: number;
  readonly result?: Partial<WireResult> | ((job: Job) => WireResult);
  readonly outcome?: PlaceOutcome;
  /** It goes on although it was told to stop. */
  readonly is_deaf?: boolean;
  /** What is left behind when it is stopped. */
  readonly stopped?: Extract<PlaceOutcome, { kind: "stopped" }>["state"];
  /** Why that is so. */
  readonly why?: string;
  readonly throws?: string;
};

export type Handed = {
  readonly job: Job;
  readonly seat: string;
  readonly deadline_sec: number;
  readonly at_ms: number;
  ended_ms: number | null;
};

/** Plays jobs one after the other; the last play is repeated. */
export class Stage {
  readonly handed: Handed[] = [];
  /** Most jobs that were executed at one moment. */
  most = 0;
  waiting = 0;
  private running = 0;

  constructor(
    private readonly clock: ManualClock,
    private readonly plays: readonly Play[],
  ) {}

  get busy(): number {
    return this.running;
  }

  async run(job: Job, seat: string, { signal, onProgress, deadline_sec }: PlaceRun): Promise<PlaceOutcome> {
    const play = this.plays[Math.min(this.handed.length, this.plays.length - 1)] ?? {};
    const entry: Handed = { job, seat, deadline_sec, at_ms: this.clock.ms(), ended_ms: null };
    this.handed.push(entry);
    const never = new AbortController().signal;
    const progress = {
      step: 1,
      max_steps: 12,
      tool: "",
      arg: "",
      tokens: 0,
      tok_s: 0,
      idle_ms: 0,
      allowance_ms: 60_000,
    };
    try {
      if (play.throws !== undefined) throw new Error(play.throws);
      if (play.waits_ms !== undefined) {
        this.waiting += 1;
        onProgress({ kind: "running", progress: { ...progress, phase: "contention" } });
        await this.clock.sleep(play.waits_ms, play.is_deaf ? never : signal);
        this.waiting -= 1;
      }
      this.running += 1;
      this.most = Math.max(this.most, this.running);
      onProgress({ kind: "running", progress: { ...progress, phase: "decoding" } });
      await this.clock.sleep(play.takes_ms ?? 1000, play.is_deaf ? never : signal);
      this.running -= 1;
      if (signal.aborted && !play.is_deaf) {
        if (play.stopped !== undefined) return { kind: "stopped", state: play.stopped, why: play.why ?? "" };
        const canceled = {
          deferred: true,
          reason: "canceled by the caller",
          defer_class: "canceled",
          output: "",
        } as const;
        return {
          kind: "ran",
          result: wireResultOf(job, { ...canceled, seat, stop_reason: "canceled" }),
          queued_sec: 0,
        };
      }
      if (play.outcome !== undefined) return play.outcome;
      const { result = {} } = play;
      const wire =
        typeof result === "function"
          ? result(job)
          : wireResultOf(job, { seat, wall_ms: play.takes_ms ?? 1000, ...result });
      return { kind: "ran", result: wire, queued_sec: 0 };
    } finally {
      entry.ended_ms = this.clock.ms();
    }
  }
}

export type ScriptedLocal = LocalPlace & { readonly stage: Stage };
export type ScriptedRemote = RemotePlace & {
  readonly stage: Stage;
  readonly probes: number[];
  /** Jobs whose results are kept, with how many records had been written by then. */
  readonly forgotten: string[];
};

export function scriptedLocal(
  clock: ManualClock,
  plays: readonly Play[],
  fields: Partial<PlaceRecord> = {},
  form: Structured | null = null,
): ScriptedLocal {
  const stage = new Stage(clock, plays);
  return {
    stage,
    run: (job, seat, options) => stage.run(job, seat, options),
    structure: async () => form,
    look: async () => {
      const seats = fields.seats ?? [seatRecord({ slots: 2 })];
      const busy = (name: string) =>
        stage.handed.filter(({ seat, ended_ms }) => seat === name && ended_ms === null).length;
      return placeRecord({
        node_id: "local",
        max_queue: 0,
        max_running: seats.reduce((sum, { slots }) => sum + slots, 0),
        ...fields,
        seats: seats.map((seat) => ({
          ...seat,
          busy: Math.max(seat.busy, Math.min(seat.slots, busy(seat.name) - stage.waiting)),
        })),
      });
    },
  };
}

/** @param probe what it answers at each probe, the last one from then on; a record is kept up to date with its jobs */
export function scriptedRemote(
  clock: ManualClock,
  url: string,
  plays: readonly Play[],
  probe: readonly (Partial<PlaceRecord> | Probe)[] = [{}],
  token = "T",
): ScriptedRemote {
  const stage = new Stage(clock, plays);
  const probes: number[] = [];
  const forgotten: string[] = [];
  return {
    url,
    token,
    stage,
    probes,
    forgotten,
    forget: (job_id) => forgotten.push(job_id) > 0,
    run: (job, seat, options) => stage.run(job, seat, options),
    probe: async () => {
      const answer = probe[Math.min(probes.length, probe.length - 1)] ?? {};
      probes.push(clock.ms());
      if ("ok" in answer) return answer;
      const own = stage.handed.filter(({ ended_ms }) => ended_ms === null).length;
      return {
        ok: true,
        record: placeRecord({ node_id: url.replace(/^https?:\/\/|:\d+$/g, ""), running: own, ...answer }),
      };
    },
  };
}

export type Script = {
  readonly clock?: ManualClock;
  readonly contracts?: readonly object[];
  readonly local?: (clock: ManualClock) => ScriptedLocal | null;
  readonly remotes?: (clock: ManualClock) => readonly ScriptedRemote[];
  readonly call?: Partial<Call>;
  readonly limits?: Partial<DelegateWorld["limits"]>;
  readonly world?: Partial<DelegateWorld>;
  /** When the caller stops the call, in milliseconds; "before": it never wanted it. */
  readonly stop_ms?: number | "before";
  readonly onEvent?: (event: DelegateEvent) => void;
};

/** A world in which nothing but the script happens, and what it was told to keep. */
export function scriptedWorld(script: Script, clock: ManualClock) {
  const local = script.local === undefined ? scriptedLocal(clock, [{}]) : script.local(clock);
  const remotes = script.remotes?.(clock) ?? [];
  const saved: string[] = [];
  const marks: string[] = [];
  let ids = 0;
  let runs = 0;
  const world: DelegateWorld = {
    clock,
    mint: {
      runId: () => `run-${String(++runs).padStart(24, "0")}`,
      jobId: () => `wrt-${String(++ids).padStart(24, "0")}`,
    },
    sha256,
    local,
    remotes,
    marks: {
      quarantined: async () => new Set(marks.filter((mark) => mark.startsWith("strike ")).map((mark) => mark.slice(7))),
      settle: async (place, verdict) => {
        marks.push(`${verdict} ${place}`);
      },
    },
    records: {
      save: async (_, pieces) => {
        saved.push([...pieces].join(""));
      },
      scrub: (text) => text.replaceAll("hunter22", "[REDACTED]"),
      keep_contracts: true,
    },
    intents: { attempted: 0, lost: 0 },
    limits: {
      capacity_wait_sec: 120,
      slot_wait_sec: 1800,
      admission_wait_sec: 300,
      contention_wait_sec: 90,
      ...script.limits,
    },
    default_seat: "",
    process: { pid: 4121, label: "" },
    version: "1.2.3",
    ...script.world,
  };
  return { world, local, remotes, saved, marks };
}

/** Delegates in such a world. */
export async function play(script: Script) {
  const clock = script.clock ?? manualClock();
  const { world, local, remotes, saved, marks } = scriptedWorld(script, clock);
  const call: Call = {
    legs: legsOf(script.contracts ?? [{}]),
    route: "auto",
    routing: { kind: "auto", hint: null },
    seat: "",
    timeout_sec: null,
    width: 8,
    retries: true,
    argv: ["writ", "delegate"],
    ...script.call,
  };
  const events: DelegateEvent[] = [];
  const stop = new AbortController();
  if (script.stop_ms === "before") stop.abort();
  else if (script.stop_ms !== undefined)
    void clock.sleep(script.stop_ms, new AbortController().signal).then(() => stop.abort());
  const running = delegate(world, call, {
    signal: stop.signal,
    onEvent: script.onEvent ?? ((event) => events.push(event)),
  });
  const document = await clock.drive(running);
  return {
    document,
    results: document.results,
    summary: document.summary,
    events,
    saved,
    marks,
    local,
    remotes,
    clock,
  };
}
