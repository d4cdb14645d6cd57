/**
 * What the places say of themselves, read when it is needed and remembered for a moment.
 *
 * Source: delegation run, section 4.3
 */
import { isBarred, type Routing } from "../core/placement/pin.ts";
import { LOCAL, type PlaceView, type Probe, type Snapshot } from "../core/placement/place.ts";
import type { RemotePlace } from "../core/placement/port.ts";
import type { DelegateWorld } from "./world.ts";

const PROBE_MS = 5000;
/** An answer is good for so long, a failure for longer: a dead node costs its whole bound each time. */
const MEMO_MS = 2000;
const DEAD_MEMO_MS = 15_000;

type Known = {
  readonly probe: Probe /** Its beginning and its end. */;
  readonly taken_ms: number;
  readonly told_ms: number;
};

export class Fleet {
  private readonly known = new Map<RemotePlace, Known>();
  /** Those that are being asked: several legs that want to know ask once. */
  private readonly asked = new Map<RemotePlace, { readonly taken_ms: number; readonly done: Promise<void> }>();
  /** Given once and kept, so that a place that went away is still called the same. */
  private readonly names = new Map<RemotePlace, string>();
  private last: Snapshot = [];

  constructor(
    private readonly world: Pick<DelegateWorld, "clock" | "local" | "remotes">,
    private readonly routing: Routing,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Reads all places in parallel.
   *
   * @param notBefore_ms what was read before is read again, but for places that did not answer a moment ago
   * Errors: none
   */
  async read(notBefore_ms = 0): Promise<Snapshot> {
    const remotes = isBarred(this.routing, "remote") ? [] : this.world.remotes;
    const [local] = await Promise.all([this.lookHere(), ...remotes.map((remote) => this.probe(remote, notBefore_ms))]);
    this.nameAll(remotes);
    const now = this.world.clock.ms();
    const views = this.world.remotes.map((remote) => this.viewOf(remote, now));
    this.last = local === null ? views : [local, ...views];
    return this.last;
  }

  /** The last snapshot with this place read anew. */
  async readHere(): Promise<Snapshot> {
    const local = await this.lookHere();
    this.last = local === null ? this.last : [local, ...this.last.filter(({ name }) => name !== LOCAL)];
    return this.last;
  }

  /** The remote of a name in a snapshot. */
  find(name: string): RemotePlace | null {
    return this.world.remotes.find((remote) => this.names.get(remote) === name || remote.url === name) ?? null;
  }

  /** Whether every remote that was asked failed. */
  get isUnreachable(): boolean {
    const asked = [...this.known.values()];
    return asked.length > 0 && asked.every(({ probe }) => !probe.ok);
  }

  private async lookHere(): Promise<PlaceView | null> {
    const { clock, local } = this.world;
    if (local === null) return null;
    const taken_ms = clock.ms();
    return { name: LOCAL, kind: "local", taken_ms, probe: { ok: true, record: await local.look() } };
  }

  private async probe(remote: RemotePlace, notBefore_ms: number): Promise<void> {
    const now = this.world.clock.ms();
    const old = this.known.get(remote);
    const age_ms = now - (old?.taken_ms ?? Number.NEGATIVE_INFINITY);
    if (old?.probe.ok === false && age_ms < DEAD_MEMO_MS) return;
    if (old?.probe.ok === true && age_ms < MEMO_MS && old.taken_ms >= notBefore_ms) return;
    const asked = this.asked.get(remote);
    if (asked !== undefined && asked.taken_ms >= notBefore_ms) return await asked.done;
    const done = this.ask(remote, now);
    this.asked.set(remote, { taken_ms: now, done });
    await done;
    if (this.asked.get(remote)?.done === done) this.asked.delete(remote);
  }

  private async ask(remote: RemotePlace, taken_ms: number): Promise<void> {
    const { clock } = this.world;
    const over = new AbortController();
    const signal = AbortSignal.any([this.signal, over.signal]);
    const late: Promise<Probe> = clock.sleep(PROBE_MS, signal).then(() => {
      const why = this.signal.aborted ? "it was called off" : `no answer within ${PROBE_MS / 1000} s`;
      return { ok: false, why, blames: "infrastructure" };
    });
    const probe = await Promise.race([remote.probe(signal), late]);
    over.abort();
    this.known.set(remote, { probe, taken_ms, told_ms: clock.ms() });
  }

  /** Two remotes that report one id are told apart by where they are. */
  private nameAll(remotes: readonly RemotePlace[]): void {
    const ids = new Map<RemotePlace, string>();
    for (const remote of remotes) {
      const probe = this.known.get(remote)?.probe;
      if (probe?.ok === true && !this.names.has(remote)) ids.set(remote, probe.record.node_id);
    }
    const taken = new Set(this.names.values());
    const all = [...ids.values()];
    for (const [remote, id] of ids) {
      const isShared = taken.has(id) || all.filter((other) => other === id).length > 1;
      this.names.set(remote, isShared ? `${id}@${hostOf(remote.url)}` : id);
    }
  }

  private viewOf(remote: RemotePlace, now_ms: number): PlaceView {
    const name = this.names.get(remote) ?? remote.url;
    const known = this.known.get(remote);
    if (known === undefined) {
      return {
        name,
        kind: "remote",
        taken_ms: now_ms,
        probe: { ok: false, why: "not asked", blames: "infrastructure" },
      };
    }
    const { probe, taken_ms, told_ms } = known;
    const age_sec = Math.floor((now_ms - told_ms) / 1000);
    const told = probe.ok || age_sec === 0 ? probe : { ...probe, why: `${probe.why}, cached ${age_sec} s ago` };
    return { name, kind: "remote", taken_ms, probe: told };
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
