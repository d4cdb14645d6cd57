import { expect, test } from "bun:test";
import type { Seat } from "../../src/core/config/seat.ts";
import type { SeatSight } from "../../src/core/node/seat-record.ts";
import { SeatWatch } from "../../src/node/seat-watch.ts";
import { manualClock } from "../support/manual-clock.ts";
import { SEAT } from "../support/seat-world.ts";

const READY: SeatSight = {
  state: "ready",
  message: "it is ready",
  isAnswering: true,
  strangers: 0,
  slots: 2,
  ctx_tokens: 4096,
};
const GONE: SeatSight = { ...READY, state: "gone", message: "connection refused", slots: null, ctx_tokens: null };

function watched(look: (seat: Seat, count: number) => SeatSight | Promise<SeatSight>) {
  const clock = manualClock();
  const logged: string[] = [];
  const looks: number[] = [];
  let changes = 0;
  const seat: Seat = { ...SEAT, name: "q", slots: 0, ctx_tokens: 0 };
  const watch = new SeatWatch(
    {
      clock,
      sleep: clock.sleep,
      look: async (each) => {
        looks.push(clock.ms());
        return look(each, looks.length);
      },
      heldSlots: () => 1,
      rates: () => ({ decode_tok_s: 20, prefill_tok_s: null, cold_load_sec: null }),
      log: (line) => void logged.push(line),
    },
    [seat],
    () => {
      changes += 1;
    },
  );
  const stop = new AbortController();
  const pass = (ms: number) => clock.drive(clock.sleep(ms, stop.signal));
  return { watch, logged, looks, stop, pass, clock, changes: () => changes };
}

test("a seat is unknown until the first look has ended, and is looked at again before what was seen is 30 s old", async () => {
  const first = Promise.withResolvers<SeatSight>();
  const { watch, looks, stop, pass } = watched((_, count) => (count === 1 ? first.promise : READY));
  const running = watch.run(stop.signal);
  expect(watch.records()).toMatchObject([{ name: "q", served: null, loaded: null, slots: 1, ctx_tokens: 0, busy: 1 }]);
  first.resolve(READY);
  await pass(1);
  expect(watch.records()).toMatchObject([{ served: true, loaded: true, slots: 2, ctx_tokens: 4096, tok_s: 20 }]);
  await pass(100_000);
  const pauses = looks.slice(1).map((at, index) => at - (looks[index] ?? 0));
  expect(Math.max(...pauses)).toBeLessThanOrEqual(20_000);
  stop.abort();
  await running;
});

test("a look that fails says no; what the server told before is kept; each change is told once", async () => {
  const { watch, logged, stop, pass, changes } = watched((_, count) => (count === 2 || count === 3 ? GONE : READY));
  const running = watch.run(stop.signal);
  await pass(20_000);
  expect(watch.records()).toMatchObject([{ served: false, loaded: false, slots: 2, ctx_tokens: 4096 }]);
  expect(changes()).toBe(2);
  await pass(60_000);
  expect(watch.records()).toMatchObject([{ served: true }]);
  expect(changes()).toBe(3);
  expect(logged).toEqual(["seat q is served", "seat q is away: connection refused", "seat q is served"]);
  stop.abort();
  await running;
});

test("a seat whose look does not end counts as away after 30 s", async () => {
  const { watch, stop, pass } = watched((_, count) => (count === 1 ? READY : new Promise(() => {})));
  void watch.run(stop.signal);
  await pass(29_000);
  expect(watch.records()).toMatchObject([{ served: true }]);
  await pass(2_000);
  expect(watch.records()).toMatchObject([{ served: false }]);
  stop.abort();
});
