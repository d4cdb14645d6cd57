/** `writ node serve`: takes jobs from other machines and runs them on the seats of this one, until it is stopped. */
import type { Config } from "../../core/config/config.ts";
import { listensBeyond, readListen } from "../../core/config/url.ts";
import { counted } from "../../core/counted.ts";
import { WritError } from "../../core/error.ts";
import { capabilitiesOf } from "../../core/node/capabilities.ts";
import { stripControls } from "../../core/terminal.ts";
import { modeForOthers } from "../../host/folder.ts";
import { interruptible } from "../../host/interrupt.ts";
import { openLogStream } from "../../host/log-stream.ts";
import type { Tls } from "../../wire/certificate.ts";
import { type NodeServer, serveNode } from "../../wire/node-server.ts";
import { defineCommand } from "../command.ts";
import { CONFIG_OPTION, loadConfig } from "../config-world.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { tlsOf } from "../node-tls.ts";
import { nodeIdOf, openNode } from "../node-world.ts";
import { releaseOf } from "../release.ts";
import { instant, placesOf } from "../world.ts";

const STDERR = 2;
const FLUSH_MS = 1000;

export const command = defineCommand({
  meta: { name: "node serve", description: "Serve this machine's seats to other machines, as a node" },
  args: {
    listen: {
      type: "string",
      valueHint: "HOST:PORT",
      description: "Where to listen (default: node.listen, 127.0.0.1:18811); port 0 is any that is free",
    },
    ...CONFIG_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ node serve", "WRIT_NODE_TOKEN=$(cat /etc/writ/token) writ node serve --listen 100.64.0.7:18811"],
  notes: [
    "Callers bring the token in WRIT_NODE_TOKEN; without one it listens on this machine alone. What it acknowledges is on disk: jobs survive a crash and a restart. The contract that comes is never graded here.",
    "It prints one line when it is ready, and then talks on standard error. Ctrl-C or SIGTERM stops it in order: running jobs get node.drain_sec, the others wait for the next start. A second one ends it at once.",
    "writ docs operating has a systemd unit, and says what survives what.",
  ],
  exits: {
    0: "it was ended with SIGINT or SIGTERM",
    2: "the config makes no sense, or it would listen beyond this machine without a token",
    4: "the address is taken, another node serves the state folder, or the store cannot be used",
  },
  async run({ args, json, out }) {
    const { config } = await loadConfig({
      config: args.config,
      options: args.listen === undefined ? {} : { listen: args.listen },
    });
    const { listen, token, tls } = listenerOf(config);
    const node_id = nodeIdOf(config.node.id);
    const { version } = await releaseOf();
    const stream = openLogStream(STDERR);
    const log = (line: string) => stream.write(stripControls(`${instant(Date.now())} ${line.replaceAll("\n", " | ")}`));
    // Listened to before the address is printed: whoever reads it may stop the node at once.
    using interrupt = interruptible({ last: () => {} });
    const opened = openNode({ config, data: placesOf().data, version, node_id, log });
    const { node, seats, movedTo } = opened;
    const watching = new AbortController();
    let server: NodeServer | null = null;
    try {
      if (movedTo !== null)
        log(`THE STORE WAS DAMAGED and is now "${movedTo}": the jobs in it are lost, an empty one is in its place`);
      if (config.seats.length === 0) log("no seat is configured: every job will be refused (writ config init)");
      const { data } = placesOf();
      const mode = modeForOthers(data);
      if (mode !== null) log(`others may use the data folder (mode ${mode}): chmod 700 '${data}'`);
      if (token === null) log(noToken(config.node.token_env));
      void seats.run(watching.signal);
      server = await serveNode({
        service: node,
        capabilities: capabilitiesOf({ version, acceptsWrite: config.agent_allow_write }),
        ...listen,
        token,
        tls,
        onDefect: (error) =>
          log(`a request ended in: ${error instanceof Error ? (error.stack ?? error.message) : error}`),
      });
      node.start();
      const url = `${tls === null ? "http" : "https"}://${bracketed(listen.host)}:${server.port}`;
      const { poll_lease_sec } = config.node;
      if (json) {
        const accepts_write = config.agent_allow_write;
        out.document({
          ok: true,
          status: "ok",
          node_id,
          url,
          accepts_write,
          poll_lease_sec,
          store_reset: movedTo !== null,
        });
      } else out.line(readyLine(config, node_id, url));
      await fired(interrupt.signal);
      const { running } = node;
      log(`stopping${running === 0 ? "" : `: ${counted(running, "job")} may run for ${config.node.drain_sec} s more`}`);
      await node.drain(new AbortController().signal);
    } catch (error) {
      // It had begun, and could not say where it is: what keeps it awake ends here.
      if (server !== null) await node.drain(AbortSignal.abort());
      throw error;
    } finally {
      watching.abort();
      await server?.close();
      opened.close();
      // What never served has not stopped: why is told by the error.
      if (server !== null) log("stopped");
      await stream.flush(FLUSH_MS);
    }
    return 0;
  },
});

function readyLine({ agent_allow_write, node }: Config, node_id: string, url: string): string {
  const lease = node.poll_lease_sec === 0 ? "off" : `${node.poll_lease_sec} s`;
  return `node ${node_id} at ${url} (write door ${agent_allow_write ? "open" : "closed"}, poll lease ${lease})`;
}

/** It listens on this machine alone then; everybody else on it is let in. */
function noToken(name: string): string {
  const why = name === "" ? "node.token_env is empty" : `${name} is not set`;
  return `no token (${why}): whoever is on this machine may hand it jobs, and read and take back those of others`;
}

function fired(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

type Listener = {
  readonly listen: { readonly host: string; readonly port: number };
  readonly token: string | null;
  readonly tls: Tls | null;
};

/** Errors: `no_token`, `tls_unusable` */
function listenerOf({ node }: Config): Listener {
  const listen = readListen(node.listen);
  if (listen === null) throw new Error(`the config lets ${node.listen} through`);
  const value = node.token_env === "" ? "" : (process.env[node.token_env] ?? "");
  const token = value === "" ? null : value;
  if (token === null && listensBeyond(listen)) {
    const name = node.token_env === "" ? "WRIT_NODE_TOKEN" : node.token_env;
    throw new WritError("no_token", `${node.listen} is reached by other machines, and there is no token`, {
      hint: `Type: export ${name}=$(openssl rand -hex 24)`,
    });
  }
  // A name may mean both families, and a node is meant to be where its clients look first.
  const host = listen.host === "localhost" ? "127.0.0.1" : listen.host;
  return { listen: { host, port: listen.port }, token, tls: tlsOf(node) };
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
