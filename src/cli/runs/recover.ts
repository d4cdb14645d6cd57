/** `writ runs recover`: collects the results of jobs that a delegator left at nodes when it died. */
import { EXIT } from "../../core/error.ts";
import type { Recovered } from "../../delegate/recover.ts";
import type { LedgerFault } from "../../host/intents.ts";
import { interruptible } from "../../host/interrupt.ts";
import { defineCommand } from "../command.ts";
import { CONFIG_OPTION, loadConfig } from "../config-world.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { PASS_MS, recoverLeft } from "../recovery.ts";
import { oneLine, tableLines } from "../table.ts";
import { placesOf } from "../world.ts";

export const command = defineCommand({
  meta: { name: "runs recover", description: "Collect what a delegation that was cut short left at nodes" },
  args: {
    remote: {
      type: "string",
      multiple: true,
      valueHint: "URL",
      description: "A node that was named on a command line; besides those of the config",
    },
    ...CONFIG_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ runs recover", "writ runs recover --remote http://100.64.0.7:18811 --json"],
  notes: [
    "Before a job is handed to a node that is written down, and again when its result is kept. What is open and whose process is gone is asked about once. A result is put into run/recovered in the data folder as the node handed it out: writ grade CONTRACT --result FILE grades it, with --index where the contract file has several subtasks: the index in the delegation is told, and it counts through all files of the call. writ gate apply FILE --contract CONTRACT grades it and brings its diff into a tree.",
    "Every delegation does the same in the background. A job that its node has not ended yet, or of which nobody can say anything now, stays open for two days.",
  ],
  exits: {
    0: "done; also where nothing was left",
    4: "of a job nobody can say: its node did not answer, or not to us, or the ledger of jobs cannot be read",
  },
  async run({ args, json, out }) {
    const { config } = await loadConfig({ config: args.config, find: null });
    const named =
      args.remote.length === 0
        ? []
        : (await loadConfig({ config: args.config, options: { remotes: args.remote }, find: null })).config.remotes;
    using interrupt = interruptible();
    const signal = AbortSignal.any([interrupt.signal, AbortSignal.timeout(PASS_MS)]);
    const setting = { remotes: [...config.remotes, ...named], runs: config.runs, data: placesOf().data };
    const unread: LedgerFault[] = [];
    const found = await recoverLeft(setting, signal, (fault) => void unread.push(fault));
    const stopped = interrupt.received();
    const isOpen = found.some(({ state }) => state === "open");
    const exit = stopped?.status ?? (isOpen || unread.length > 0 ? EXIT.unavailable : EXIT.ok);
    if (json) {
      out.document({
        ok: exit === EXIT.ok,
        status: stopped !== null ? "stopped" : unread.length > 0 ? "unread" : isOpen ? "open" : "ok",
        intents: found.map((each) => ({ ...each })),
        unread: unread.map((each) => ({ ...each })),
      });
      return exit;
    }
    for (const { path, why } of unread) {
      out.line(
        `Cannot read the ledger of jobs, "${oneLine(path)}": ${oneLine(why)}. Move it away, or make it readable`,
      );
    }
    if (found.length === 0 && unread.length === 0) out.line("Nothing was left at a node");
    else if (found.length > 0)
      for (const line of tableLines(HEADER, found.map(row), out.columns(), found.map(under))) out.line(line);
    return exit;
  },
});

const HEADER = ["job", "node", "state", "goal"];

function row({ job, url, state, goal }: Recovered): readonly string[] {
  return [job, url, state, goal];
}

/** Whole: a path must not be cut. */
function under({ told, run_id, index }: Recovered): readonly string[] {
  const leg = run_id === "" ? [] : [`  index ${index ?? 0} of ${oneLine(run_id)}: writ runs show ${oneLine(run_id)}`];
  return [...leg, `  ${oneLine(told)}`];
}
