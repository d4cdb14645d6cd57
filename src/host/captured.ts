/**
 * Running one command apart from us: no terminal, a process group of its own, and a bound on its time. What it prints
 * goes to one channel, in the order in which it wrote; or to two, where somebody wants them apart.
 *
 * When the command has ended, what it left running is ended too. A process that leaves the group is found by a mark in
 * its environment, where one was given and the system shows environments (Linux); one that also drops the mark escapes.
 */
import { closeSync } from "node:fs";
import type { CommandEnd } from "../core/prove/command-end.ts";
import { openPipe } from "./channel.ts";
import { killMarked } from "./marked.ts";

export type CapturedOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeout_ms: number;
  /** Ends the command; left out, only time does. */
  readonly signal?: AbortSignal;
  /** What it reads; left out, its standard input is closed. */
  readonly stdin?: string;
  /** True: standard output and standard error come by two channels, and their order is lost. */
  readonly isApart?: boolean;
  /** A text that stands in the environment of this command and of nothing else. */
  readonly mark?: string;
  /** Gets the output as text; by one channel, all of it is "stdout". */
  readonly keep: (text: string, stream: "stdout" | "stderr") => void;
};

/** Between asking a group to end and ending it; and how long its output may then stay open, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * Runs a command to its end. One that cannot be started is 127 or 126, as a shell says.
 *
 * @param argv at least one word
 * Errors: none
 */
export async function runCaptured(argv: readonly string[], options: CapturedOptions): Promise<CommandEnd> {
  const started_ms = Date.now();
  const { keep, stdin, signal: asked, mark } = options;
  const channel = options.isApart === true ? null : openPipe();
  let child: Bun.Subprocess<Uint8Array | "ignore", number | "pipe", number | "pipe">;
  try {
    child = Bun.spawn([...argv], {
      cwd: options.cwd,
      env: { ...options.env },
      stdin: stdin === undefined ? "ignore" : new TextEncoder().encode(stdin),
      stdout: channel?.write ?? "pipe",
      stderr: channel?.write ?? "pipe",
      detached: true,
    });
  } catch (error) {
    if (channel !== null) for (const end of [channel.read, channel.write]) closeSync(end);
    const isMissing = isCode(error, "ENOENT");
    keep(`${argv[0]}: ${isMissing ? "not found" : isCode(error, "EACCES") ? "permission denied" : error}\n`, "stderr");
    const exit_code = isMissing ? 127 : 126;
    return {
      is_started: false,
      exit_code,
      signal: null,
      ended_by: "itself",
      started_ms,
      ended_ms: Date.now(),
      cut: false,
    };
  }
  // Ours is closed at once: the channel must end when the last of the child's kind closes it.
  if (channel !== null) closeSync(channel.write);
  const streams = channel === null ? [child.stdout, child.stderr] : [Bun.file(channel.read).stream()];
  const readers = streams.flatMap((stream, place) =>
    stream instanceof ReadableStream ? [readAll(stream, (text) => keep(text, place === 0 ? "stdout" : "stderr"))] : [],
  );

  let ended_by: CommandEnd["ended_by"] = "itself";
  let force: ReturnType<typeof setTimeout> | undefined;
  const stop = (by: "time" | "caller") => {
    if (ended_by !== "itself") return;
    ended_by = by;
    killGroup(child.pid, "SIGTERM");
    force = setTimeout(() => killGroup(child.pid, "SIGKILL"), GRACE_MS);
  };
  const bound = setTimeout(() => stop("time"), options.timeout_ms);
  const onAbort = () => stop("caller");
  asked?.addEventListener("abort", onAbort);
  if (asked?.aborted === true) onAbort();
  try {
    await child.exited;
  } finally {
    clearTimeout(bound);
    clearTimeout(force);
    asked?.removeEventListener("abort", onAbort);
    killGroup(child.pid, "SIGKILL");
    if (mark !== undefined) killMarked(mark);
  }
  const ended_ms = Date.now();
  const cut = !(await allWithin(readers, GRACE_MS));
  if (channel !== null) closeQuietly(channel.read);
  const signal = nameOf(child.signalCode);
  return {
    is_started: true,
    exit_code: signal === null ? child.exitCode : null,
    signal,
    ended_by,
    started_ms,
    ended_ms,
    cut,
  };
}

/** `done` says whether it was read to its end. */
type Reading = { readonly done: Promise<boolean>; cancel(): void };

function readAll(stream: ReadableStream<Uint8Array>, keep: (text: string) => void): Reading {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const done = (async () => {
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        keep(decoder.decode(next.value, { stream: true }));
      }
      return true;
    } catch {
      return false; // the channel broke: what came until then was kept
    } finally {
      keep(decoder.decode());
    }
  })();
  return { done, cancel: () => void reader.cancel().catch(() => {}) };
}

/** False when a reading broke, or was still open at the end of the time; it is ended then. */
async function allWithin(readings: readonly Reading[], ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), ms);
  });
  const first = await Promise.race([Promise.all(readings.map(({ done }) => done)), late]);
  clearTimeout(timer);
  if (first !== "late") return first.every((whole) => whole);
  for (const reading of readings) reading.cancel();
  return false;
}

function killGroup(leader: number, signal: NodeJS.Signals): void {
  kill(process.platform === "win32" ? leader : -leader, signal);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}

/** Some signals have no name there, only a number. */
function nameOf(signal: NodeJS.Signals | number | null): string | null {
  return typeof signal === "number" ? `SIG${signal}` : signal;
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // closed by its stream
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
