/**
 * `npm run soak`: storms over the editor, a fleet and gates, one after the other, SOAK_RUNS of each kind of SOAK_KINDS, each
 * SOAK_SEC seconds long. The seeds are printed; WRIT_STORM_SEED repeats the decisions of the first (not their moments).
 *
 * At the end stands what was counted over all storms of a kind; with SOAK_JSON=1 standard output is one document instead.
 * Ends in 0 when every audit was clean, in 1 when one was not.
 */
import { stormEditor } from "../test/support/editor-storm.ts";
import { stormFleet } from "../test/support/fleet-storm.ts";
import { stormGates } from "../test/support/gate-storm.ts";
import type { StormReport, StormSetting } from "../test/support/storm-report.ts";

const STORMS: Readonly<Record<string, (setting: StormSetting) => Promise<StormReport>>> = {
  editor: stormEditor,
  fleet: (setting) => stormFleet({ ...setting, nodes: 3, lanes: 6 }),
  gates: stormGates,
};

const runs = numberOf("SOAK_RUNS", 5);
const chaos_ms = 1000 * numberOf("SOAK_SEC", 60);
const first = numberOf("WRIT_STORM_SEED", Date.now() % 1_000_000);
const kinds = kindsOf(process.env.SOAK_KINDS ?? "");
const isLoud = process.env.SOAK_LOG === "1";
const isJson = process.env.SOAK_JSON === "1";

type Storm = StormReport & { readonly kind: string; readonly seed: number; readonly sec: number };

process.exitCode = await main();

async function main(): Promise<number> {
  const storms: Storm[] = [];
  for (let run = 0; run < runs; run += 1) {
    for (const kind of kinds) {
      const storm = await runStorm(kind, first + run);
      storms.push(storm);
      const { seed, sec, faults } = storm;
      const end = faults.length === 0 ? "clean" : `${faults.length} faults`;
      say(`${kind} storm ${run + 1} of ${runs}, seed ${seed}: ${sec} s, ${end}`);
      for (const fault of faults) say(`  ${fault}`);
    }
  }
  const isClean = storms.length > 0 && storms.every(({ faults }) => faults.length === 0);
  const totals = Object.fromEntries(
    kinds.map((kind) => [kind, totalsOf(storms.filter((storm) => storm.kind === kind))]),
  );
  if (isJson) console.log(JSON.stringify({ ok: isClean, first_seed: first, runs, storms, totals }));
  else for (const kind of kinds) printTable(kind, totals[kind] ?? {});
  return isClean ? 0 : 1;
}

async function runStorm(kind: string, seed: number): Promise<Storm> {
  const storm = STORMS[kind];
  if (storm === undefined) throw new Error(`there is no storm "${kind}"`);
  const began = performance.now();
  const since = () => (performance.now() - began) / 1000;
  const log = (line: string) => {
    if (isLoud) console.error(`${since().toFixed(1)} s  ${line}`);
  };
  const report = await storm({ seed, chaos_ms, isLong: true, log });
  return { kind, seed, sec: Math.round(since()), ...report };
}

/** Standard output is one document where that is wanted. */
function say(line: string): void {
  if (isJson) console.error(line);
  else console.log(line);
}

function totalsOf(storms: readonly Storm[]): Readonly<Record<string, number>> {
  const totals = new Map<string, number>([["storms", storms.length]]);
  for (const { counts, faults } of storms) {
    totals.set("faults", (totals.get("faults") ?? 0) + faults.length);
    for (const [name, count] of Object.entries(counts)) totals.set(name, (totals.get(name) ?? 0) + count);
  }
  return Object.fromEntries([...totals].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function printTable(kind: string, totals: Readonly<Record<string, number>>): void {
  const width = Math.max(0, ...Object.keys(totals).map((name) => name.length));
  console.log(`\n${kind}`);
  for (const [name, count] of Object.entries(totals)) console.log(`  ${name.padEnd(width)}  ${count}`);
}

function kindsOf(text: string): readonly string[] {
  const asked = text === "" ? Object.keys(STORMS) : text.split(",").map((kind) => kind.trim());
  const unknown = asked.find((kind) => !Object.hasOwn(STORMS, kind));
  if (unknown === undefined) return [...new Set(asked)];
  throw new Error(`SOAK_KINDS names "${unknown}": there are ${Object.keys(STORMS).join(", ")}`);
}

function numberOf(name: string, preset: number): number {
  const text = process.env[name] ?? "";
  const number = text === "" ? preset : Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`${name} is ${text}: it must be a whole number`);
  return number;
}
