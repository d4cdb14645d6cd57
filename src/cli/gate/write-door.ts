/** `writ gate write-door`: whether diffs that come back from a place are right, each proved on a fresh copy. */
import { join } from "node:path";
import { WritError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { embeddedSet, type Form, isFolder, setOfFile } from "./leg-set.ts";
import { GATE_EXITS, GATE_OPTIONS, measureGate } from "./measure.ts";

export const command = defineCommand({
  meta: { name: "gate write-door", description: "Prove the diffs of a place on fresh copies, task by task" },
  args: {
    form: { type: "enum", options: ["ts", "go"], default: "ts", description: "Which of the shipped sets" },
    dir: { type: "string", valueHint: "DIR", description: "A set of your own: a folder with a gate.json" },
    ...GATE_OPTIONS,
  },
  examples: [
    "writ gate write-door --remote http://100.64.0.7:18811",
    "writ gate write-door --seat qwen-9b --only t1 --html gate.html",
  ],
  notes: [
    "Run it after opening agent_allow_write at a place. Each task must be in its staged state first, the diff must change exactly the pinned files, and every proof is made on a fresh copy of its own. The proofs of the TypeScript form need nothing installed; those of the Go form need Go.",
    "What a proof runs was written by a model: it gets an empty environment and a scratch home, its whole process group is killed at its end, and where bubblewrap works it has no network and sees nothing but the copy. The report says which of these were in force.",
  ],
  exits: GATE_EXITS,
  async run({ args, json, out }) {
    if (args.dir !== undefined && !isFolder(args.dir))
      throw new WritError("no_folder", `There is no folder "${args.dir}"`);
    const set = args.dir === undefined ? embeddedSet(args.form as Form) : setOfFile(join(args.dir, "gate.json"));
    const { gate } = set;
    if (gate.mode !== "write") {
      throw new WritError("usage", `The gate in "${args.dir}" has the mode "${gate.mode}"`, {
        hint: "writ gate run runs any gate",
      });
    }
    return measureGate({ ...set, gate }, args.dir === undefined ? args.form : "", args, { json, out });
  },
});
