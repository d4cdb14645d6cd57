/** Tries seeds in a thread of its own, which is ended from outside when one of them takes too long. See `run.ts`. */
import type { Said, Sent } from "./run.ts";
import type { Target } from "./target.ts";

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<Sent>) => {
  const { TARGETS } = (await import(data.module)) as { readonly TARGETS: readonly Target[] };
  const target = TARGETS.find(({ name }) => name === data.target);
  if (target === undefined) throw new Error(`there is no target "${data.target}"`);
  self.postMessage(await tried(target, data));
};

const EACH = 20;

async function tried(target: Target, { seed: first, inputs, minutes, growth, place }: Sent): Promise<Said> {
  const now = new Int32Array(place);
  const until = performance.now() + minutes * 60_000;
  const grows = growth ? target.growth : null;
  const tell = (seed: number, fault: string) => self.postMessage({ kind: "fault", seed, fault } satisfies Said);
  let tried = 0;
  let grown = 0;
  let spent = 0;
  for (let seed = first; tried < inputs && performance.now() < until; seed += 1) {
    Atomics.store(now, 0, seed);
    Atomics.store(now, 2, 0);
    Atomics.add(now, 1, 1);
    const began = performance.now();
    for (const fault of await target.attempt(seed)) tell(seed, fault);
    tried += 1;
    // Half of the time goes to how time grows, and one input in twenty in any case.
    spent -= performance.now() - began;
    if (grows === null || (spent > 0 && tried < EACH * (grown + 1))) continue;
    Atomics.store(now, 2, 1);
    Atomics.add(now, 1, 1);
    const from = performance.now();
    const fault = await grows(seed);
    spent += performance.now() - from;
    grown += 1;
    if (fault !== null) tell(seed, fault);
  }
  return { kind: "done", tried, grown };
}
