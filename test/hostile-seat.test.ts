/** Calls of `writ delegate` on seats that answer whatever they like. `npm run fuzz -- --target seat` goes on where this stops. */
import { expect, test } from "bun:test";
import { callOf } from "../scripts/fuzz/seat/call.ts";
import { runHostile } from "../scripts/fuzz/seat/run.ts";
import { writCommand } from "./support/writ.ts";

const LEGS = 12;
const FIRST = Number(process.env.WRIT_TEST_SEED ?? Math.floor(Math.random() * 2 ** 30));
const seeds = (count: number, from: number) => Array.from({ length: count }, (_, at) => from + at);

/** What does not hold of the calls of these seeds, each with its seed; calls run beside each other. */
async function faultsOf(drawn: readonly number[], writ: readonly string[] | null): Promise<readonly string[]> {
  const ran = await Promise.all(
    drawn.map(async (seed) => {
      const { faults, statuses } = await runHostile(callOf(seed, LEGS), writ);
      expect(statuses).toHaveLength(LEGS);
      return faults.map((fault) => `WRIT_TEST_SEED=${seed} of ${LEGS} legs: ${fault}`);
    }),
  );
  return ran.flat();
}

test.concurrent("whatever a seat answers, the command ends in one document that is true, and leaves nothing behind", async () => {
  expect(await faultsOf(seeds(3, FIRST), writCommand())).toEqual([]);
}, 120_000);

test.concurrent("whatever a seat answers, a call ends in one document that is true, and leaves nothing behind", async () => {
  expect(await faultsOf(seeds(4, FIRST + 1000), null)).toEqual([]);
}, 120_000);
