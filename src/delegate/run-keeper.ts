/**
 * The record of the call while it goes on: written when it begins, when a leg is placed and when one ends, so that a
 * delegator that is killed leaves what it had, and where its legs were.
 * One write at a time; what ends meanwhile goes into the next one. A record that cannot be written stops nothing.
 *
 * Source: delegation run, section 16
 */
import { canonicalContract } from "../core/delegation/contract.ts";
import type { CallLeg } from "../core/delegation/legs.ts";
import type { LegResult, ResultDocument } from "../core/delegation/result.ts";
import { type RecordedLeg, recordLeg, recordPieces, scrubJson } from "../core/delegation/run-record.ts";
import type { JsonObject, JsonValue } from "../core/json/value.ts";
import type { Snapshot } from "../core/placement/place.ts";
import type { Call, DelegateEvent, DelegateWorld } from "./world.ts";

const MOST_EVENTS = 4000;
const MOST_PLACEMENTS = 32;
/** What happens within so long goes into one record, where no result waits for it. */
const SETTLE_MS = 100;
/** Behind a write is a pause, so many times as long as it took. */
const PAUSES = 4;

export class RunKeeper {
  /** What was to be on record: the end of each leg, and that of the call. A write that fails is made good by the next. */
  attempted = 0;
  /** What is on record in the end by no write. */
  lost = 0;
  private readonly legs = new Map<number, RecordedLeg>();
  private readonly events: JsonValue[] = [];
  private readonly placements: JsonValue[] = [];
  private writing: Promise<void> | null = null;
  private isStale = false;
  private readonly closing = new AbortController();
  private readonly label: string;
  private readonly argv: readonly string[];
  /** What is to be told when a record with the leg in it is there. */
  private untold: (() => void)[] = [];

  /** @param head the document as it is now, without its results */
  constructor(
    private readonly world: DelegateWorld,
    private readonly call: Call,
    private readonly head: () => Omit<ResultDocument, "results">,
    private readonly startedMs: number,
  ) {
    const { records, process } = world;
    this.label = records.scrub(process.label);
    this.argv = call.argv.map((word) => records.scrub(word));
  }

  /** Changes of state; how a step goes on is none. */
  note(event: DelegateEvent): void {
    if (event.kind === "progress") return;
    this.keepEvent(event);
    if (event.kind !== "started" && event.kind !== "placed" && event.kind !== "waiting") return;
    this.isStale = true;
    this.writing ??= this.write();
  }

  private keepEvent(event: Exclude<DelegateEvent, { kind: "progress" }>): void {
    if (this.events.length >= MOST_EVENTS) return;
    const at_ms = this.elapsed();
    if (event.kind !== "done") this.events.push(this.masked({ at_ms, ...event }));
    else {
      const { status, node, seat } = event.result;
      this.events.push(this.masked({ at_ms, kind: "done", index: event.index, status, node, seat }));
    }
  }

  /** What legs were dealt against. */
  notePlaces(snapshot: Snapshot): void {
    if (this.placements.length >= MOST_PLACEMENTS) return;
    const places = snapshot.map(({ name, kind, probe }) => ({ name, kind, probe: probe as unknown as JsonObject }));
    this.placements.push(this.masked({ at_ms: this.elapsed(), places }));
  }

  /** A leg has ended. `onKept` is called when that is on record; never, where it cannot be written. */
  keep(leg: CallLeg, result: LegResult, onKept: () => void): void {
    const { scrub, keep_contracts } = this.world.records;
    this.legs.set(leg.index, recordLeg(result, keep_contracts ? canonicalContract(leg.contract) : null, scrub));
    this.untold.push(onKept);
    this.attempted += 1;
    this.isStale = true;
    this.writing ??= this.write();
  }

  /** The last record, when the call is over. */
  async close(): Promise<void> {
    this.isStale = false;
    this.closing.abort();
    await this.writing;
    this.attempted += 1;
    const isKept = await this.save(true);
    if (!isKept) this.lost += 1 + this.untold.length;
  }

  private async write(): Promise<void> {
    while (this.isStale) {
      // A call that is over at once needs no record of its beginning; the results of its legs are kept in any case.
      if (this.untold.length === 0) await this.world.clock.sleep(SETTLE_MS, this.closing.signal);
      if (!this.isStale && this.untold.length === 0) break;
      this.isStale = false;
      const began = this.world.clock.ms();
      await this.save(false);
      // Every write is one of all legs: with large ones, a write at the end of each would be most of the work.
      const took_ms = this.world.clock.ms() - began;
      await this.world.clock.sleep(PAUSES * took_ms, this.closing.signal);
    }
    this.writing = null;
  }

  /** Whether the record is there. */
  private async save(ended: boolean): Promise<boolean> {
    const { records, process } = this.world;
    const head = this.head();
    const telling = this.untold;
    const legs = [...this.legs].sort(([left], [right]) => left - right).map(([, leg]) => leg);
    const facts = {
      legs: this.call.legs.length,
      ended,
      pid: process.pid,
      label: this.label,
      argv: this.argv,
      placements: this.placements,
      events: this.events,
    };
    this.untold = [];
    try {
      await records.save(head.run_id, recordPieces(head, legs, facts));
    } catch {
      // What stays lost is told in the summary: a full disk must not take a result with it.
      this.untold = [...telling, ...this.untold];
      return false;
    }
    for (const tell of telling) tell();
    return true;
  }

  private masked(value: JsonObject): JsonValue {
    return scrubJson(value, this.world.records.scrub);
  }

  private elapsed(): number {
    return Math.round(this.world.clock.ms() - this.startedMs);
  }
}
