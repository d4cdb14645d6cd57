/**
 * Running llama.cpp's server: started as a process of its own that outlives this one, waited for, found again, ended.
 * What it loads comes from `install.ts`.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dir;
const POLL_MS = 200;
const REQUEST_MS = 5000;

/** What `serve.py` takes; its head says what each key means. */
export type Settings = {
  readonly model: string;
  readonly alias: string;
  readonly port: number;
  readonly slots: number;
  readonly slot_ctx: number;
  readonly threads: number;
  readonly template: string;
  readonly api_key: string;
};

/** Where the packages are, and the Python that runs them. */
export type Runtime = { readonly python: string; readonly packages: string };

/** What runs the server. */
export const SERVE = join(HERE, "serve.py");

/** The chat template that knows tools, which the model's own does not. */
export const TOOLS_TEMPLATE = join(HERE, "tools.jinja");

/**
 * Starts the server and answers at once.
 *
 * @param log file that takes what the server says; made anew
 * @returns   process id
 */
export function launch(runtime: Runtime, settings: Settings, log: string): number {
  const output = openSync(log, "w", 0o600);
  try {
    const child = spawn(runtime.python, [SERVE, JSON.stringify(settings)], {
      detached: true,
      stdio: ["ignore", output, output],
      env: { ...process.env, PYTHONPATH: runtime.packages, PYTHONDONTWRITEBYTECODE: "1" },
    });
    child.unref();
    // A program that cannot be started has no id; `awaitUrl` finds it dead.
    child.on("error", () => {});
    return child.pid ?? 0;
  } finally {
    closeSync(output);
  }
}

/**
 * Waits until the server has loaded the model and says where it is.
 *
 * @param tick called about every second with the seconds that have passed
 * @throws     Error with the end of the log when the process died or the time is up
 */
export async function awaitUrl(
  pid: number,
  log: string,
  limitMs: number,
  tick: (sec: number) => void,
): Promise<string> {
  const start = performance.now();
  let told = 0;
  for (;;) {
    const url = /^\{"url": "(http:[^"]+)"\}$/m.exec(readFileSync(log, "utf8"))?.[1];
    if (url !== undefined && (await answers(`${url}/health`))) return url;
    const ms = performance.now() - start;
    if (!isAlive(pid)) throw new Error(`the server ended while it was loading; ${tail(log)}`);
    if (ms > limitMs) throw new Error(`the server was not ready after ${Math.round(limitMs / 1000)} s; ${tail(log)}`);
    if (ms - told > 1000) {
      told = ms;
      tick(Math.round(ms / 1000));
    }
    await Bun.sleep(POLL_MS);
  }
}

/** True when a GET is answered with 200 within some seconds. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_MS), redirect: "error" });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false; // nobody there, or silent
  }
}

/** True when the process lives and is a server of ours: an id may have been given anew since. */
export function isServer(pid: number): boolean {
  return isAlive(pid) && commandLine(pid).includes(SERVE);
}

/** Ends the process, by force when it takes longer than `limitMs`; true when it is gone. */
export async function end(pid: number, limitMs: number): Promise<boolean> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    kill(pid, signal);
    for (let waited = 0; waited < limitMs; waited += POLL_MS) {
      if (!isAlive(pid)) return true;
      await Bun.sleep(POLL_MS);
    }
  }
  return !isAlive(pid);
}

function isAlive(pid: number): boolean {
  return pid > 0 && kill(pid, 0) && !/^\d+ \(.*\) [ZX] /.test(proc(pid, "stat"));
}

function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false; // no such process, or not ours
  }
}

function commandLine(pid: number): string {
  const listed = proc(pid, "cmdline");
  if (listed !== "") return listed.replaceAll("\0", " ");
  return Bun.spawnSync(["ps", "-o", "args=", "-p", String(pid)]).stdout.toString();
}

/** A file of /proc; empty where there is none. */
function proc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return ""; // no /proc on this system, or the process is gone
  }
}

function tail(log: string): string {
  const lines = readFileSync(log, "utf8").trim().split("\n").slice(-8);
  return `the last lines of ${log}:\n${lines.join("\n")}`;
}
