import { expect, test } from "bun:test";
import { runStorm } from "./support/storm.ts";

const SEED = Number(process.env.WRIT_STORM_SEED ?? Date.now() % 1_000_000);

test(`16 processes add to one draft and some are killed: nothing acknowledged is lost (seed ${SEED})`, async () => {
  const audit = await runStorm({ processes: 16, adds: 8, killed: 0.3, seed: SEED });
  expect(audit.faults).toEqual([]);
  expect(audit.acknowledged + audit.killed).toBe(128);
  expect(audit.acknowledged).toBeGreaterThan(32);
  expect(audit.reads).toBeGreaterThan(0);
}, 120_000);

test("50 adds at once to one draft leave 50 entries", async () => {
  const audit = await runStorm({ processes: 50, adds: 1, killed: 0, seed: 1 });
  expect(audit.faults).toEqual([]);
  expect(audit.entries).toBe(50);
}, 120_000);
