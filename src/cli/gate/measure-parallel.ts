/** The parallel gate from the command line: its peer, its calls as processes of their own, what is kept and printed. */
import { join } from "node:path";
import type { Config } from "../../core/config/config.ts";
import type { Seat } from "../../core/config/seat.ts";
import { counted } from "../../core/counted.ts";
import { readContractBytes } from "../../core/delegation/contract.ts";
import { JUDGES } from "../../core/delegation/judges.ts";
import { WritError } from "../../core/error.ts";
import { LEGS_A_RUN, ownWaitSec, type RunOutput } from "../../core/gate/parallel.ts";
import { readHealth } from "../../core/placement/health.ts";
import type { ChatRequest, Endpoint, Watch } from "../../core/seat/endpoint.ts";
import { PRESUMED_SLOTS } from "../../core/seat/slots.ts";
import { type ParallelWorld, runParallel, type WaitingRun } from "../../gate/parallel.ts";
import { readFileText, shippedContracts } from "../../host/contracts.ts";
import { interruptible } from "../../host/interrupt.ts";
import { openTemporary } from "../../host/temporary.ts";
import { writeFileWhole } from "../../host/write-file.ts";
import { openEndpoint } from "../../llm/endpoint.ts";
import { monotonic, sleep } from "../clock.ts";
import type { Output } from "../command.ts";
import { loadConfig } from "../config-world.ts";
import { releaseOf } from "../release.ts";
import { nodeClient } from "../remote-places.ts";
import { instant } from "../world.ts";
import { EXIT_OF_VERDICT, keepReport, makeFolder } from "./measure.ts";

export type ParallelOptions = {
  readonly remote: string | undefined;
  readonly seat: string | undefined;
  readonly out: string | undefined;
  readonly config: string | undefined;
  readonly k: number;
  readonly peer: boolean;
  /** Null: the shipped set of eight. */
  readonly contract: string | null;
  /** Where the contract is looked for. */
  readonly folder: string;
  readonly name: string;
};

/** The eight digests over pages that are in the contracts themselves. */
const SHIPPED = join("digests", "digest-8.json");
const CONTRACT_BYTES = 16 * 1024 * 1024;
const FIRST_CHAT = { tokens: 16, bound_ms: 300_000 } as const;
/** A run that prints more is cut, and that is a fault of it. */
const MOST_OUTPUT = 64 * 1024 * 1024;
const HOUR_MS = 3_600_000;

/** Errors: `usage`, `bad_config`, `file_unreadable`, `file_unwritable` */
export async function measureParallel(
  options: ParallelOptions,
  { json, out }: { readonly json: boolean; readonly out: Output },
): Promise<number> {
  const contract = contractOf(options);
  const { config } = await loadConfig({
    config: options.config,
    ...(options.remote === undefined ? {} : { options: { remotes: [options.remote] } }),
  });
  const seat = seatOf(config, options);
  const folder = options.out ?? join("writ-gate", options.name);
  makeFolder(folder);
  const scratch = openTemporary("parallel");
  using interrupt = interruptible();
  try {
    const endpoint =
      seat === null ? null : openEndpoint(seat, { clock: monotonic, environment: (name) => process.env[name] });
    const told = seat === null ? await nodeSlots(config, interrupt.signal) : null;
    const slots =
      seat === null
        ? (told ?? 1)
        : seat.slots || (await endpoint?.totalSlots(interrupt.signal)) || PRESUMED_SLOTS[seat.engine];
    const configFile = join(scratch.folder, "config.json");
    writeFileWhole(configFile, JSON.stringify(raised(config, options.k, slots)), 0o600);
    const isReachable = seat !== null || told !== null;
    const world = parallelWorld({
      options,
      contract,
      configFile,
      endpoint,
      isReachable,
      out,
      signal: interrupt.signal,
    });
    out.talk(
      `${options.k} calls of ${LEGS_A_RUN} legs on ${counted(slots, "slot")}: each leg may wait up to ${ownWaitSec(options.k, slots)} s in line`,
    );
    const report = await runParallel(world, {
      k: options.k,
      peer: options.peer && endpoint !== null,
      isRemote: seat === null,
    });
    const { version } = await releaseOf();
    const whole = {
      ...report,
      ran_at: instant(Date.now()),
      writ_version: version,
      route: options.remote === undefined ? "local" : "remote",
      remote: options.remote ?? "",
      peer: options.peer && endpoint !== null,
    };
    const file = keepReport(folder, whole);
    const scripted = report.scripted ? " (scripted seat)" : "";
    if (json)
      out.document({
        ok: report.verdict === "PASS",
        ...whole,
        runs: report.runs.map((run) => ({ ...run })),
        report_file: file,
      });
    else {
      for (const [at, run] of report.runs.entries()) {
        out.line(
          `run ${at + 1}  ${(run.wall_ms / 1000).toFixed(1)} s  exit ${run.exit ?? "none"}  ${run.fault ?? `${run.succeeded} of ${LEGS_A_RUN} succeeded`}`,
        );
      }
      const why = report.cause === "" ? "" : `: ${report.cause}`;
      out.line(
        `${report.verdict}${scripted}${why}; ${report.waited} of ${report.results_total} legs waited for the seat`,
      );
    }
    return interrupt.received()?.status ?? EXIT_OF_VERDICT[report.verdict];
  } finally {
    scratch.remove();
  }
}

/** The text of the eight contracts. Errors: `usage` where they are not eight */
function contractOf({ contract, folder }: ParallelOptions): string {
  const path = contract === null ? join(shippedContracts(), SHIPPED) : join(folder, contract);
  const { bytes, text } = readFileText(path, CONTRACT_BYTES);
  const { subtasks, issues } = readContractBytes(bytes, JUDGES);
  if (issues.length > 0)
    throw new WritError("usage", `"${contract}" is no valid contract file`, { hint: `writ lint ${path}` });
  if (subtasks.length === LEGS_A_RUN) return text;
  throw new WritError(
    "usage",
    `"${contract}" has ${counted(subtasks.length, "contract")}, exactly ${LEGS_A_RUN} are due`,
  );
}

/** Null: a node is measured. Errors: `usage` */
function seatOf({ seats, default_seat }: Config, { remote, seat }: ParallelOptions): Seat | null {
  if (remote !== undefined) return null;
  const wanted = seat ?? (default_seat === "" ? undefined : default_seat);
  const found = wanted === undefined ? seats[0] : seats.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  throw new WritError(
    "usage",
    wanted === undefined ? "There is no seat here to measure" : `No seat here is called "${wanted}"`,
    {
      hint: "Configure one: writ config init; or name a node: --remote URL",
    },
  );
}

/** Jobs that the node runs at once; null where it does not answer us. */
async function nodeSlots({ remotes }: Config, signal: AbortSignal): Promise<number | null> {
  const [remote] = remotes;
  if (remote === undefined) return null;
  const answer = await nodeClient(remote, (name) => process.env[name]).health(signal);
  const read = answer.kind === "answer" && answer.status === 200 ? readHealth(answer.text) : null;
  if (read?.kind !== "record") return null;
  const { max_running, seats } = read.record;
  return Math.max(1, max_running > 0 ? max_running : seats.reduce((sum, { slots }) => sum + slots, 0));
}

/** The calls' own line must not run out because the seat is slow. */
function raised(config: Config, k: number, slots: number): Config {
  const least = ownWaitSec(k, slots);
  const { limits } = config;
  const more = (value: number) => Math.min(86_400, Math.max(value, least));
  return {
    ...config,
    limits: { ...limits, slot_wait_sec: more(limits.slot_wait_sec), capacity_wait_sec: more(limits.capacity_wait_sec) },
  };
}

function parallelWorld(of: {
  readonly options: ParallelOptions;
  readonly contract: string;
  readonly configFile: string;
  readonly endpoint: Endpoint | null;
  /** A node that is measured answers, and takes the token. */
  readonly isReachable: boolean;
  readonly out: Output;
  readonly signal: AbortSignal;
}): ParallelWorld {
  const { options, contract, configFile, endpoint, isReachable, out, signal } = of;
  return {
    // A node's seat cannot be spoken to from here: its first job tells.
    firstRate: async () => {
      if (endpoint !== null) return await rateOf(endpoint, signal);
      return isReachable ? 1 : null;
    },
    async peerChat(maxTokens, until) {
      if (endpoint !== null) await endpoint.chat(chatOf(maxTokens), watchOf(AbortSignal.any([until, signal]), HOUR_MS));
    },
    startRun: () => startRun({ options, contract, configFile, signal }),
    sleep,
    say: (line) => out.talk(line),
  };
}

async function rateOf(endpoint: Endpoint, signal: AbortSignal): Promise<number | null> {
  const outcome = await endpoint.chat(chatOf(FIRST_CHAT.tokens), watchOf(signal, FIRST_CHAT.bound_ms));
  if (outcome.kind !== "answered") return null;
  const { usage, decode_ms } = outcome.completion;
  const tokens = usage?.completion_tokens ?? FIRST_CHAT.tokens;
  return decode_ms > 0 ? (tokens * 1000) / decode_ms : tokens;
}

function chatOf(max_tokens: number): ChatRequest {
  const content = "Count from one to five hundred, in words, one number a line.";
  return { messages: [{ role: "user", content }], tools: [], max_tokens, thinking: "off", constraint: null };
}

function watchOf(signal: AbortSignal, allowance: number): Watch {
  return { signal, allowance_ms: () => allowance, look: async () => "abort", onProgress: () => {} };
}

/** A call as a process of its own. It reads its contracts from standard input, and that is the barrier. */
function startRun(of: {
  readonly options: ParallelOptions;
  readonly contract: string;
  readonly configFile: string;
  readonly signal: AbortSignal;
}): WaitingRun {
  const { options, contract, configFile, signal } = of;
  const where = options.remote === undefined ? ["--route", "local"] : ["--route", "remote", "--remote", options.remote];
  const seat = options.seat === undefined ? [] : ["--seat", options.seat];
  const words = [
    "delegate",
    "--json",
    "--no-progress",
    "--contract",
    "-",
    "--config",
    configFile,
    ...where,
    "--pin-reason",
    "measurement",
    ...seat,
  ];
  const child = Bun.spawn([...ownWords(), ...words], {
    env: childEnvironment(),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  return {
    async go(): Promise<RunOutput> {
      const began = performance.now();
      child.stdin.write(contract);
      await child.stdin.end();
      const stdout = await readAtMost(child.stdout, MOST_OUTPUT);
      const exit = await child.exited;
      signal.removeEventListener("abort", stop);
      return { exit: child.signalCode === null ? exit : null, stdout, wall_ms: performance.now() - began };
    },
  };
}

/** The words that start this very writ. */
function ownWords(): readonly string[] {
  return Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, process.argv[1] ?? ""];
}

/** The seat of the environment stands in the config file already. */
function childEnvironment(): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(WRIT_SEAT_|WRIT_REMOTES$|WRIT_CONFIG$|BUN_OPTIONS$|BUN_BE_BUN$|BUN_INSPECT)/.test(name),
  );
  return Object.fromEntries(inherited);
}

async function readAtMost(stream: ReadableStream<Uint8Array>, most: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.length;
    if (size <= most) pieces.push(piece);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}
