/** Every reader of text from outside, on real inputs that were changed. `npm run fuzz` goes on where this stops. */
import { afterAll, expect, test } from "bun:test";
import { Trier } from "../scripts/fuzz/run.ts";
import { LIGHT } from "../scripts/fuzz/targets.ts";

/** The first seed is always the same; the second is drawn, and told where something does not hold. */
const SEEDS = [1, Number(process.env.WRIT_TEST_SEED ?? Math.floor(Math.random() * 2 ** 30))];
const INPUTS = 40;

const trier = new Trier();
afterAll(() => trier[Symbol.dispose]());

test.each(LIGHT.map((target) => [target.name, target] as const))(
  "%s: every input is read, or refused as it should be",
  async (_, target) => {
    for (const seed of SEEDS) {
      const { inputs, faults } = await trier.run(target, { seed, inputs: INPUTS, minutes: 10, growth: false });
      expect(
        faults.map(
          (fault) => `npm run fuzz -- --target ${target.name} --inputs 1 --seed ${fault.seed}: ${fault.fault}`,
        ),
      ).toEqual([]);
      expect(inputs).toBe(INPUTS);
    }
  },
  // Behind the bound of the trier, which says which input hangs.
  600_000,
);
