/**
 * `npm run soak`: storms over a fleet of real nodes and delegators, one after the other, until SOAK_RUNS of them are over
 * or one of them finds something. The seed is printed; WRIT_STORM_SEED repeats its decisions (not their moments).
 *
 * It prints what was counted, over all storms. Ends in 0 when every audit was clean, in 1 when one was not.
 */
import { stormFleet } from "../test/support/fleet-storm.ts";

const runs = numberOf("SOAK_RUNS", 5);
const chaos_ms = 1000 * numberOf("SOAK_SEC", 60);
const first = numberOf("WRIT_STORM_SEED", Date.now() % 1_000_000);
const isLoud = process.env.SOAK_LOG === "1";

process.exitCode = await main();

async function main(): Promise<number> {
  const totals = new Map<string, number>();
  let faulty = 0;
  for (let run = 0; run < runs; run += 1) {
    const seed = first + run;
    const began = performance.now();
    const { counts, faults } = await stormFleet({
      seed,
      chaos_ms,
      nodes: 3,
      lanes: 6,
      isLong: true,
      log: (line) => {
        if (isLoud) console.error(`${((performance.now() - began) / 1000).toFixed(1)} s  ${line}`);
      },
    });
    for (const [name, count] of Object.entries(counts)) totals.set(name, (totals.get(name) ?? 0) + count);
    const sec = Math.round((performance.now() - began) / 1000);
    console.log(
      `storm ${run + 1} of ${runs}, seed ${seed}: ${sec} s, ${faults.length === 0 ? "clean" : `${faults.length} faults`}`,
    );
    for (const fault of faults) console.log(`  ${fault}`);
    if (faults.length > 0) faulty += 1;
  }
  const width = Math.max(0, ...[...totals.keys()].map((name) => name.length));
  for (const [name, count] of [...totals].sort(([left], [right]) => (left < right ? -1 : 1))) {
    console.log(`${name.padEnd(width)}  ${count}`);
  }
  return faulty === 0 ? 0 : 1;
}

function numberOf(name: string, preset: number): number {
  const text = process.env[name] ?? "";
  const number = text === "" ? preset : Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`${name} is ${text}: it must be a whole number`);
  return number;
}
