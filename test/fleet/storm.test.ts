import { expect, test } from "bun:test";
import { stormFleet } from "../support/fleet-storm.ts";

const SEED = Number(process.env.WRIT_STORM_SEED ?? Date.now() % 1_000_000);

test(`a fleet in a storm: every leg has one result or an honest defer, no job runs twice at once, nothing accepted is lost (seed ${SEED})`, async () => {
  const { counts, faults } = await stormFleet({
    seed: SEED,
    chaos_ms: 20_000,
    nodes: 3,
    lanes: 4,
    isLong: false,
    log: () => {},
  });
  expect(faults).toEqual([]);
  // A storm in which nothing was done, or nothing went wrong, proves nothing.
  expect(counts["legs: succeeded"] ?? 0).toBeGreaterThan(0);
  expect((counts["calls: SIGKILL"] ?? 0) + (counts["jobs: restarted"] ?? 0)).toBeGreaterThan(0);
}, 300_000);
