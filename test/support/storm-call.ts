/** Calls of writ in a storm: real processes, some of which get a signal at a drawn moment of their life. */
import type { Random } from "./seeded.ts";
import { type Ran, writCommand } from "./writ.ts";

export type StormCall = Ran & {
  readonly args: readonly string[];
  readonly pid: number;
  /** When it was started, and when it was seen to have ended. */
  readonly from_ms: number;
  readonly to_ms: number;
  /** The signal that was sent while it lived. */
  readonly signal: "SIGKILL" | "SIGINT" | null;
};

export type StormCallOptions = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin?: string;
  readonly kill: "SIGKILL" | "SIGINT" | null;
  /** Words before the command, by which it kills itself; then nobody else does. */
  readonly crash?: readonly string[];
};

/** What a first call of its kind is thought to take, in milliseconds. */
const GUESS_MS = 40;

/** Starts calls, and learns how long each kind of them lives: a signal is to meet them anywhere between. */
export class StormCaller {
  readonly #lives = new Map<string, number>();

  /** @param kind calls of one kind live about as long as one another */
  async call(kind: string, args: readonly string[], random: Random, options: StormCallOptions): Promise<StormCall> {
    const { env, cwd, stdin = "", crash = [] } = options;
    const kill = crash.length > 0 ? null : options.kill;
    const life_ms = this.#lives.get(kind) ?? GUESS_MS;
    // Most of a short life is its start: what it writes comes near the end.
    const after_ms = life_ms * (random.chance(0.3) ? random.next() : 0.5 + 0.7 * random.next());
    const from_ms = performance.now();
    const child = Bun.spawn([...crash, ...writCommand(), ...args], {
      cwd,
      env: { ...env },
      stdin: new TextEncoder().encode(stdin),
      stdout: "pipe",
      stderr: "pipe",
    });
    let signal: StormCall["signal"] = null;
    const timer = setTimeout(() => {
      if (kill === null || child.exitCode !== null || child.signalCode !== null) return;
      signal = kill;
      child.kill(kill);
    }, after_ms);
    const texts = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    const exit = await child.exited;
    const to_ms = performance.now();
    clearTimeout(timer);
    if (crash.length > 0 && exit === 137) signal = "SIGKILL";
    const [stdout, stderr] = await texts;
    if (signal === null && crash.length === 0) this.#lives.set(kind, 0.8 * life_ms + 0.2 * (to_ms - from_ms));
    return { args, pid: child.pid, exit, stdout, stderr, from_ms, to_ms, signal };
  }
}

/** Its document; null where it printed none. */
export function printed(stdout: string): Readonly<Record<string, unknown>> | null {
  if (!/^\{[^\n]*\}\n$/.test(stdout)) return null;
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>;
}
