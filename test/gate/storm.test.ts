import { expect, test } from "bun:test";
import { stormGates } from "../support/gate-storm.ts";

const SEED = Number(process.env.WRIT_STORM_SEED ?? Date.now() % 1_000_000);

test(`gates in a storm: a PASS has all its proofs, the fixture stays as it is, and nothing that was killed is left for long (seed ${SEED})`, async () => {
  const { counts, faults } = await stormGates({ seed: SEED, chaos_ms: 3_000, isLong: false, log: () => {} });
  expect(faults).toEqual([]);
  // The last gate, which runs in peace, is one.
  expect(counts["proofs of a PASS"] ?? 0).toBeGreaterThan(0);
}, 180_000);
