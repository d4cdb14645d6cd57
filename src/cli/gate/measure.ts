/**
 * Running a gate from the command line: the place that is measured, what is kept, what is printed. `gate write-door` and
 * `gate run` are this with another set.
 */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../core/config/config.ts";
import type { CallLeg } from "../../core/delegation/legs.ts";
import { renderResultDocument } from "../../core/delegation/render-result.ts";
import { exitOfSummary } from "../../core/delegation/summary.ts";
import { EXIT, WritError } from "../../core/error.ts";
import { writeFault } from "../../core/file-fault.ts";
import type { Leg, LegGate } from "../../core/gate/gate-file.ts";
import { PAGE_REPORTS, renderGatePage } from "../../core/gate/page.ts";
import { type GateReport, readGateReport, type Verdict, verdictLine } from "../../core/gate/report.ts";
import { readRouting } from "../../core/placement/pin.ts";
import { delegate } from "../../delegate/delegate.ts";
import { takeIn } from "../../delegate/intake.ts";
import { runGate } from "../../gate/run.ts";
import type { Delegated, GateWorld } from "../../gate/world.ts";
import { interruptible } from "../../host/interrupt.ts";
import { openProofPlace } from "../../host/proof-place.ts";
import { documentReader } from "../../host/read-root.ts";
import { sweepStaged } from "../../host/staged.ts";
import { readStateFile } from "../../host/state-file.ts";
import { createFileWhole, writeFileWhole } from "../../host/write-file.ts";
import type { Output } from "../command.ts";
import { CONFIG_OPTION, loadConfig } from "../config-world.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { openPlainDisplay } from "../delegate/plain.ts";
import { delegateWorld, sha256 } from "../delegate-world.ts";
import { stoppedDocument } from "../print.ts";
import { recoverInBackground } from "../recovery.ts";
import { releaseOf } from "../release.ts";
import { instant, placesOf, randomHex } from "../world.ts";
import { type LegSet, readFixture } from "./leg-set.ts";

/** The options that every gate over legs has. */
export const GATE_OPTIONS = {
  remote: {
    type: "string",
    valueHint: "URL",
    description: "The node that is measured (default: a seat of this machine)",
  },
  seat: { type: "string", valueHint: "NAME", description: "The seat that is measured" },
  only: { type: "string", valueHint: "LEG,LEG", description: "Only these legs; a part of a set is never a PASS" },
  out: {
    type: "string",
    valueHint: "DIR",
    description: "Where reports, diffs and outputs go (default: writ-gate/NAME)",
  },
  keep: { type: "boolean", description: "Keep the fresh copies" },
  html: { type: "string", valueHint: "FILE", description: "Write a page with this report beside earlier ones" },
  "require-sandbox": { type: "boolean", description: "Run nothing of a seat's without a sandbox around it" },
  ...CONFIG_OPTION,
  ...JSON_SWITCH,
} as const;

export const GATE_EXITS = {
  0: "PASS: all that was selected was looked at and holds",
  1: "FAIL: something was looked at and is wrong; the cause says what",
  2: "the command line, the config or the gate file makes no sense; nothing ran",
  4: "INCONCLUSIVE: something could not be looked at",
} as const;

export const EXIT_OF_VERDICT: Readonly<Record<Verdict, number>> = {
  PASS: EXIT.ok,
  FAIL: EXIT.no,
  INCONCLUSIVE: EXIT.unavailable,
};

export type GateOptions = {
  readonly remote: string | undefined;
  readonly seat: string | undefined;
  readonly only: string | undefined;
  readonly out: string | undefined;
  readonly keep: boolean;
  readonly html: string | undefined;
  readonly "require-sandbox": boolean;
  readonly config: string | undefined;
};

/** Earlier reports that are looked at. */
const MOST_REPORTS = 200;
const REPORT_BYTES = 32 * 1024 * 1024;
const REPORT = /^report-\d{8}T\d{6}Z(?:-\d+)?\.json$/;

/**
 * Runs a gate over legs and prints what it comes to.
 *
 * Errors: `usage`, `bad_config`, `file_unwritable`, `copy_failed`
 */
export async function measureGate(
  set: LegSet & { readonly gate: LegGate },
  form: string,
  args: GateOptions,
  { json, out }: { readonly json: boolean; readonly out: Output },
): Promise<number> {
  const only = chosenLegs(set.gate, args.only);
  const { config } = await loadConfig({
    config: args.config,
    ...(args.remote === undefined ? {} : { options: { remotes: [args.remote] } }),
  });
  assertSeat(config, args);
  const { version } = await releaseOf();
  const folder = args.out ?? join("writ-gate", set.gate.name);
  makeFolder(folder);
  using interrupt = interruptible();
  const endRecovery = recoverInBackground({ ...config, data: placesOf().data });
  const place = openProofPlace({ keep: args.keep, path: process.env.PATH ?? "" });
  try {
    const setting: Setting = { set, config, args, version, folder, out, signal: interrupt.signal };
    const world = gateWorld(setting, place);
    const ran = await runGate(world, set.gate, { only, requireSandbox: args["require-sandbox"] });
    const report: GateReport = {
      gate: set.gate.name,
      form,
      verdict: ran.verdict,
      partial: ran.partial,
      scripted: ran.scripted,
      ran_at: instant(Date.now()),
      writ_version: version,
      route: args.remote === undefined ? "local" : "remote",
      remote: args.remote ?? "",
      protections: place.protections,
      legs: ran.legs,
    };
    const file = keepReport(folder, report);
    if (args.html !== undefined) writeFileWhole(args.html, renderGatePage([report, ...earlierReports(folder, file)]));
    if (args.keep) out.talk(`The copies are kept in ${place.folder}`);
    if (json) out.document({ ok: report.verdict === "PASS", ...plain(report), report_file: file });
    else out.line(verdictLine(report));
    return EXIT_OF_VERDICT[report.verdict];
  } catch (error) {
    const stopped = interrupt.received();
    if (stopped === null || error !== interrupt.signal.reason) throw error;
    const message = `Stopped by ${stopped.name}; nothing is proved`;
    if (json) out.document(stoppedDocument(message));
    else out.talk(message);
    return stopped.status;
  } finally {
    place.close();
    const recovered = endRecovery();
    if (recovered !== null) out.talk(`writ: ${recovered}`);
  }
}

/** Null: all. Errors: `usage` for a name that no leg has */
function chosenLegs({ legs }: LegGate, only: string | undefined): readonly string[] | null {
  if (only === undefined) return null;
  const names = only.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !legs.some((leg) => leg.name === name));
  if (unknown === undefined) return names;
  throw new WritError("usage", `There is no leg "${unknown}"`, {
    path: "--only",
    hint: `Legs: ${legs.map(({ name }) => name).join(", ")}`,
  });
}

/** Errors: `usage` where there is nothing to measure */
function assertSeat(config: Config, { remote, seat }: GateOptions): void {
  if (remote !== undefined) return;
  const names = config.seats.map(({ name }) => name);
  if (seat === undefined ? names.length > 0 : names.includes(seat)) return;
  throw new WritError(
    "usage",
    seat === undefined ? "There is no seat here to measure" : `No seat here is called "${seat}"`,
    {
      hint:
        names.length > 0
          ? `Seats: ${names.join(", ")}`
          : "Name a node with --remote URL, or configure a seat: writ config init",
    },
  );
}

/** Makes the folder of what is kept, and tidies what killed gates left half written in it. Errors: `file_unwritable` */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    sweepStaged(folder, Date.now());
  } catch (error) {
    const why = writeFault(error);
    throw new WritError("file_unwritable", `Cannot make the folder "${folder}": ${why}`, { cause: error });
  }
}

type Setting = {
  readonly set: LegSet;
  readonly config: Config;
  readonly args: GateOptions;
  readonly version: string;
  readonly folder: string;
  readonly out: Output;
  readonly signal: AbortSignal;
};

function gateWorld(setting: Setting, place: GateWorld["place"]): GateWorld {
  const { set, folder, out, signal } = setting;
  return {
    place,
    bun: { argv: [process.execPath], env: { BUN_BE_BUN: "1" } },
    clock: { ms: () => performance.now() },
    signal,
    random: () => randomHex(8),
    sha256: (bytes) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex"),
    readFixture: (leg) => readFixture(set, leg),
    delegate: (leg) => delegateLeg(setting, leg, place),
    keep: (name, text) => writeFileWhole(join(folder, name), text),
    say: (line) => out.talk(line),
  };
}

/** Sends the contract of a leg through the engine of `writ delegate`, pinned to the place that is measured. */
async function delegateLeg(setting: Setting, leg: Leg, place: GateWorld["place"]): Promise<Delegated> {
  const { set, config, args, version, folder, signal } = setting;
  const nothing = (text: string, of: "fixture" | "place" = "place"): Delegated => ({
    exit: EXIT.usage,
    result: null,
    succeeded: 0,
    fault: { of, text },
  });
  const fixture = readFixture(set, leg);
  if (!fixture.ok) return nothing(fixture.fault, "fixture");
  const root = place.makeCopy(fixture.tree);
  try {
    const legs = legsOf(leg, fixture.contract, root.folder);
    if (typeof legs === "string") return nothing(legs, "fixture");
    const route = args.remote === undefined ? "local" : "remote";
    const routing = readRouting(route, "measurement");
    if (!routing.ok) return nothing(routing.message);
    const seat = args.seat ?? "";
    const world = delegateWorld({ config, data: placesOf().data, version, seat: route === "local" ? seat : "" });
    const lines: string[] = [];
    const display = openPlainDisplay((line) => void lines.push(line), TIMERS);
    const call = {
      legs,
      route,
      routing: routing.routing,
      seat,
      timeout_sec: null,
      width: 1,
      retries: false,
      argv: process.argv.slice(2),
    } as const;
    const document = await delegate(world, call, { signal, onEvent: (event) => display.take(event) });
    display.close();
    signal.throwIfAborted();
    writeFileWhole(join(folder, `${leg.name}.progress.txt`), lines.map((line) => `${line}\n`).join(""));
    writeFileWhole(join(folder, `${leg.name}.result.json`), renderResultDocument(document));
    const { summary, results } = document;
    return {
      exit: exitOfSummary(summary, 1, false, null),
      result: results[0] ?? null,
      succeeded: summary.succeeded,
      fault: null,
    };
  } catch (error) {
    if (error instanceof WritError) return nothing(wordsOf(error));
    throw error;
  } finally {
    root.remove();
  }
}

/** The one subtask of a leg's contract, its documents read from a copy of the fixture; a text: why there is none. */
function legsOf(leg: Leg, contract: Uint8Array, root: string): readonly CallLeg[] | string {
  const files = [{ name: leg.contract, read: { ok: true as const, bytes: contract } }];
  try {
    const legs = takeIn({ readDocuments: documentReader(root), sha256 }, files, { fingerprint: false });
    return legs.length === 1 ? legs : `${leg.contract} has ${legs.length} subtasks, one is due`;
  } catch (error) {
    if (error instanceof WritError) return wordsOf(error);
    throw error;
  }
}

function wordsOf({ message, lines }: WritError): string {
  return [message, ...lines].join("; ");
}

const TIMERS = {
  now: () => performance.now(),
  every(ms: number, call: () => void) {
    const timer = setInterval(call, ms);
    return () => clearInterval(timer);
  },
};

/** Writes a report under a name of its own, which no other process takes; the name. Errors: `file_unwritable` */
export function keepReport(folder: string, report: { readonly ran_at: string }): string {
  const stamp = report.ran_at.replaceAll(/[-:]/g, "");
  const text = `${JSON.stringify(report, null, 2)}\n`;
  for (let count = 1; ; count += 1) {
    const path = join(folder, `report-${stamp}${count === 1 ? "" : `-${count}`}.json`);
    if (createFileWhole(path, text, 0o666)) return path;
  }
}

/** The reports of a folder but for one, the newest first. What is none is passed over. */
function earlierReports(folder: string, present: string): readonly GateReport[] {
  const names = readdirSync(folder).filter((name) => REPORT.test(name) && join(folder, name) !== present);
  const reports: GateReport[] = [];
  for (const name of names.sort().reverse().slice(0, MOST_REPORTS)) {
    const text = reportText(join(folder, name));
    const report = text === null ? null : readGateReport(text);
    if (report !== null) reports.push(report);
    if (reports.length > PAGE_REPORTS) break;
  }
  return reports;
}

/** Null where it is no file that can be read. */
function reportText(path: string): string | null {
  try {
    return readStateFile(path, REPORT_BYTES);
  } catch {
    return null;
  }
}

function plain(report: GateReport) {
  const { legs, protections, ...rest } = report;
  const copied = legs.map(({ proofs, diff_files, ...leg }) => ({
    ...leg,
    diff_files: [...diff_files],
    proofs: proofs.map((each) => ({ ...each })),
  }));
  return { ...rest, protections: { ...protections }, legs: copied };
}
