/** `writ hooks print`. */
import { ADAPTERS, DEFAULT_GATE } from "../../core/hooks/harness.ts";
import { settingsOf } from "../../core/hooks/print.ts";
import { defineCommand } from "../command.ts";
import { wholeNumber } from "../contract/address.ts";
import { HARNESS, harnessOf, ownProgram } from "./place.ts";

export const command = defineCommand({
  meta: { name: "hooks print", description: "Print the settings that feed writ from a harness" },
  args: {
    harness: HARNESS,
    gate: {
      type: "string",
      valueHint: "N",
      default: String(DEFAULT_GATE),
      description: "Send a turn that stops unfinalized back, at most N times, where the harness can go on",
    },
  },
  examples: ["writ hooks print codex", "writ hooks print generic"],
  notes: ["What has to be known besides is told on standard error; writ docs hooks has the form of a bare record."],
  exits: { 0: "printed", 2: "no such harness" },
  run({ args, out }) {
    const harness = harnessOf(args.harness);
    const gate = wholeNumber(args.gate, "--gate", 0) ?? DEFAULT_GATE;
    out.product(settingsOf(harness, ownProgram(), gate));
    for (const note of ADAPTERS[harness].notes) out.talk(note);
    return 0;
  },
});
