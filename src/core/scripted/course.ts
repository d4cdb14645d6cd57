/**
 * What a seat is like at a time: its states, the strangers who hold slots, and when either changes next. All times are
 * milliseconds since the seat began to serve.
 *
 * Source: delegation run, sections 17.2 (`occupied`) and 17.5
 */
import type { State } from "./script.ts";

export type StateEntry = {
  /** Since the seat serves; or just before that chat request, counted from 1. */
  readonly at: { readonly ms: number } | { readonly request: number };
  readonly state: State;
  /** null: until the next one begins. */
  readonly for_ms: number | null;
};

export type Stranger = {
  readonly slots: number;
  /** Since the first chat request. */
  readonly from_ms: number;
  /** null: for good. */
  readonly for_ms: number | null;
};

export type CourseScript = {
  readonly states: readonly StateEntry[];
  readonly occupied: readonly Stranger[];
  readonly slots: number;
};

/** What happened so far that states and strangers are counted from. */
export class Course {
  /** When each entry began that waits for a request. */
  private readonly begun = new Map<StateEntry, number>();
  /** Stopped models that a chat has started. */
  private readonly woken = new Set<StateEntry>();
  private chats = 0;
  private firstChat: number | null = null;

  constructor(private readonly script: CourseScript) {}

  /** Tells of a chat request just before it is looked at, and answers its number, from 1. */
  chat(at: number): number {
    this.chats += 1;
    this.firstChat ??= at;
    for (const entry of this.script.states) {
      if ("request" in entry.at && entry.at.request === this.chats) this.begun.set(entry, at);
    }
    return this.chats;
  }

  hasChatted(): boolean {
    return this.firstChat !== null;
  }

  /** A stopped model starts: it is ready. */
  wake(at: number): void {
    const entry = this.entryAt(at);
    if (entry?.state === "stopped") this.woken.add(entry);
  }

  stateAt(at: number): State {
    const entry = this.entryAt(at);
    return entry === null || this.woken.has(entry) ? "ready" : entry.state;
  }

  /** Slots that strangers hold, all of them at most. */
  strangersAt(at: number): number {
    const { occupied, slots } = this.script;
    if (this.stateAt(at) === "busy") return slots;
    if (this.firstChat === null) return 0;
    const since = at - this.firstChat;
    const held = occupied.filter(
      ({ from_ms, for_ms }) => since >= from_ms && (for_ms === null || since < from_ms + for_ms),
    );
    return Math.min(
      slots,
      held.reduce((sum, stranger) => sum + stranger.slots, 0),
    );
  }

  /** The next time at which a state or the strangers change by themselves; null where none is ahead. */
  nextChange(at: number): number | null {
    const times: number[] = [];
    for (const entry of this.script.states) {
      const start = this.startOf(entry);
      if (start !== null) times.push(start, ...(entry.for_ms === null ? [] : [start + entry.for_ms]));
    }
    if (this.firstChat !== null) {
      for (const { from_ms, for_ms } of this.script.occupied) {
        const start = this.firstChat + from_ms;
        times.push(start, ...(for_ms === null ? [] : [start + for_ms]));
      }
    }
    const ahead = times.filter((time) => time > at);
    return ahead.length === 0 ? null : Math.min(...ahead);
  }

  /** The entry that began last, unless its time is over. */
  private entryAt(at: number): StateEntry | null {
    let last: StateEntry | null = null;
    let lastStart = Number.NEGATIVE_INFINITY;
    for (const entry of this.script.states) {
      const start = this.startOf(entry);
      if (start === null || start > at || start < lastStart) continue;
      last = entry;
      lastStart = start;
    }
    return last === null || (last.for_ms !== null && at >= lastStart + last.for_ms) ? null : last;
  }

  private startOf(entry: StateEntry): number | null {
    return "ms" in entry.at ? entry.at.ms : (this.begun.get(entry) ?? null);
  }
}
