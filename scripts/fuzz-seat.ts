/**
 * `npm run fuzz:seat [-- --seed N] [--calls N] [--minutes N] [--legs N] [--in-process]`: calls of `writ delegate` on seats
 * that answer whatever they like, until the time is over or something does not hold.
 *
 * Each call is drawn from a seed of its own, which is printed: `--seed N --calls 1` runs it again. Ends in 0 when
 * everything held, in 1 when something did not.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { callOf } from "./fuzz-seat/call.ts";
import { runHostile } from "./fuzz-seat/run.ts";

const ROOT = join(import.meta.dir, "..");
const WRIT = join(ROOT, "dist", process.platform === "win32" ? "writ.exe" : "writ");

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    calls: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "5" },
    legs: { type: "string", default: "16" },
    "in-process": { type: "boolean", default: false },
    show: { type: "boolean", default: false },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const isInProcess = values["in-process"];
  if (!isInProcess && !existsSync(WRIT)) {
    console.error(`There is no "${WRIT}"; "npm run fuzz:seat" builds it first`);
    return 1;
  }
  const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const until = performance.now() + Number(values.minutes) * 60_000;
  const tally = new Map<string, number>();
  let broken = 0;
  let calls = 0;
  for (let seed = first; calls < Number(values.calls) && performance.now() < until; seed += 1) {
    const call = callOf(seed, Number(values.legs));
    if (values.show)
      for (const [index, { replies }] of call.legs.entries())
        console.error(index, replies.map(({ what, end }) => `${what} (${end})`).join(" | "));
    const { faults, statuses } = await runHostile(call, isInProcess ? null : [WRIT]);
    calls += 1;
    for (const status of statuses) tally.set(status, (tally.get(status) ?? 0) + 1);
    if (faults.length > 0) broken += 1;
    for (const fault of faults) console.error(`seed ${seed}: ${fault}`);
  }
  for (const [status, count] of [...tally].sort(([, left], [, right]) => right - left))
    console.log(`${String(count).padStart(7)} ${status}`);
  console.log(`fuzz:seat: ${calls} calls from seed ${first} on, ${broken} of them broken`);
  return broken === 0 && calls > 0 ? 0 : 1;
}
