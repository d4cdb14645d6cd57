/** Tries the seeds of targets in a worker, and tells of those that hang. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "./target.ts";

export type Order = {
  readonly target: string;
  /** The first seed; each input has the next one. */
  readonly seed: number;
  /** At most so many inputs, and for so long. */
  readonly inputs: number;
  readonly minutes: number;
  /** Whether time is looked at. */
  readonly growth: boolean;
};

/** What the worker is sent. */
export type Sent = Order & {
  /** Where the targets are found: a module with `TARGETS`. */
  readonly module: string;
  /** Three numbers: the seed that is tried now, how often that changed, and 1 where its input is being doubled. */
  readonly place: SharedArrayBuffer;
};

export type Said =
  | { readonly kind: "fault"; readonly seed: number; readonly fault: string }
  | { readonly kind: "done"; readonly tried: number; readonly grown: number };

export type Tried = {
  readonly inputs: number;
  /** Inputs that were doubled to see how time grows. */
  readonly growths: number;
  readonly faults: readonly Fault[];
};

export type Fault = { readonly seed: number; readonly fault: string };

const LOOK_MS = 250;
/** Who has seen so many faults mends them first. */
const MOST_FAULTS = 40;

/**
 * A reader that works is judged by the time that this process was given, so that a machine with other work accuses
 * nobody; one that waits for nothing at all is found out so many times later.
 */
const IDLE_TIMES = 15;

function spentTime(): { readonly cpu_ms: number; readonly wall_ms: number } {
  const { user, system } = process.cpuUsage();
  return { cpu_ms: (user + system) / 1000, wall_ms: performance.now() };
}

/** One worker for as many orders as it lives through, one after the other. */
export class Trier {
  private worker: Worker | null = null;
  /** Where readers that take files make them: a worker that is ended cleans nothing up. */
  readonly folder = mkdtempSync(join(tmpdir(), "writ-fuzz-"));

  /** @param module the URL of the module that has the targets */
  constructor(private readonly module: string = new URL("./targets.ts", import.meta.url).href) {}

  async run(
    target: Pick<Target, "name" | "hang_ms">,
    order: Omit<Order, "target">,
    onFault: (fault: Fault) => void = () => {},
  ): Promise<Tried> {
    const place = new SharedArrayBuffer(12);
    const now = new Int32Array(place);
    const worker = this.worker ?? this.started();
    this.worker = worker;
    const faults: Fault[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<{ readonly tried: number; readonly grown: number }>();
    const giveUp = () => {
      this.stop();
      resolve({ tried: Atomics.load(now, 1), grown: 0 });
    };
    const tell = (fault: Fault) => {
      faults.push(fault);
      onFault(fault);
      if (faults.length >= MOST_FAULTS) giveUp();
    };
    worker.onmessage = ({ data }: MessageEvent<Said>) => {
      if (data.kind === "done") resolve(data);
      else tell({ seed: data.seed, fault: data.fault });
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.stop();
      reject(new Error(`target "${target.name}", seed ${Atomics.load(now, 0)}: ${event.message}`));
    };
    let last = -1;
    let since = spentTime();
    const timer = setInterval(() => {
      const count = Atomics.load(now, 1);
      if (count !== last) since = spentTime();
      last = count;
      const { cpu_ms, wall_ms } = spentTime();
      if (cpu_ms - since.cpu_ms < target.hang_ms && wall_ms - since.wall_ms < IDLE_TIMES * target.hang_ms) return;
      tell({
        seed: Atomics.load(now, 0),
        fault: `hangs${Atomics.load(now, 2) === 1 ? " where it is doubled" : ""}: it is not through after ${target.hang_ms / 1000} s`,
      });
      giveUp();
    }, LOOK_MS);
    worker.postMessage({ ...order, target: target.name, module: this.module, place } satisfies Sent);
    try {
      const { tried, grown } = await promise;
      return { inputs: tried, growths: grown, faults };
    } finally {
      clearInterval(timer);
    }
  }

  private started(): Worker {
    const env = { ...process.env, TMPDIR: this.folder, TEMP: this.folder, TMP: this.folder };
    return new Worker(new URL("./worker.ts", import.meta.url).href, { env });
  }

  private stop(): void {
    this.worker?.terminate();
    this.worker = null;
  }

  [Symbol.dispose](): void {
    this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
