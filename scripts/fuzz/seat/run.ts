/** Runs a hostile call: through the executable, or in this process with its sleeps cut short. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monotonic, sleep } from "../../../src/cli/clock.ts";
import { loadConfig } from "../../../src/cli/config-world.ts";
import { delegateWorld, sha256 } from "../../../src/cli/delegate-world.ts";
import { jobWorld } from "../../../src/cli/job-world.ts";
import { renderPrinted, renderResultDocument } from "../../../src/core/delegation/render-result.ts";
import { exitOfSummary } from "../../../src/core/delegation/summary.ts";
import { LOCAL } from "../../../src/core/placement/place.ts";
import type { LocalPlace } from "../../../src/core/placement/port.ts";
import { delegate } from "../../../src/delegate/delegate.ts";
import { takeIn } from "../../../src/delegate/intake.ts";
import { readContractFile } from "../../../src/host/contract-file.ts";
import { documentReader } from "../../../src/host/read-root.ts";
import { openStateFolder, stateFolder } from "../../../src/host/state-folder.ts";
import { runJob } from "../../../src/seat/run-job.ts";
import { configOf, contractFiles, type HostileCall } from "./call.ts";
import type { Ended } from "./judge.ts";
import { faultsOf } from "./judge.ts";
import { serveHostile } from "./server.ts";

/** No wait of a call adds up to this: what takes longer hangs. */
const HANG_MS = 240_000;
const SLEEPS_SHORTER = 20;
/** A request that died is sent again after 2 s: a wall has room for that. */
const WALL_SEC = { command: 4, here: 1 };

export type Ran = {
  readonly faults: readonly string[];
  /** How many legs ended in which way. */
  readonly statuses: readonly string[];
};

/** @param writ the words that start it; null: in this process */
export async function runHostile(call: HostileCall, writ: readonly string[] | null): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), "writ-hostile-"));
  try {
    await using server = await serveHostile(call);
    const config = join(folder, "config.json");
    writeFileSync(config, JSON.stringify(configOf(call, server.url)));
    const contracts = contractFiles(call, writ === null ? WALL_SEC.here : WALL_SEC.command).map((file, index) => {
      const path = join(folder, `contract-${index}.json`);
      writeFileSync(path, JSON.stringify(file));
      return path;
    });
    const data = join(folder, "data");
    mkdirSync(data);
    const place = { folder, config, contracts, data };
    const ended = writ === null ? await inProcess(call, place) : await asCommand(call, place, writ);
    const faults = faultsOf(call, { ...ended, state: stateFolder(data), bodies: server.bodies });
    return { faults, statuses: statusesOf(ended.stdout) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Place = {
  readonly folder: string;
  readonly config: string;
  readonly contracts: readonly string[];
  readonly data: string;
};
type Said = Pick<Ended, "exit" | "stdout" | "stderr">;

async function asCommand(
  call: HostileCall,
  { folder, config, contracts, data }: Place,
  writ: readonly string[],
): Promise<Said> {
  const named = contracts.flatMap((path) => ["--contract", path]);
  const child = Bun.spawn(
    [...writ, "delegate", ...named, "--config", config, "--json", ...(call.strict ? ["--strict"] : [])],
    {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", HOME: folder, WRIT_DATA_DIR: data },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: HANG_MS,
      killSignal: "SIGKILL",
    },
  );
  const [stdout, stderr, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exit, stdout, stderr };
}

async function inProcess(call: HostileCall, { folder, config: path, contracts, data }: Place): Promise<Said> {
  const { config } = await loadConfig({ config: path, environment: { WRIT_DATA_DIR: data } });
  const files = contracts.map((name) => ({ name, read: readContractFile(name) }));
  const legs = takeIn({ readDocuments: documentReader(folder), sha256 }, files, { fingerprint: false });
  const real = delegateWorld({ config, data, version: "0.0.0", seat: "" });
  const state = openStateFolder(data);
  if (real.local === null) throw new Error("there is no seat");
  const local: LocalPlace = {
    ...real.local,
    async run(job, name, { signal, onProgress }) {
      const seat = config.seats.find((each) => each.name === name);
      if (seat === undefined) throw new Error(`there is no seat "${name}"`);
      const world = jobWorld({ config, seat, state, node_id: LOCAL, version: "0.0.0" });
      // Who sleeps looks at the clock afterwards: a wall that woke too early sleeps on.
      const quick = { ...world, sleep: (ms: number, until: AbortSignal) => sleep(ms / SLEEPS_SHORTER, until) };
      const result = await runJob(quick, job, {
        signal,
        onProgress: (progress) => onProgress({ kind: "running", progress }),
      });
      return { kind: "ran", result, queued_sec: 0 };
    },
  };
  const stop = new AbortController();
  const asked = {
    legs,
    route: "auto",
    routing: { kind: "auto", hint: null },
    seat: "",
    timeout_sec: null,
    width: 8,
    retries: true,
    argv: ["writ"],
  } as const;
  const timer = setTimeout(() => stop.abort(), HANG_MS);
  try {
    const began = monotonic.ms();
    const document = await delegate({ ...real, local }, asked, { signal: stop.signal, onEvent: () => {} });
    if (stop.signal.aborted)
      throw new Error(`the call hangs: ${Math.round(monotonic.ms() - began)} ms with walls of ${WALL_SEC.here} s`);
    const exit = exitOfSummary(document.summary, legs.length, call.strict, null);
    return { exit, stdout: `${renderPrinted(renderResultDocument(document), exit === 0)}\n`, stderr: "" };
  } finally {
    clearTimeout(timer);
  }
}

function statusesOf(stdout: string): readonly string[] {
  try {
    const { results } = JSON.parse(stdout) as {
      results: readonly { status: string; reason?: string; defer_class?: string }[];
    };
    return results.map(({ status, reason, defer_class }) =>
      status === "deferred" ? `${defer_class}: ${String(reason).split(/[:(]/)[0]}` : status,
    );
  } catch {
    return ["no document"];
  }
}
