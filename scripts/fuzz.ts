/**
 * `npm run fuzz [-- --target NAME]… [--minutes N] [--seed N] [--inputs N] [--show]`: every reader of text from outside, on
 * real inputs that were changed.
 *
 * Each input is drawn from a seed of its own, which is printed with what does not hold of it: `--target NAME --seed N
 * --inputs 1` runs it again, and `--show` prints it. Time is shared by the targets. Ends in 0 when everything held.
 */
import { parseArgs } from "node:util";
import { Trier } from "./fuzz/run.ts";
import { TARGETS } from "./fuzz/targets.ts";

const { values } = parseArgs({
  options: {
    target: { type: "string", multiple: true },
    minutes: { type: "string", default: "10" },
    seed: { type: "string" },
    inputs: { type: "string", default: "1000000000" },
    show: { type: "boolean", default: false },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const names = values.target ?? TARGETS.map(({ name }) => name);
  const targets = TARGETS.filter(({ name }) => names.includes(name));
  const unknown = names.find((name) => !targets.some((target) => target.name === name));
  if (unknown !== undefined) {
    console.error(`There is no target "${unknown}". There are: ${TARGETS.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 30) : Number(values.seed);
  const [inputs, minutes] = [Number(values.inputs), Number(values.minutes)];
  if (![seed, inputs, minutes].every((number) => number >= 0) || !Number.isInteger(seed)) {
    console.error("--seed, --inputs and --minutes are numbers");
    return 2;
  }
  if (values.show) {
    for (const { name, show } of targets) console.log(`${name}\n${show(seed)}`);
    return 0;
  }
  using trier = new Trier();
  let broken = 0;
  for (const target of targets) {
    const order = { seed, inputs, minutes: minutes / targets.length, growth: true };
    const tried = await trier.run(target, order, ({ seed: at, fault }) => {
      console.error(`${target.name}, seed ${at}: ${fault}`);
    });
    if (tried.faults.length > 0 || tried.inputs === 0) broken += 1;
    const counts = `${String(tried.inputs).padStart(9)} inputs, ${String(tried.growths).padStart(6)} doubled`;
    console.log(`${target.name.padEnd(16)} ${counts}, ${tried.faults.length} faults`);
  }
  console.log(`fuzz: ${targets.length} targets from seed ${seed} on, ${broken} of them broken`);
  return broken === 0 ? 0 : 1;
}
