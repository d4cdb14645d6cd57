/** A scripted seat for tests: in this process, or as the real command. */
import { readScript, type Script } from "../../src/core/scripted/read-script.ts";
import type { LogEntry } from "../../src/core/scripted/seat-log.ts";
import { SEAT_LIMITS, type SeatClock, type SeatLimits, serveScriptedSeat } from "../../src/wire/scripted-seat.ts";
import { type LivingWorld, type Ran, writCommand } from "./writ.ts";

export type RunningSeat = {
  /** Its base URL, as a seat's `base_url` has it: no slash at its end. */
  readonly url: string;
  /** The requests so far, oldest first. */
  log(): Promise<readonly LogEntry[]>;
  /** Their bodies, parsed; null for a request without one. */
  bodies(): Promise<readonly unknown[]>;
  /** Forgets counts, log and times. */
  reset(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type SeatOptions = {
  /** Moves the seat's time by hand; else it is the real one. */
  readonly clock?: SeatClock;
  readonly token?: string;
  readonly limits?: Partial<SeatLimits>;
  readonly port?: number;
};

/** When all answers of a seat in this process were made, in seconds of the epoch. */
export const CREATED = 1_767_225_600;

/** The keys of a script but those that every script has. */
export type ScriptObject = Readonly<Record<string, unknown>> & { readonly turns: readonly unknown[] };

/** A script that makes sense; `schema_version` and `name` need not be said. */
export function scriptOf(script: ScriptObject): Script {
  const bytes = new TextEncoder().encode(JSON.stringify({ schema_version: 1, name: "test", ...script }));
  const read = readScript(bytes);
  if (!read.ok) throw new Error(`this is no script: ${JSON.stringify(read.issues)}`);
  return read.script;
}

/** Starts a scripted seat in this process. */
export async function startScriptedSeat(script: ScriptObject, options: SeatOptions = {}): Promise<RunningSeat> {
  const defects: unknown[] = [];
  const seat = await serveScriptedSeat(
    {
      script: scriptOf(script),
      host: "127.0.0.1",
      port: options.port ?? 0,
      token: options.token ?? null,
      clock: options.clock ?? realClock,
      created: CREATED,
      onEntry: () => {},
      onDefect: (error) => void defects.push(error),
    },
    { ...SEAT_LIMITS, ...options.limits },
  );
  const close = async () => {
    await seat.close();
    if (defects.length > 0) throw defects[0];
  };
  return {
    url: seat.url,
    log: async () => seat.log(),
    bodies: async () => seat.log().map((entry) => JSON.parse(seat.bodyOf(entry) ?? "null")),
    reset: async () => seat.reset(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

export const realClock: SeatClock = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** A scripted seat that runs as its command. */
export type SeatCommand = RunningSeat & {
  /** What it has printed on standard output so far. */
  readonly printed: string;
  readonly pid: number;
  /** Sends a signal, and answers what a shell sees of the end. */
  stop(signal?: "SIGINT" | "SIGTERM"): Promise<Ran>;
};

/** Starts `writ seat serve` with a script, and waits for its line. Further words are its options. */
export async function startSeatCommand(
  world: LivingWorld,
  script: ScriptObject | string,
  ...args: string[]
): Promise<SeatCommand> {
  const text = typeof script === "string" ? script : JSON.stringify({ schema_version: 1, name: "test", ...script });
  const child = Bun.spawn([...writCommand(), "seat", "serve", "--script", "-", ...args], {
    cwd: world.folder,
    env: world.env(),
    stdin: new TextEncoder().encode(text),
    stdout: "pipe",
    stderr: "pipe",
  });
  const talk = new Response(child.stderr).text();
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let stdout = "";
  while (!stdout.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The seat ended with ${await child.exited}: ${stdout}${await talk}`);
    stdout += decoder.decode(value, { stream: true });
  }
  const url = /http:\/\/[^"\s]*/.exec(stdout)?.[0] ?? "";
  const stop: SeatCommand["stop"] = async (signal = "SIGTERM") => {
    child.kill(signal);
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      stdout += decoder.decode(read.value, { stream: true });
    }
    return { exit: await child.exited, stdout, stderr: await talk };
  };
  const logOf = async (query: string) => (await (await fetch(`${url}/scripted/log${query}`)).json()) as LogEntry[];
  const close = async () => void (await stop());
  return {
    url,
    printed: stdout,
    pid: child.pid,
    log: () => logOf(""),
    bodies: async () => (await logOf("?bodies=1")).map((entry) => ("body" in entry ? entry.body : null)),
    reset: async () => void (await fetch(`${url}/scripted/reset`, { method: "POST" })),
    close,
    stop,
    [Symbol.asyncDispose]: close,
  };
}
