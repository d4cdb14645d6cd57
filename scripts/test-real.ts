/**
 * Hands real work to the real model of `npm run seat`, through `dist/writ delegate --json`, and prints what came of it.
 * A model this small fails most of the work, and that is no fault here: the run ends in 0 when what must hold of every
 * call holds (see real/judge.ts), in 1 when it does not, in 4 when there is no seat.
 *
 * Run: npm run test:real [-- --only NAME,NAME] [-- --seat URL]
 *   --only   runs whose name contains one of these
 *   --seat   another llama.cpp server in place of the one of `npm run seat`
 *
 * tmp/real/ has, for each run, the document, what was said on stderr, and chats.jsonl: all that the model was asked and
 * answered.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, judge, type Row, renderTable } from "./real/judge.ts";
import { planRuns, type Run } from "./real/runs.ts";
import { openTap } from "./real/tap.ts";
import { HOME, SeatError } from "./seat/install.ts";
import { startSeat } from "./seat.ts";

const ROOT = join(import.meta.dir, "..");
const WRIT = process.env.WRIT_BIN ?? join(ROOT, "dist", process.platform === "win32" ? "writ.exe" : "writ");
const OUT = join(ROOT, "tmp", "real");
const USAGE = "npm run test:real [-- --only NAME,NAME] [-- --seat URL]";
/** From being asked to end until it is ended by force. */
const UNWIND_MS = 15_000;

type Options = { readonly only: readonly string[]; readonly seat: string | null };

if (import.meta.main) {
  try {
    process.exitCode = await main(readOptions(Bun.argv.slice(2)));
  } catch (error) {
    if (!(error instanceof SeatError)) throw error;
    console.error(`test:real: ${error.message}`);
    process.exitCode = 4;
  }
}

async function main(options: Options | null): Promise<number> {
  if (options === null) {
    console.error(`usage: ${USAGE}`);
    return 2;
  }
  const seat = options.seat === null ? await ownSeat() : await otherSeat(options.seat);
  rmSync(OUT, { recursive: true, force: true });
  const runs = planRuns(join(OUT, "contracts")).filter(
    ({ name }) => options.only.length === 0 || options.only.some((word) => name.includes(word)),
  );
  const rows: Row[] = [];
  const faults: string[] = [];
  for (const run of runs) {
    console.error(`test:real: ${run.name} (${run.legs.length} legs, at most ${run.limit_sec} s)`);
    const judged = judge(run, await call(run, seat));
    console.error(`${renderTable(judged.rows).split("\n").slice(1).join("\n")}\n`);
    rows.push(...judged.rows);
    faults.push(...judged.faults);
  }
  console.log(renderTable(rows));
  const done = rows.filter(({ status }) => status === "succeeded").length;
  console.log(`\n${rows.length} legs, ${done} succeeded; what was asked and answered is in ${OUT}`);
  for (const fault of faults) console.log(`DOES NOT HOLD  ${fault}`);
  console.log(faults.length === 0 && rows.length > 0 ? "Everything that must hold does." : "Not everything holds.");
  return faults.length === 0 && rows.length > 0 ? 0 : 1;
}

/** One call of `writ delegate`, with a data folder and a config of its own, through a tap. */
async function call(run: Run, seat: Seat): Promise<Ended> {
  const folder = join(OUT, run.name);
  mkdirSync(folder, { recursive: true });
  const tap = openTap(seat.url, join(folder, "chats.jsonl"));
  try {
    const config = join(folder, "config.json");
    writeFileSync(config, JSON.stringify(configOf(seat, tap.url)), { mode: 0o600 });
    const words = ["--contract", run.contract, "--read-root", run.read_root, "--json", "--no-progress"];
    const child = Bun.spawn([WRIT, "delegate", ...words, "--route", "local", "--pin-reason", "measurement"], {
      cwd: folder,
      env: { ...process.env, WRIT_CONFIG: config, WRIT_DATA_DIR: join(folder, "data"), WRIT_SEAT_URL: undefined },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), UNWIND_MS).unref();
    }, run.limit_sec * 1000);
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    const status = await child.exited;
    clearTimeout(late);
    writeFileSync(join(folder, "result.json"), stdout);
    writeFileSync(join(folder, "stderr.txt"), stderr);
    return { status: isLate ? null : child.signalCode === null ? status : 128, stdout, stderr };
  } finally {
    tap.close();
  }
}

type Seat = { readonly url: string; readonly config: { readonly seats: readonly object[] } };

/** The seat of `npm run seat`, started where it does not run, with the config that was written for it. */
async function ownSeat(): Promise<Seat> {
  const { url } = await startSeat((line) => console.error(`seat: ${line}`));
  return { url, config: JSON.parse(readFileSync(join(HOME, "config.json"), "utf8")) };
}

/** Another server, asked for its model. */
async function otherSeat(url: string): Promise<Seat> {
  const listed = await fetch(`${url}/v1/models`, { signal: AbortSignal.timeout(5000) })
    .then((response) => response.json() as Promise<{ readonly data?: readonly { readonly id?: string }[] }>)
    .catch((error: Error) => {
      throw new SeatError(`${url}/v1/models does not answer: ${error.message}`);
    });
  const model = listed.data?.[0]?.id;
  if (model === undefined) throw new SeatError(`${url}/v1/models lists no model`);
  const seat = { name: "other", base_url: url, model, engine: "llama.cpp" };
  return { url, config: { ...{ default_seat: "other", agent_allow_write: true }, seats: [seat] } };
}

function configOf({ config }: Seat, base_url: string): unknown {
  return { ...config, seats: config.seats.map((seat) => ({ ...seat, base_url })) };
}

function readOptions(words: readonly string[]): Options | null {
  let options: Options = { only: [], seat: null };
  for (let at = 0; at < words.length; at += 2) {
    const value = words[at + 1];
    if (value === undefined) return null;
    if (words[at] === "--only") options = { ...options, only: value.split(",") };
    else if (words[at] === "--seat") options = { ...options, seat: value.replace(/\/$/, "") };
    else return null;
  }
  return options;
}
