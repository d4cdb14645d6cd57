/** `writ delegate`: sends contracts to model seats here or on other machines, and grades what comes back. */

import type { Config } from "../core/config/config.ts";
import { counted } from "../core/counted.ts";
import { printedPieces, resultPieces } from "../core/delegation/render-result.ts";
import type { ResultDocument, Summary } from "../core/delegation/result.ts";
import { ROUTES, type Route } from "../core/delegation/result.ts";
import { exitOfSummary } from "../core/delegation/summary.ts";
import { EXIT, WritError } from "../core/error.ts";
import { nearest } from "../core/near-miss.ts";
import { type Routing, readRouting } from "../core/placement/pin.ts";
import { delegate } from "../delegate/delegate.ts";
import { takeIn } from "../delegate/intake.ts";
import type { Call } from "../delegate/world.ts";
import { readContractFile, readOfferedContract } from "../host/contract-file.ts";
import { interruptible } from "../host/interrupt.ts";
import { documentReader } from "../host/read-root.ts";
import { hasTakenAll, isTerminal } from "../host/stream.ts";
import { assertOneStdin } from "./author-world.ts";
import { defineCommand, type Output } from "./command.ts";
import { CONFIG_OPTION, loadConfig } from "./config-world.ts";
import { JSON_SWITCH, wholeNumber } from "./contract/address.ts";
import { openDisplay } from "./delegate/display.ts";
import { makeOutFolder, writeOutFolder } from "./delegate/out-folder.ts";
import { resultLines } from "./delegate/result-table.ts";
import { delegateWorld, sha256 } from "./delegate-world.ts";
import { recoverInBackground } from "./recovery.ts";
import { releaseOf } from "./release.ts";
import { placesOf } from "./world.ts";

/** How long an unnamed contract on standard input may take to begin. */
const FIRST_BYTE_MS = 2000;

const UNWRITTEN =
  "writ: what is handed to nodes cannot be written down (is the disk full?): if this process dies, writ runs recover does not find it";

export const command = defineCommand({
  meta: { name: "delegate", description: "Send delegation contracts to model seats and grade what comes back" },
  args: {
    contract: {
      type: "string",
      multiple: true,
      valueHint: "FILE",
      description: "A contract file, several times for several; - is standard input",
    },
    "read-root": {
      type: "string",
      valueHint: "DIR",
      description: "Where the files of context_paths are (default: this folder)",
    },
    route: { type: "enum", options: [...ROUTES], default: "auto", description: "Where legs may go" },
    "pin-reason": {
      type: "string",
      valueHint: "TEXT",
      description: "Makes the route a pin: privacy, locality, measurement or operator, and a text behind :",
    },
    remote: {
      type: "string",
      multiple: true,
      valueHint: "URL",
      description: "A node; in place of those of the config",
    },
    seat: { type: "string", valueHint: "NAME", description: "Only this seat" },
    timeout: { type: "string", valueHint: "SEC", description: "The whole call (default: no limit)" },
    width: { type: "string", valueHint: "N", description: "Legs in flight, 1 to 8" },
    fingerprint: { type: "boolean", description: "Add a document fingerprint to each contract with documents" },
    out: { type: "string", valueHint: "DIR", description: "Write the parts of each result to files as well" },
    ...CONFIG_OPTION,
    strict: { type: "boolean", description: "End in 1 unless every leg succeeded" },
    quiet: { type: "boolean", description: "Neither progress nor hints" },
    "no-progress": { type: "boolean", description: "Plain lines in place of the live display" },
    ...JSON_SWITCH,
  },
  examples: [
    "writ delegate --contract research.json --read-root . --json",
    "writ delegate --contract clamp.json --route remote --pin-reason measurement --remote http://100.64.0.7:18811",
  ],
  notes: [
    "Standard output is the result: a table on a terminal, one JSON document elsewhere or with --json. Read its summary first. A leg that was deferred says what it was not done for; acceptance decides between succeeded and failed_verification.",
    "Without --contract, standard input is read when it is a file, or a pipe that brings something within 2 seconds.",
    "Ctrl-C stops the call and prints what there is; a second one ends it at once. Every call is kept: writ runs list.",
  ],
  exits: {
    0: "done; also with honest defers and failed verification",
    1: "a leg failed; with --strict, a leg did not succeed",
    2: "the command line, the config or a contract makes no sense; nothing ran",
    3: "delegation is switched off in the config",
    4: "a leg was lost to a broken or misconfigured place, or the document could not be written whole",
    130: "stopped by SIGINT or SIGTERM (143); what there was is printed",
  },
  async run({ args, json, out }) {
    const routing = routingOf(args.route as Route, args["pin-reason"] ?? null);
    const timeout_sec = wholeNumber(args.timeout, "--timeout", 1);
    assertOneStdin(args.contract);
    const ask = {
      config: args.config,
      options: { remotes: args.remote, ...(args.width === undefined ? {} : { width: args.width }) },
    };
    // Nothing is asked of any server before the contracts are valid.
    const checked = (await loadConfig({ ...ask, find: null })).config;
    if (!checked.delegation_enabled) {
      throw new WritError("delegation_disabled", "Delegation is switched off: delegation_enabled is false", {
        hint: "writ config show says where that comes from",
      });
    }
    const seat = seatOf(checked, args.seat, args.route as Route);
    const files = await offered(args.contract);
    const readDocuments = documentReader(args["read-root"] ?? process.cwd());
    const legs = takeIn({ readDocuments, sha256 }, files, { fingerprint: args.fingerprint });
    if (!args.quiet) {
      for (const { index, notices } of legs) {
        for (const line of notices) out.talk(`writ: leg ${index + 1}: ${line}`);
      }
    }
    if (args.out !== undefined) makeOutFolder(args.out);
    const { config } = await loadConfig(ask);
    if (!args.quiet && config.seats.length + config.remotes.length === 0) {
      out.talk("writ: no seat is configured: writ config init, or WRIT_SEAT_URL");
    }
    const { version } = await releaseOf();
    const { data } = placesOf();
    const display = openDisplay(out, { quiet: args.quiet, plain: args["no-progress"] });
    const onUnwritten = () => (args.quiet ? out.talk(UNWRITTEN) : display.say(UNWRITTEN));
    const world = delegateWorld({ config, data, version, seat, onUnwritten });
    const call: Call = {
      legs,
      route: args.route as Route,
      routing,
      seat,
      timeout_sec,
      width: config.limits.width,
      retries: true,
      argv: ["writ", ...process.argv.slice(2)],
    };
    const endRecovery = recoverInBackground({ ...config, data });
    let stopped: number | null;
    let document: ResultDocument;
    let recovered: string | null;
    {
      using interrupt = interruptible({ last: () => display.close() });
      const { signal } = interrupt;
      signal.addEventListener("abort", () => display.say("writ: stopping; once more ends at once"), { once: true });
      try {
        document = await delegate(world, call, { signal, onEvent: (event) => display.take(event) });
      } finally {
        recovered = endRecovery();
        display.close();
      }
      stopped = interrupt.received()?.status ?? null;
    }
    // From here on a signal ends the process as any other: nothing is left to be taken back.
    const exit = exitOfSummary(document.summary, legs.length, args.strict, stopped);
    const isWhole = print(document, exit, json, out);
    const isKept = args.out === undefined || writeOut(args.out, document, call, out);
    tellLosses(document.summary, out);
    if (recovered !== null && !args.quiet) out.talk(`writ: ${recovered}`);
    return exit === EXIT.ok && !(isWhole && isKept) ? EXIT.unavailable : exit;
  },
});

/** Errors: `usage` */
function routingOf(route: Route, reason: string | null): Routing {
  const read = readRouting(route, reason);
  if (read.ok) return read.routing;
  throw new WritError("usage", read.message, { path: "--pin-reason", hint: read.hint });
}

/** Errors: `usage` for a seat that is none here, on the route to here */
function seatOf(config: Config, seat: string | undefined, route: Route): string {
  if (seat === undefined) return "";
  const names = config.seats.map(({ name }) => name);
  // On another route the name may be that of a node's seat, where there are nodes.
  if ((route !== "local" && config.remotes.length > 0) || names.includes(seat)) return seat;
  const near = nearest(seat, names);
  throw new WritError("usage", `No seat here is called "${seat}"`, {
    path: "--seat",
    hint: near !== null ? `Did you mean "${near}"?` : `There is ${names.join(", ") || "none"}`,
  });
}

/** Errors: `usage` where there is no contract at all */
async function offered(named: readonly string[]) {
  if (named.length > 0) return named.map((name) => ({ name, read: readContractFile(name) }));
  const read = await readOfferedContract(FIRST_BYTE_MS);
  if (read !== null) return [{ name: "-", read }];
  throw new WritError("usage", "--contract required", {
    path: "--contract",
    hint: "Name a contract file: --contract FILE, or - for standard input",
  });
}

/** @returns whether standard output took all of it */
function print(document: ResultDocument, exit: number, json: boolean, out: Output): boolean {
  try {
    if (json || !isTerminal(1)) out.exactPieces(printedPieces(resultPieces(document), exit === EXIT.ok));
    else for (const line of resultLines(document, out.columns())) out.line(line);
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== "output_failed") throw error;
  }
  if (hasTakenAll(1)) return true;
  out.talk(`writ: standard output did not take the whole result; writ runs show ${document.run_id} prints it again`);
  return false;
}

/** @returns whether all files were written */
function writeOut(folder: string, document: ResultDocument, { legs }: Call, out: Output): boolean {
  try {
    const pairs = legs.flatMap((leg) => {
      const result = document.results.find(({ index }) => index === leg.index);
      return result === undefined ? [] : [{ leg, result }];
    });
    writeOutFolder(folder, resultPieces(document), pairs);
    return true;
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    out.talk(`writ: --out: ${error.message}; writ runs show ${document.run_id} has the result`);
    return false;
  }
}

function tellLosses(
  { failed, infrastructure, quarantined = 0, telemetry_lost = 0, telemetry_attempted = 0 }: Summary,
  out: Output,
): void {
  const told = [
    ...(failed > 0 ? [`${failed} leg(s) failed (transport/config)`] : []),
    ...(infrastructure > 0 ? [`${infrastructure} leg(s) lost to infrastructure/config`] : []),
  ];
  if (told.length > 0) out.talk(`writ: ${told.join("; ")}`);
  if (quarantined > 0) {
    const nodes = counted(quarantined, "node");
    out.talk(`writ: ${nodes} passed over for answers about other documents; see: writ node quarantine list`);
  }
  if (telemetry_lost > 0)
    out.talk(`writ: ${telemetry_lost} of ${telemetry_attempted} run records could not be written`);
}
