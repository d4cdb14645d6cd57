/**
 * A storm over a fleet: nodes and delegators as real processes, networks between them that lose and repeat, and all of them
 * killed, stopped and cut off at moments that a seed draws. When it is over everything is brought back, what was left is
 * collected, and `fleet-audit.ts` counts.
 *
 * Source: delegation run, sections 12, 16
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { LogEntry } from "../../src/core/scripted/seat-log.ts";
import { SEAT_LIMITS, serveScriptedSeat } from "../../src/wire/scripted-seat.ts";
import { type Call, type Delegator, delegator, STUCK, TOKEN, tagged } from "./fleet.ts";
import { auditFleet, type FleetAudit } from "./fleet-audit.ts";
import { type Fate, type NetworkFront, networkFront, type Passed } from "./network-front.ts";
import { configureNode, type NodeCommand, startNode } from "./node-command.ts";
import { CREATED, realClock, scriptOf } from "./scripted-seat.ts";
import { type Random, seeded } from "./seeded.ts";
import { type LivingWorld, livingWorld, type Ran } from "./writ.ts";

export type Storm = {
  readonly seed: number;
  /** How long things are broken, in milliseconds. */
  readonly chaos_ms: number;
  readonly nodes: number;
  /** Delegators at one moment; two share a data folder. */
  readonly lanes: number;
  /** Networks that swallow requests without a word, and seats here: their bounds are long. */
  readonly isLong: boolean;
  readonly log: (line: string) => void;
};

export type Kind = "fast" | "slow" | "wrong" | "stuck";
const KINDS: readonly [Kind, ...Kind[]] = ["fast", "fast", "fast", "fast", "slow", "slow", "wrong", "stuck"];

/** A leg as it was sent. */
export type SentLeg = { readonly tag: string; readonly kind: Kind };

/** One call of the storm. */
export type SentCall = {
  readonly label: string;
  readonly home: Delegator;
  readonly legs: readonly SentLeg[];
  /** What was done to it; null: nothing. */
  killed: "SIGKILL" | "SIGINT" | null;
  ran: Ran | null;
};

/** A request to a seat, from its beginning to its end. */
export type SeatSpan = { readonly tag: string; readonly from_ms: number; readonly to_ms: number };

export type StormNode = {
  readonly id: string;
  readonly world: LivingWorld;
  readonly front: NetworkFront;
  readonly max_queue: number;
  readonly spans: readonly SeatSpan[];
  /** What each of its processes said, oldest first. */
  readonly talks: readonly string[];
  /** Jobs that it had acknowledged when its store was taken away. */
  readonly robbed: ReadonlySet<string>;
  /** The most jobs that it said to hold, and how often it was asked. */
  readonly held: { most: number; asked: number };
};

export type FleetReport = FleetAudit & { readonly counts: Readonly<Record<string, number>> };

/** What a call gets to end in, when nothing is broken any more. */
const CALM_MS = 150_000;
/** The wall of a leg, in seconds; a seat is held for it by one that never answers. */
const LEG_SEC = 60;
const STUCK_SEC = 12;
/** How long recovery is tried, while jobs end that nobody waits for. */
const RECOVER_MS = 60_000;

/** Errors: none of the storm's: what goes wrong is a fault of the report */
export async function stormFleet(storm: Storm): Promise<FleetReport> {
  const fleet = new Fleet(storm);
  try {
    return await fleet.run();
  } finally {
    await fleet.close();
  }
}

class Fleet {
  readonly #storm: Storm;
  readonly #random: Random;
  readonly #nodes: Machine[] = [];
  readonly #homes: Delegator[] = [];
  readonly #seatsHere: ScriptedSeat[] = [];
  readonly #calls: SentCall[] = [];
  readonly #counts = new Map<string, number>();
  readonly #faults: string[] = [];
  #until = 0;
  #tags = 0;

  constructor(storm: Storm) {
    this.#storm = storm;
    this.#random = seeded(storm.seed);
  }

  async run(): Promise<FleetReport> {
    const { nodes, lanes, chaos_ms, isLong, log } = this.#storm;
    for (let at = 0; at < nodes; at += 1) {
      this.#nodes.push(await Machine.open(`n${at}`, this.#random.fork(`node ${at}`), isLong));
    }
    const urls = this.#nodes.map(({ front }) => front.url);
    for (let at = 0; at < Math.ceil(lanes / 2); at += 1) {
      // Where there is time, every other home has a seat of one slot, for which its processes stand in line.
      const seat = isLong && at % 2 === 1 ? await openSeat(this.#random.fork(`seat ${at}`)) : null;
      if (seat !== null) this.#seatsHere.push(seat);
      this.#homes.push(delegator(urls, { ...LIMITS, seats: seat === null ? [] : [seatHere(seat.url)] }));
    }
    this.#until = performance.now() + chaos_ms;
    const weather = this.#nodes.map((node, at) => this.#trouble(node, this.#random.fork(`trouble ${at}`)));
    const sampling = this.#nodes.map((node) => node.sample(() => performance.now() < this.#until));
    const work = Array.from({ length: lanes }, (_, at) => this.#lane(at, this.#random.fork(`lane ${at}`)));
    await Promise.all([...weather, ...sampling]);
    log("calm");
    for (const node of this.#nodes) await node.calm();
    await Promise.all(work);
    await this.#collect();
    for (const node of this.#nodes) await node.settle(this.#faults);
    const audit = auditFleet({
      nodes: this.#nodes,
      homes: this.#homes,
      calls: this.#calls,
      seatsHere: this.#seatsHere,
    });
    for (const [name, count] of Object.entries(audit.counts)) this.#count(name, count);
    return {
      counts: Object.fromEntries([...this.#counts].sort(([left], [right]) => (left < right ? -1 : 1))),
      faults: [...this.#faults, ...audit.faults],
    };
  }

  async close(): Promise<void> {
    for (const node of this.#nodes) await node.close();
    for (const seat of this.#seatsHere) await seat.close();
    for (const home of this.#homes) home[Symbol.dispose]();
  }

  #count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  get #isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** What befalls one node, one thing after the other. */
  async #trouble(node: Machine, random: Random): Promise<void> {
    while (!this.#isOver) {
      await Bun.sleep(random.between(300, 2500));
      if (this.#isOver) break;
      const what = random.pick(TROUBLES);
      this.#count(`trouble: ${what}`);
      this.#storm.log(`${node.id}: ${what}`);
      if (what === "net") {
        node.weather.isBad = true;
        await Bun.sleep(random.between(200, 2500));
        node.weather.isBad = false;
        continue;
      }
      await node.stop(what === "stop" ? "SIGTERM" : "SIGKILL");
      if (what === "rob") node.rob();
      await Bun.sleep(what === "away" ? random.between(1500, 5000) : random.between(0, 1000));
      await node.start();
    }
  }

  /** Calls, one after the other. */
  async #lane(at: number, random: Random): Promise<void> {
    const home = this.#homes[Math.floor(at / 2)];
    if (home === undefined) throw new Error("a lane without a home");
    while (!this.#isOver) await this.#call(home, random);
  }

  async #call(home: Delegator, random: Random): Promise<void> {
    const legs = Array.from({ length: random.between(1, 5) }, (): SentLeg => {
      this.#tags += 1;
      return { tag: `leg-${this.#tags}`, kind: random.pick(KINDS) };
    });
    const route = random.pick<readonly string[]>([[], ["--route", "remote"], ["--route", "spread"], PINNED]);
    const sent: SentCall = { label: `call-${this.#calls.length + 1}`, home, legs, killed: null, ran: null };
    this.#calls.push(sent);
    const contracts = legs.map(({ tag, kind }) =>
      tagged(tag, { goal: `Say ${tag}. Be ${kind}.`, timeout_sec: kind === "stuck" ? STUCK_SEC : LEG_SEC }),
    );
    const call = home.labelled(sent.label, contracts, ...route, "--no-progress");
    const fate = random.next();
    const kill = async (signal: "SIGKILL" | "SIGINT", after_ms: number) => {
      const isOver = await Promise.race([call.ended.then(() => true), Bun.sleep(after_ms).then(() => false)]);
      if (isOver) return;
      sent.killed = signal;
      call.kill(signal);
    };
    if (fate < 0.2) await kill("SIGKILL", random.between(20, 2500));
    else if (fate < 0.3) await kill("SIGINT", random.between(50, 2500));
    else if (fate < 0.45) {
      // Just when a result is on its way.
      const [{ tag } = { tag: "" }] = legs;
      await Promise.race([call.ended, this.#answered(tag)]);
      await kill("SIGKILL", random.between(0, 60));
    }
    sent.ran = await this.#endOf(call, sent);
    this.#count(sent.killed === null ? "calls: ended" : `calls: ${sent.killed}`);
  }

  /** Resolves when a seat of a node has answered about a leg. */
  async #answered(tag: string): Promise<void> {
    const hasIt = () => this.#nodes.some(({ spans }) => spans.some((span) => span.tag === tag));
    while (!hasIt() && !this.#isOver) await Bun.sleep(5);
  }

  async #endOf(call: Call, { label }: SentCall): Promise<Ran> {
    const late = this.#storm.chaos_ms + CALM_MS;
    const timer = setTimeout(() => {
      this.#faults.push(`${label} does not end: ${call.talk.slice(-600)}`);
      call.kill("SIGKILL");
    }, late);
    const ran = await call.ended;
    clearTimeout(timer);
    return ran;
  }

  /** Every home collects what its calls left, until nothing is left: jobs that nobody waits for end by themselves. */
  async #collect(): Promise<void> {
    const until = performance.now() + RECOVER_MS;
    for (const home of this.#homes) {
      for (;;) {
        const ran = await home.recover();
        this.#count("recover: passes");
        if (ran.exit !== 0 && ran.exit !== 4)
          this.#faults.push(`recover ended in ${ran.exit}: ${ran.stdout}${ran.stderr}`);
        if (home.open().length === 0) break;
        if (performance.now() > until) {
          this.#faults.push(`intents stay open: ${ran.stdout}`);
          break;
        }
        await Bun.sleep(500);
      }
    }
  }
}

const TROUBLES = ["kill", "kill", "kill", "kill", "kill", "stop", "stop", "stop", "away", "rob", "net", "net"] as const;
const PINNED = ["--route", "remote", "--pin-reason", "operator"] as const;
const LIMITS = { limits: { orphan_grace_sec: 1, capacity_wait_sec: 15 } } as const;

const seatHere = (base_url: string) => ({
  name: "here",
  base_url,
  model: "scripted/test",
  engine: "llama.cpp",
  ctx_tokens: 16_384,
  slots: 1,
});

type ScriptedSeat = Awaited<ReturnType<typeof openSeat>>;

/** How a network of this fleet is, request by request. */
class Weather {
  isBad = false;
  isCalm = false;

  constructor(
    private readonly random: Random,
    private readonly isLong: boolean,
  ) {}

  fateOf({ method }: Passed): Fate {
    if (this.isCalm) return "pass";
    const { random } = this;
    if (this.isBad) return random.pick(["cut", "cut", "deaf", "pass"]);
    const fate = random.next();
    if (this.isLong && fate > 0.995) return random.pick(["hung", "lost"]);
    if (method === "POST") return fate < 0.05 ? "deaf" : fate < 0.09 ? "twice" : fate < 0.12 ? "cut" : "pass";
    return fate < 0.02 ? "cut" : fate < 0.04 ? "deaf" : "pass";
  }
}

/** A node with its seat and its network. */
class Machine implements StormNode {
  readonly talks: string[] = [];
  readonly robbed = new Set<string>();
  readonly held = { most: 0, asked: 0 };
  readonly #listen: string;
  #now: NodeCommand | null;

  private constructor(
    readonly id: string,
    readonly max_queue: number,
    readonly world: LivingWorld,
    readonly weather: Weather,
    readonly front: NetworkFront,
    readonly seat: ScriptedSeat,
    now: NodeCommand,
  ) {
    this.#now = now;
    this.#listen = new URL(now.url).host;
  }

  static async open(id: string, random: Random, isLong: boolean): Promise<Machine> {
    const world = livingWorld();
    const slots = random.between(1, 2);
    const max_queue = random.pick([2, 4, 8]);
    const seat = await openSeat(random);
    const node = {
      id,
      max_queue,
      // With one more than its seat takes, a job lies in its line.
      max_running: slots + random.between(0, 1),
      poll_lease_sec: 3,
      drain_sec: random.between(0, 1),
      restart_reruns: random.pick([1, 3]),
    };
    configureNode(world, { url: seat.url, more: { slots } }, { node });
    const now = await startNode(world, { WRIT_NODE_TOKEN: TOKEN });
    const weather = new Weather(random.fork("weather"), isLong);
    const front = await networkFront(now.url, (passed) => weather.fateOf(passed));
    return new Machine(id, max_queue, world, weather, front, seat, now);
  }

  get spans(): readonly SeatSpan[] {
    return this.seat.spans;
  }

  async start(): Promise<void> {
    this.#now = await startNode(this.world, { WRIT_NODE_TOKEN: TOKEN }, "--listen", this.#listen);
  }

  async stop(signal: "SIGKILL" | "SIGTERM"): Promise<number> {
    const now = this.#now;
    if (now === null) return 0;
    this.#now = null;
    const exit = await now.stop(signal);
    this.talks.push(now.talk);
    return exit;
  }

  /** Its store is gone, with all that it had acknowledged. */
  rob(): void {
    for (const job of this.front.acknowledged.keys()) this.robbed.add(job);
    for (const tail of ["", "-wal", "-shm"]) rmSync(join(this.world.data, "run", `node.db${tail}`), { force: true });
  }

  async calm(): Promise<void> {
    this.weather.isCalm = true;
    if (this.#now === null) await this.start();
  }

  /** Asks it how many jobs it holds, as long as that is wanted. */
  async sample(isWanted: () => boolean): Promise<void> {
    while (isWanted()) {
      await Bun.sleep(40);
      const health = await this.#now?.health().catch(() => null);
      if (health === null || health === undefined) continue;
      this.held.asked += 1;
      this.held.most = Math.max(this.held.most, Number(health.queued) + Number(health.running));
    }
  }

  /** Waits until it has nothing to do, and stops it in order. */
  async settle(faults: string[]): Promise<void> {
    const until = performance.now() + RECOVER_MS;
    for (;;) {
      const health = await this.#now?.health().catch(() => null);
      if (health?.running === 0 && health.queued === 0) break;
      if (performance.now() > until) {
        faults.push(`${this.id} does not come to rest: ${JSON.stringify(health)}`);
        break;
      }
      await Bun.sleep(100);
    }
    const exit = await this.stop("SIGTERM");
    if (exit !== 0) faults.push(`${this.id} ended in ${exit}: ${this.talks.at(-1)?.slice(-600)}`);
  }

  async close(): Promise<void> {
    await this.stop("SIGKILL");
    await this.front.close();
    await this.seat.close();
    this.world[Symbol.dispose]();
  }
}

/** A seat that says its goal again, sooner or later, or something else, or nothing. */
async function openSeat(random: Random) {
  const spans: SeatSpan[] = [];
  const delay = (least: number, most: number) => random.between(least, most);
  const seat = await serveScriptedSeat(
    {
      script: scriptOf({
        slots: 4,
        turns: [
          { ...STUCK(1_000_000), when: { goal_contains: "Be stuck", constraint: "none" } },
          { id: "wrong", when: { goal_contains: "Be wrong", constraint: "none" }, reply: { content: "no idea" } },
          { id: "form", when: { constraint: "any" }, reply: { json: { a: "x" } } },
          {
            id: "slow",
            when: { goal_contains: "Be slow" },
            reply: { content: [{ echo: "goal" }], chunk: { by: "all" }, delay_ms: delay(300, 1200) },
          },
          { id: "say", reply: { content: [{ echo: "goal" }], chunk: { by: "all" }, delay_ms: delay(0, 60) } },
        ],
      }),
      host: "127.0.0.1",
      port: 0,
      token: null,
      clock: realClock,
      created: CREATED,
      onEntry(entry: LogEntry) {
        const tag = /leg-\d+/.exec(seat.bodyOf(entry) ?? "")?.[0];
        if (tag !== undefined && entry.tools.length > 0) {
          spans.push({ tag, from_ms: entry.at_ms, to_ms: realClock.now() - opened });
        }
      },
      onDefect: () => {},
    },
    SEAT_LIMITS,
  );
  const opened = realClock.now();
  return {
    url: seat.url,
    spans,
    close: () => seat.close(),
  };
}
