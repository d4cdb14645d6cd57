import { expect, test } from "bun:test";
import { stormEditor } from "../support/editor-storm.ts";

const SEED = Number(process.env.WRIT_STORM_SEED ?? Date.now() % 1_000_000);

test(`turns in a storm: what is acknowledged is there, once and in order, what was refused is not, and each turn is whole (seed ${SEED})`, async () => {
  const { counts, faults } = await stormEditor({ seed: SEED, chaos_ms: 3_000, isLong: false, log: () => {} });
  expect(faults).toEqual([]);
  // A storm in which nothing was written proves nothing.
  expect(counts["found: changes"] ?? 0).toBeGreaterThan(4);
}, 120_000);
