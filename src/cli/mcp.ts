/** `writ mcp`: the tools of writ for a client of the Model Context Protocol, over standard input and output. */
import { resolve } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import type { Config } from "../core/config/config.ts";
import { seatToFind } from "../core/config/environment.ts";
import { WritError } from "../core/error.ts";
import type { DelegateWorld } from "../delegate/world.ts";
import { isFolder } from "../host/folder.ts";
import { interruptible } from "../host/interrupt.ts";
import { standardOutput } from "../host/outbox.ts";
import { isOutputClosed, isTerminal } from "../host/stream.ts";
import { openDelegation } from "../mcp/delegation.ts";
import { defineCommand } from "./command.ts";
import { CONFIG_OPTION, loadConfig } from "./config-world.ts";
import { recoverInBackground } from "./recovery.ts";
import { lastBeyondOneCall, placesOf } from "./world.ts";

export const command = defineCommand({
  meta: { name: "mcp", description: "Serve writ's tools to an MCP client over standard input and output" },
  args: {
    "read-root": {
      type: "string",
      valueHint: "DIR",
      description: "Where the files of context_paths are; calls may only narrow it (default: the working folder)",
    },
    ...CONFIG_OPTION,
  },
  output: "none",
  withoutJson:
    '"writ mcp" speaks its protocol on standard output and has no --json: a client starts it, writ docs mcp shows how',
  examples: ["writ mcp", "writ mcp --read-root ~/src/project"],
  notes: [
    "A client starts it by itself: writ docs mcp shows its configuration, and every tool. Standard output carries the protocol alone; what a person should know goes to standard error.",
    "The end of standard input, or SIGTERM, stops every call that is going on, within 8 seconds.",
  ],
  exits: {
    0: "standard input ended",
    2: "the config is not valid, or the read root is no folder",
    4: "standard output cannot be written",
    130: "ended by SIGINT",
    143: "ended by SIGTERM",
  },
  async run({ args, out }) {
    if (isOutputClosed()) {
      throw new WritError("output_failed", "Cannot write standard output: it is closed", {
        hint: "A client reads the answers there: writ docs mcp",
      });
    }
    const { config } = await loadConfig({ config: args.config, find: null });
    const readRoot = folderOf(args["read-root"] ?? ".");
    lastBeyondOneCall();
    if (isTerminal(0)) out.talk("writ mcp: a client starts this, and speaks with it a message a line: writ docs mcp");
    using interrupt = interruptible({ last: () => {} });
    const delegation = config.delegation_enabled
      ? openDelegation(config, () => worldOf(config, args.config, version))
      : null;
    // Where no node is configured nothing can have been left at one.
    const endRecovery =
      delegation !== null && config.remotes.length > 0
        ? recoverInBackground({ ...config, data: placesOf().data })
        : () => null;
    const { serveMcp } = await import("../mcp/server.ts");
    const { toolsOf } = await import("../mcp/tools.ts");
    const output = standardOutput();
    try {
      await serveMcp({
        version,
        tools: toolsOf(config.delegation_enabled),
        server: { readRoot, isReadRootGiven: args["read-root"] !== undefined, delegation },
        input: Bun.stdin.stream(),
        write: output.write,
        stop: interrupt.signal,
        log: (line) => out.talk(line),
      });
    } finally {
      // A client that does not read has had its time.
      output.release();
    }
    const recovered = endRecovery();
    if (recovered !== null) out.talk(`writ mcp: ${recovered}`);
    return interrupt.received()?.status ?? 0;
  },
});

/** The world of all calls; only here a seat of which the environment does not say what it serves is asked. */
async function worldOf(config: Config, file: string | undefined, version: string): Promise<DelegateWorld> {
  const { delegateWorld } = await import("./delegate-world.ts");
  const whole = seatToFind(process.env) === null ? config : (await loadConfig({ config: file })).config;
  return delegateWorld({ config: whole, data: placesOf().data, version, seat: "" });
}

/** Errors: `no_folder` */
function folderOf(path: string): string {
  if (isFolder(path)) return resolve(path);
  throw new WritError("no_folder", `The read root "${path}" is no folder`, { path: "--read-root" });
}
