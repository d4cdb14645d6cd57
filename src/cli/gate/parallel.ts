/** `writ gate parallel`: whether a busy seat is waited for. */

import { WritError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { CONFIG_OPTION } from "../config-world.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { GATE_EXITS } from "./measure.ts";
import { measureParallel } from "./measure-parallel.ts";

const FEWEST = 2;
const MOST = 16;
const USUAL = 3;

export const command = defineCommand({
  meta: { name: "gate parallel", description: "Prove that a busy seat is waited for" },
  args: {
    k: { type: "string", valueHint: "N", description: `Calls at once, ${FEWEST} to ${MOST} (default ${USUAL})` },
    contract: {
      type: "string",
      valueHint: "FILE",
      description: "A file of eight contracts (default: the shipped digests)",
    },
    remote: {
      type: "string",
      valueHint: "URL",
      description: "The node that is measured (default: a seat of this machine)",
    },
    seat: { type: "string", valueHint: "NAME", description: "The seat that is measured" },
    "no-peer": { type: "boolean", description: "Without a stranger on the seat" },
    out: { type: "string", valueHint: "DIR", description: "Where the report goes (default: writ-gate/parallel)" },
    ...CONFIG_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ gate parallel -k 3", "writ gate parallel --seat qwen-9b --no-peer --json"],
  notes: [
    "Calls of eight legs each are started behind one barrier, while a stranger holds a slot of the same seat. A leg that is given up because the seat is busy is a FAIL; where nobody had to wait, nothing was shown, and that is INCONCLUSIVE. How long it took is never a rule.",
  ],
  exits: GATE_EXITS,
  run({ args, json, out }) {
    const k = wholeNumber(args.k, "-k", FEWEST) ?? USUAL;
    if (k > MOST) throw new WritError("usage", `-k is ${k}; ${FEWEST} to ${MOST} are allowed`, { path: "-k" });
    const { remote, seat, out: folder, config } = args;
    const peer = !args["no-peer"];
    return measureParallel(
      {
        remote,
        seat,
        out: folder,
        config,
        k,
        peer,
        contract: args.contract ?? null,
        folder: process.cwd(),
        name: "parallel",
      },
      { json, out },
    );
  },
});
