/**
 * The line for a seat's slots, as files that all processes of this user share: `<state>/slots/<sha1 of the seat>/`.
 *
 * A slot `0`, `1`, … is a file of the process that holds it; a ticket `q-<n>-<pid>` is one of a job that waits. Both
 * say whose they are and are touched every few seconds. A ticket's number is one more than the largest there is: the
 * clock that the runtime gives counts from the start of each process, and so orders nothing between two of them. Everything that looks and then changes does so under a lock of
 * the folder, which the system takes back when a process dies inside.
 *
 * Source: delegation run, section 8.3 point 1
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { WritError } from "../core/error.ts";
import { parseJson } from "../core/json/parse.ts";
import { isObject, valueAt } from "../core/json/value.ts";
import type { Slot, SlotLine, SlotTaken, SlotWait } from "../core/seat/slot-line.ts";
import { lockFile } from "./lock.ts";
import { isStillAlive, ownIdentity, type ProcessIdentity } from "./process-identity.ts";
import { readStateFile } from "./state-file.ts";

const POLL_MS = 250;
const TOUCH_MS = 5000;
/** A file that was not touched for so long may be left over. */
const STALE_MS = 20_000;
const LOCK_MS = 250;
/** What says whose a file is has one short line. */
const OWNER_BYTES = 4096;
const TICKET = /^q-(\d{1,15})-\d{1,10}$/;

/**
 * The line of this machine.
 *
 * @param state `<data>/run`, from `openStateFolder`
 * @param clock milliseconds that never run backwards
 */
export function openSlotLine(state: string, clock: { ms(): number }): SlotLine {
  return {
    take: (seat_key, slots, wait) =>
      new Waiter(join(state, "slots", digestOf(seat_key)), Math.max(1, slots), clock).take(wait),
  };
}

/** How many of a seat's slots are held, by whatever process. Errors: none; what cannot be looked at counts as free */
export function countHeldSlots(state: string, seat_key: string): number {
  const folder = join(state, "slots", digestOf(seat_key));
  try {
    const held = readdirSync(folder).filter((name) => /^\d{1,9}$/.test(name));
    return held.filter((name) => !isStale(join(folder, name)) || isOwnerAlive(join(folder, name))).length;
  } catch {
    return 0; // nobody ever took one
  }
}

/**
 * Frees at once what a process held that is known to be gone, by more than its id: everybody else waits for its files to
 * go stale. Errors: none; what cannot be freed goes stale
 */
export function clearSlotsOf(state: string, gone: ProcessIdentity): void {
  // An id alone may be another process's by now.
  if (gone.start === null) return;
  const slots = join(state, "slots");
  for (const folder of namesIn(slots).map((name) => join(slots, name))) {
    for (const path of namesIn(folder).map((name) => join(folder, name))) {
      const owner = ownerOf(path);
      if (owner?.pid !== gone.pid || owner.start !== gone.start) continue;
      try {
        rmSync(path, { force: true });
      } catch {
        // It goes stale.
      }
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nobody ever took one
  }
}

function digestOf(seat_key: string): string {
  return new Bun.CryptoHasher("sha1").update(seat_key).digest("hex");
}

/** One job that wants a slot. */
class Waiter {
  /** The name of its ticket; null while it has none. */
  private ticket: string | null = null;

  constructor(
    private readonly folder: string,
    private readonly slots: number,
    private readonly clock: { ms(): number },
  ) {}

  async take({ signal, bound_ms, onWait }: SlotWait): Promise<SlotTaken> {
    const began = this.clock.ms();
    const waited = () => Math.round(this.clock.ms() - began);
    try {
      guard(this.folder, () => mkdirSync(this.folder, { recursive: true, mode: 0o700 }));
      for (;;) {
        if (signal.aborted) return { kind: "aborted", waited_ms: waited() };
        const tried = guard(this.folder, () => this.attempt());
        if (typeof tried !== "number") return { kind: "taken", waited_ms: waited(), slot: tried };
        const left_ms = bound_ms - (this.clock.ms() - began);
        if (!(left_ms > 0)) return { kind: "over", waited_ms: waited() };
        onWait({ waited_ms: waited(), ahead: tried });
        await nextLook(this.folder, this.order(), Math.min(POLL_MS, left_ms), signal);
      }
    } finally {
      this.leave();
    }
  }

  /** Takes a slot where one is left for it; else enters the line. Answers how many jobs go first. */
  private attempt(): Slot | number {
    const unlock = lockFile(this.folder, LOCK_MS);
    // Others are at it: the next look is soon.
    if (unlock === null) return 0;
    try {
      const names = readdirSync(this.folder);
      const ahead = this.countAhead(names);
      const free = this.freeSlots(names);
      // Those who came first each have one left: then nobody is passed over.
      const mine = free[ahead];
      if (mine !== undefined) {
        const token = createOwned(join(this.folder, mine));
        if (token !== null) return heldSlot(this.folder, mine, token);
      }
      if (this.ticket === null) this.enter(names);
      return ahead;
    } finally {
      unlock();
    }
  }

  /** The slots that nobody holds. One whose process died goes back, once it was long not touched. */
  private freeSlots(names: readonly string[]): readonly string[] {
    const taken = new Set(names);
    const free: string[] = [];
    for (let index = 0; index < this.slots; index += 1) {
      const name = String(index);
      if (!taken.has(name) || this.reclaim(name)) free.push(name);
    }
    return free;
  }

  private reclaim(name: string): boolean {
    const path = join(this.folder, name);
    if (!isStale(path) || isOwnerAlive(path)) return false;
    try {
      // Renamed first: what is deleted is what was looked at, also where there are no locks.
      const aside = join(this.folder, `dead-${process.pid}-${randomHex()}`);
      renameSync(path, aside);
      rmSync(aside, { force: true });
      return true;
    } catch {
      return false; // somebody else did it
    }
  }

  /** Tickets of living processes in front of this one. Those that nobody will ever use are cleared away. */
  private countAhead(names: readonly string[]): number {
    const own = this.ticket === null ? null : orderOf(this.ticket);
    let ahead = 0;
    for (const name of names) {
      const order = orderOf(name);
      if (order === null || name === this.ticket || (own !== null && order > own)) continue;
      const path = join(this.folder, name);
      // Its own need no look. One that is not touched is of a process that was stopped: nobody waits for that.
      const isStopped = !touched.has(path) && isStale(path);
      if (touched.has(path) || isOwnerAlive(path)) ahead += isStopped ? 0 : 1;
      else if (isStopped) rmSync(path, { force: true });
    }
    return ahead;
  }

  /** Its place in the line; behind everybody while it has no ticket. */
  private order(): number {
    return (this.ticket === null ? null : orderOf(this.ticket)) ?? Number.POSITIVE_INFINITY;
  }

  private enter(names: readonly string[]): void {
    const last = names.reduce((most, name) => Math.max(most, orderOf(name) ?? 0), 0);
    for (let order = last + 1; ; order += 1) {
      const name = `q-${order}-${process.pid}`;
      // Taken only where there are no locks.
      if (createOwned(join(this.folder, name)) === null) continue;
      this.ticket = name;
      touchWhile(join(this.folder, name));
      return;
    }
  }

  private leave(): void {
    if (this.ticket === null) return;
    const path = join(this.folder, this.ticket);
    this.ticket = null;
    forget(path);
    // The next one may be waiting for nothing but this.
    wake(this.folder);
  }
}

function heldSlot(folder: string, name: string, token: string): Slot {
  const path = join(folder, name);
  touchWhile(path);
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      // One that was taken for dead and went to another is not ours to give back.
      if (ownerOf(path)?.token === token) forget(path);
      else touched.delete(path);
      wake(folder);
    },
  };
}

/** Files of this process that are touched until they are given up. */
const touched = new Set<string>();
let toucher: ReturnType<typeof setInterval> | null = null;

function touchWhile(path: string): void {
  touched.add(path);
  toucher ??= setInterval(touchAll, TOUCH_MS);
  // A process that has nothing else to do is not kept alive by it.
  toucher.unref();
}

function touchAll(): void {
  const now = new Date();
  for (const path of touched) {
    try {
      utimesSync(path, now, now);
    } catch {
      // Gone: its holder will see.
    }
  }
}

function forget(path: string): void {
  touched.delete(path);
  if (touched.size === 0 && toucher !== null) {
    clearInterval(toucher);
    toucher = null;
  }
  try {
    rmSync(path, { force: true });
  } catch {
    // A disk that refuses: the file goes stale when this process ends.
  }
}

type Look = { readonly order: number; readonly now: () => void };

/** Jobs of this process that wait for their next look, by the folder of their line. */
const waiting = new Map<string, Set<Look>>();

/**
 * The job of this process that came first looks at once. When it takes a slot or leaves, it wakes the next one; when it
 * finds nothing, neither would they.
 */
function wake(folder: string): void {
  let first: Look | null = null;
  for (const look of waiting.get(folder) ?? []) if (first === null || look.order < first.order) first = look;
  first?.now();
}

/** Ends after so long, when it is woken, or with the signal. */
function nextLook(folder: string, order: number, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const line = waiting.get(folder) ?? new Set();
  waiting.set(folder, line);
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    line.delete(look);
    if (line.size === 0 && waiting.get(folder) === line) waiting.delete(folder);
    resolve();
  };
  const look = { order, now: end };
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end, { once: true });
  line.add(look);
  if (signal.aborted) end();
  return promise;
}

/** Makes a file that says whose it is. Answers its token; null where there is one already. */
function createOwned(path: string): string | null {
  const token = randomHex();
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return null;
    throw error;
  }
  try {
    writeSync(file, `${JSON.stringify({ ...ownIdentity(), token })}\n`);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return token;
}

function ownerOf(path: string): (ProcessIdentity & { readonly token: string }) | null {
  try {
    const parsed = parseJson(readStateFile(path, OWNER_BYTES) ?? "");
    const value = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    const [pid, start, token] = ["pid", "start", "token"].map((key) => valueAt(value, key));
    if (typeof pid !== "number" || typeof token !== "string") return null;
    return { pid, start: typeof start === "string" ? start : null, token };
  } catch {
    return null; // gone, or no file of ours
  }
}

/** A file that does not say whose it is belongs to nobody. */
function isOwnerAlive(path: string): boolean {
  const owner = ownerOf(path);
  return owner !== null && isStillAlive(owner);
}

/** Long not touched. A file from the future counts: then somebody has set the clock. */
function isStale(path: string): boolean {
  try {
    return Math.abs(Date.now() - statSync(path).mtimeMs) > STALE_MS;
  } catch {
    return false; // gone
  }
}

function orderOf(name: string): number | null {
  const found = TICKET.exec(name)?.[1];
  return found === undefined ? null : Number(found);
}

function randomHex(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");
}

function guard<T>(folder: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WritError("state_failed", `Cannot keep the slots of a seat in "${folder}": ${why}`, {
      hint: "Make room there, or name another place with WRIT_DATA_DIR",
      cause: error,
    });
  }
}
