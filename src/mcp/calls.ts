/**
 * The delegations of one server: four at once, further ones in line; each goes on whether or not somebody waits for it,
 * until it ends, its time is over, or it is cancelled.
 *
 * Source: delegation run, sections 8.5, 9
 */
import { LegBoard, NOWHERE, phaseOf } from "../cli/delegate/leg-board.ts";
import { renderResultDocument } from "../core/delegation/render-result.ts";
import type { LegResult, Summary } from "../core/delegation/result.ts";
import { recordPieces } from "../core/delegation/run-record.ts";
import { NO_TALLY, summarise } from "../core/delegation/summary.ts";
import { WritError } from "../core/error.ts";
import { delegate } from "../delegate/delegate.ts";
import type { Call, DelegateEvent, DelegateWorld } from "../delegate/world.ts";

export const CALL_LIMITS = {
  /** Calls that are carried out at once. */
  at_once: 4,
  /** Calls that wait for their turn. */
  in_line: 32,
  /** Documents of calls that have ended, kept as they were published; a record on disk is masked. */
  kept: 32,
  kept_characters: 32 * 1024 * 1024,
} as const;

/** How a call ended. */
export type Ended =
  | { readonly kind: "document"; readonly run_id: string; readonly text: string; readonly summary: Summary }
  | { readonly kind: "defect"; readonly run_id: string; readonly error: unknown };

type Listener = (event: DelegateEvent) => void;

/** A call that has been taken on. */
export class LiveCall {
  /** Settles when the call has ended, and is on record. Never rejects. */
  readonly ended: Promise<Ended>;
  private readonly results: LegResult[] = [];
  private readonly stopping = new AbortController();
  private readonly board: LegBoard;

  constructor(
    readonly run_id: string,
    readonly legs: number,
    private readonly now: () => number,
    private readonly listener: Listener,
    run: (call: LiveCall) => Promise<Ended>,
  ) {
    this.board = new LegBoard(now);
    this.ended = run(this);
  }

  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  get done(): number {
    return this.results.length;
  }

  /** What the legs that have ended come to. */
  get summary(): Summary {
    return summarise(this.results, NO_TALLY);
  }

  /** Where each leg is that has not ended, in their order. */
  get unfinished(): readonly OpenLeg[] {
    const now = this.now();
    return this.board.legs.flatMap((leg, index) => {
      const { kind, where, silence } = leg;
      if (kind === "done") return [];
      const silent_sec = silence === null ? 0 : Math.round((now - silence.since_ms) / 1000);
      return [{ index, where: where === NOWHERE ? "" : where, doing: phaseOf(leg, now), silent_sec }];
    });
  }

  /** Ends it: no new leg starts, and what runs is stopped or taken back. Once is enough. */
  cancel(): void {
    this.stopping.abort();
  }

  take(event: DelegateEvent): void {
    if (event.kind === "done") this.results.push(event.result);
    this.board.take(event);
    this.listener(event);
  }
}

/** A leg that goes on. */
export type OpenLeg = {
  readonly index: number;
  /** `node/seat`; "" before it is placed. */
  readonly where: string;
  readonly doing: string;
  /** For how long its place has not answered; 0: it answers. */
  readonly silent_sec: number;
};

export class Calls {
  private readonly live = new Map<string, LiveCall>();
  /** The latest last. */
  private readonly kept = new Map<string, Ended>();
  private readonly line = new Line(CALL_LIMITS.at_once);

  /**
   * Takes a call on. It is on record, if that is possible at all, when this resolves.
   *
   * @param world        of this call
   * @param deadline_sec the whole of it, its time in line included
   * @param listener     gets its events, from the first on
   * Errors: `calls_full`
   */
  async begin(
    world: DelegateWorld,
    call: Omit<Call, "timeout_sec">,
    deadline_sec: number,
    listener: Listener = () => {},
  ): Promise<LiveCall> {
    if (this.line.length >= CALL_LIMITS.in_line) {
      throw new WritError("calls_full", `${CALL_LIMITS.in_line} delegations wait in line; no further one is taken`, {
        hint: "Wait for one with delegation_result, or end one with delegation_cancel",
      });
    }
    const run_id = world.mint.runId();
    const deadline_ms = world.clock.ms() + deadline_sec * 1000;
    const recorded = recordBeginning(world, call, run_id);
    const live: LiveCall = new LiveCall(
      run_id,
      call.legs.length,
      () => world.clock.ms(),
      listener,
      async (own) => {
        await recorded;
        return await this.run(own, world, call, deadline_ms);
      },
    );
    this.live.set(run_id, live);
    void live.ended.then((ended) => {
      this.live.delete(run_id);
      this.keep(ended);
    });
    await recorded;
    return live;
  }

  /** A call that goes on. */
  find(run_id: string): LiveCall | null {
    return this.live.get(run_id) ?? null;
  }

  /** Calls that one more would wait for, before it is carried out. */
  get ahead(): number {
    return Math.max(0, this.live.size + 1 - CALL_LIMITS.at_once);
  }

  /** Those that go on, oldest first. */
  list(): readonly LiveCall[] {
    return [...this.live.values()];
  }

  /** How a call ended, as long as that is kept here. */
  recall(run_id: string): Ended | null {
    return this.kept.get(run_id) ?? null;
  }

  /** Cancels all of them, and resolves when they have ended. */
  async end(): Promise<void> {
    const calls = this.list();
    for (const call of calls) call.cancel();
    await Promise.all(calls.map(({ ended }) => ended));
  }

  private async run(
    live: LiveCall,
    world: DelegateWorld,
    call: Omit<Call, "timeout_sec">,
    deadline_ms: number,
  ): Promise<Ended> {
    const { clock, mint } = world;
    const over = new AbortController();
    void clock.sleep(deadline_ms - clock.ms(), AbortSignal.any([live.signal, over.signal])).then(() => over.abort());
    const isIn = await this.line.enter(AbortSignal.any([live.signal, over.signal]));
    try {
      // What was stopped in line is published like any other: each leg says that it was never placed.
      const left_sec = Math.max(1, deadline_ms - clock.ms()) / 1000;
      const document = await delegate(
        { ...world, mint: { ...mint, runId: () => live.run_id } },
        { ...call, timeout_sec: left_sec },
        { signal: live.signal, onEvent: (event) => live.take(event) },
      );
      return { kind: "document", run_id: live.run_id, text: renderResultDocument(document), summary: document.summary };
    } catch (error) {
      return { kind: "defect", run_id: live.run_id, error };
    } finally {
      over.abort();
      if (isIn) this.line.leave();
    }
  }

  private keep(ended: Ended): void {
    this.kept.set(ended.run_id, ended);
    const sizeOf = (each: Ended) => (each.kind === "document" ? each.text.length : 0);
    let size = [...this.kept.values()].reduce((sum, each) => sum + sizeOf(each), 0);
    for (const [run_id, each] of this.kept) {
      if (this.kept.size <= CALL_LIMITS.kept && size <= CALL_LIMITS.kept_characters) break;
      this.kept.delete(run_id);
      size -= sizeOf(each);
    }
  }
}

/** So many at once; the others in the order in which they came. */
class Line {
  private inside = 0;
  private waiting: (() => void)[] = [];

  constructor(private readonly width: number) {}

  get length(): number {
    return this.waiting.length;
  }

  /** @returns false where the signal came first */
  enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.inside < this.width) {
      this.inside += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const admit = () => {
        signal.removeEventListener("abort", give_up);
        resolve(true);
      };
      const give_up = () => {
        this.waiting = this.waiting.filter((each) => each !== admit);
        resolve(false);
      };
      signal.addEventListener("abort", give_up, { once: true });
      this.waiting.push(admit);
    });
  }

  leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.inside -= 1;
    else next();
  }
}

/** A record without results, so that a call that was taken on is never nowhere. What cannot be written stops nothing. */
async function recordBeginning(
  { clock, records, process, version }: DelegateWorld,
  { legs, argv }: Omit<Call, "timeout_sec">,
  run_id: string,
): Promise<void> {
  const head = {
    schema_version: 1 as const,
    run_id,
    summary: summarise([], NO_TALLY),
    writ_version: version,
    started_at: clock.now(),
    wall_ms: 0,
  };
  const { pid, label } = process;
  const facts = {
    legs: legs.length,
    ended: false,
    pid,
    label: records.scrub(label),
    argv: argv.map((word) => records.scrub(word)),
    placements: [],
    events: [],
  };
  try {
    await records.save(run_id, recordPieces(head, [], facts));
  } catch {
    // The call itself counts the records that it loses.
  }
}
