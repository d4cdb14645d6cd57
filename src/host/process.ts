/**
 * Running one command as if writ were not there, with a copy of what it prints.
 *
 * The child gets our own standard input, environment and terminal. Where our standard output and standard error are
 * one and the same, it gets one channel for both, and the copy has the order in which it wrote. Each piece is passed
 * on before the next is read, so that a slow reader slows the child and memory stays constant.
 */
import {
  accessSync,
  closeSync,
  constants as fileFlags,
  fstatSync,
  openSync,
  read as readFile,
  readFileSync,
  readlinkSync,
  statSync,
  write as writeFile,
  writeSync,
} from "node:fs";
import { constants } from "node:os";
import { delimiter, resolve as resolvePath } from "node:path";
import {
  type Channel,
  ignoredAmong,
  isForeground,
  modeFollower,
  openPipe,
  openTerminal,
  resizeTerminal,
} from "./channel.ts";
import { isTerminal, writeAll } from "./stream.ts";
import { underGivenUmask } from "./umask.ts";

export type CommandEnd = {
  /** Null when it was killed by a signal, or its end is not known. */
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** What a shell would say: 128 + n for a signal, 127 not found, 126 not executable. */
  readonly status: number;
  /** Milliseconds since the epoch. */
  readonly started_ms: number;
  readonly ended_ms: number;
  /** Not all of the output was seen: something it started held it open too long, or our own reader went away. */
  readonly cut: boolean;
  /** False when the two streams were read apart and both held text. */
  readonly ordered: boolean;
};

type Child = Bun.Subprocess<"inherit", number | "pipe", number | "pipe">;

/** The largest piece read from a terminal at once, in bytes. */
const PIECE_BYTES = 64 * 1024;
/** How long a channel may stay open behind the end of the child, in milliseconds. */
const GRACE_MS = 2_000;
/**
 * What a slow reader has not yet let through by then was still written by the child: it is passed on until nothing
 * came for this long, in milliseconds, or until this much came, in bytes, which no channel can have held.
 */
const QUIET_MS = 50;
const LATE_BYTES = 4 * 1024 * 1024;
const PASSED_ON = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGUSR1: 10, SIGUSR2: 12, SIGALRM: 14, SIGTERM: 15 } as const;
type PassedOn = keyof typeof PASSED_ON;
/** Those that a terminal sends to all of its foreground processes, the child too. */
const FROM_KEYBOARD: ReadonlySet<PassedOn> = new Set(["SIGINT", "SIGQUIT"]);

/**
 * Runs a command to its end.
 *
 * From then on SIGINT, SIGTERM, SIGHUP and SIGQUIT go to the child. The first of each that comes when it has ended is
 * swallowed, so that its run can still be recorded.
 *
 * @param argv  the program and its arguments; at least one word
 * @param keep  gets a copy of the output as text, in order of arrival
 * Errors: none; a command that cannot be started is 127 or 126 and says so on standard error
 */
export async function runCommand(
  argv: readonly string[],
  options: { readonly cwd: string | undefined; readonly keep: (text: string) => void },
): Promise<CommandEnd> {
  const started_ms = Date.now();
  const given = givenFiles(argv);
  const ignored = ignoredAmong(PASSED_ON);
  const routes = openRoutes();
  const signals = passSignals(ignored);
  let child: Child;
  try {
    child = start(ignored.length === 0 ? argv : withIgnored(ignored, argv), options.cwd, routes, given);
  } catch (error) {
    for (const route of routes.all) route.abandon();
    signals.settle();
    return notStarted(argv[0] ?? "", error, started_ms, options);
  }
  signals.begin(child);
  const stopResizing = followSize(child, routes.all);
  let isKeeping = true;
  try {
    const keep = (text: string) => {
      if (isKeeping) options.keep(text);
    };
    const ends = routes.all.map((route) => route.pump(child, keep));
    await child.exited;
    const ended_ms = Date.now();
    const isWhole = await endWithin(ends, routes.all);
    const cut = !isWhole || routes.all.some((route) => route.isBroken);
    const { exitCode, signalCode } = child;
    return {
      exit_code: signalCode === null ? exitCode : null,
      signal: signalCode === null ? null : nameOf(signalCode),
      status: signalCode === null ? (exitCode ?? 1) : 128 + numberOf(signalCode),
      started_ms,
      ended_ms,
      cut,
      ordered: routes.all.filter((route) => route.heldText).length < 2,
    };
  } finally {
    isKeeping = false;
    signals.settle();
    stopResizing();
  }
}

function start(argv: readonly string[], cwd: string | undefined, routes: Routes, given: ReadonlySet<number>): Child {
  const stdio: (number | "inherit" | "pipe" | "ignore")[] = ["inherit", routes.stdout, routes.stderr];
  for (let fd = 3; fd <= Math.max(2, ...given); fd++) stdio.push(given.has(fd) ? fd : "ignore");
  const spawn = (words: readonly string[]): Child =>
    underGivenUmask(() =>
      Bun.spawn([...words], {
        ...(cwd === undefined ? {} : { cwd }),
        stdio: stdio as ["inherit", number | "pipe", number | "pipe"],
      }),
    );
  try {
    return spawn(argv);
  } catch (error) {
    const [program = "", ...words] = argv;
    if (!isCode(error, "ENOEXEC")) throw error;
    // A script that names no interpreter: whoever starts programs by execvp(3), as a shell does, hands it to sh.
    return spawn(["/bin/sh", program.includes("/") ? program : (Bun.which(program) ?? program), ...words]);
  }
}

/** `Bun.spawn` gives a child the default of every signal: what was ignored for us is made so again. */
function withIgnored(signals: readonly string[], argv: readonly string[]): readonly string[] {
  const names = signals.map((name) => name.slice("SIG".length)).join(" ");
  return ["/bin/sh", "-c", `trap '' ${names}; exec "$@"`, "sh", ...argv];
}

/** Files that a shell opened for the command and names in its words, as `<(...)` does. */
function givenFiles(argv: readonly string[]): ReadonlySet<number> {
  const given = new Set<number>();
  for (const word of argv) {
    for (const [, digits] of word.matchAll(/\/(?:dev|proc\/self)\/fd\/([0-9]{1,3})(?![0-9])/g)) {
      const fd = Number(digits);
      if (fd > 2 && isGiven(fd)) given.add(fd);
    }
  }
  return given;
}

function isGiven(fd: number): boolean {
  try {
    if (process.platform !== "linux") return fstatSync(fd) !== undefined;
    // The runtime's own have no name in any folder.
    return !readlinkSync(`/proc/self/fd/${fd}`).startsWith("anon_inode:");
  } catch {
    return false; // not open
  }
}

type Routes = {
  readonly stdout: number | "pipe";
  readonly stderr: number | "pipe";
  readonly all: readonly Route[];
};

/** One channel where our two streams are one, else one each. */
function openRoutes(): Routes {
  if (isSameStream(1, 2)) {
    const channel = (isTerminal(1) ? openTerminal(sizeOfTerminal()) : null) ?? openPipe();
    if (channel !== null) {
      return { stdout: channel.write, stderr: channel.write, all: [new Route(1, channel, "stdout")] };
    }
  }
  const out = routeTo(1, "stdout");
  const err = routeTo(2, "stderr");
  return { stdout: out.channel?.write ?? "pipe", stderr: err.channel?.write ?? "pipe", all: [out, err] };
}

/** A stream that is a terminal while the other is not stays one for the child. */
function routeTo(fd: 1 | 2, stream: "stdout" | "stderr"): Route {
  const terminal = isTerminal(fd) ? openTerminal(sizeOfTerminal()) : null;
  return new Route(fd, terminal ?? openPipe(), stream);
}

function isSameStream(a: number, b: number): boolean {
  try {
    const [first, second] = [fstatSync(a), fstatSync(b)];
    return first.dev === second.dev && first.ino === second.ino && first.rdev === second.rdev;
  } catch {
    return false; // one of them is closed
  }
}

function sizeOfTerminal(): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = process.stdout.isTTY ? process.stdout : process.stderr;
  return { columns: columns || 80, rows: rows || 24 };
}

/** One stream of the child on its way to one of ours. */
class Route {
  heldText = false;
  /** Our own stream took no more, so that not all was read. */
  isBroken = false;
  isOver = false;
  isWriting = false;
  bytes = 0;
  private source: Source | null = null;
  private readonly followModes: () => void;

  constructor(
    private readonly fd: 1 | 2,
    readonly channel: Channel | null,
    private readonly stream: "stdout" | "stderr",
  ) {
    this.followModes = channel !== null && channel.terminal !== null ? modeFollower(channel) : () => {};
  }

  /** Passes everything on until the channel ends, our reader goes away, or `stop` is called. */
  async pump(child: Child, keep: (text: string) => void): Promise<void> {
    const source = this.openSource(child);
    this.source = source;
    // A mark of byte order is a part of the output.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    try {
      for (;;) {
        const piece = await source.read();
        if (piece === null || this.isOver) break;
        this.heldText = true;
        this.bytes += piece.length;
        this.followModes();
        keep(decoder.decode(piece, { stream: true }));
        this.isWriting = true;
        await writeFully(this.fd, piece);
        this.isWriting = false;
      }
    } catch (error) {
      // The channel is closed, and the child learns of it by SIGPIPE, as it would without us where our reader is gone.
      this.isBroken = true;
      this.isWriting = false;
      if (!isCode(error, "EPIPE") && !isCode(error, "ECONNRESET")) {
        const name = this.fd === 1 ? "standard output" : "standard error";
        writeAll(2, `writ run: ${name} cannot be passed on: ${reasonOf(error)}\n`);
      }
    } finally {
      keep(decoder.decode());
      if (!this.isOver) this.followModes();
      this.stop();
    }
  }

  /** Ends the reading and closes our end. */
  stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.source?.stop();
  }

  /** Closes both ends of a channel that no child got. */
  abandon(): void {
    this.isOver = true;
    if (this.channel === null) return;
    closeQuietly(this.channel.read);
    closeQuietly(this.channel.write);
  }

  private openSource(child: Child): Source {
    if (this.channel === null) return streamSource(child[this.stream], () => {});
    // Ours is closed at once: the channel must end when the last of the child's kind closes it.
    closeSync(this.channel.write);
    const { read, terminal } = this.channel;
    if (terminal !== null) return terminalSource(read, terminal);
    return streamSource(Bun.file(read).stream(), () => closeQuietly(read));
  }
}

/** Where the bytes of a channel come from. `read` gives null at the end; `stop` lets a waiting `read` return. */
type Source = { read(): Promise<Uint8Array | null>; stop(): void };

function streamSource(stream: unknown, close: () => void): Source {
  if (!(stream instanceof ReadableStream)) return { read: async () => null, stop: close };
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  return {
    async read() {
      const { done, value } = await reader.read();
      return done ? null : value;
    },
    stop() {
      void reader
        .cancel()
        .catch(() => {}) // it had ended
        .finally(close);
    },
  };
}

/**
 * The master end of a pseudo-terminal, which no stream of Bun can read. A read that waits is woken by a byte written
 * into the other end.
 */
function terminalSource(master: number, path: string): Source {
  let isWaiting = false;
  let isStopped = false;
  const close = () => {
    if (isStopped && !isWaiting) closeQuietly(master);
  };
  return {
    read: () =>
      new Promise((resolve, reject) => {
        isWaiting = true;
        readFile(master, Buffer.allocUnsafe(PIECE_BYTES), (error, length, buffer) => {
          isWaiting = false;
          close();
          // EIO: the last user of the terminal has closed it.
          if (error !== null && !isCode(error, "EIO")) reject(error);
          else resolve(error !== null || length === 0 ? null : buffer.subarray(0, length));
        });
      }),
    stop() {
      isStopped = true;
      if (isWaiting) wake(path);
      close();
    },
  };
}

function wake(terminal: string): void {
  try {
    const slave = openSync(terminal, fileFlags.O_WRONLY | fileFlags.O_NOCTTY);
    writeSync(slave, "\n");
    closeSync(slave);
  } catch {
    // gone already: then the read has returned
  }
}

/** Writes all of a piece without holding up anything else; waits for a slow reader. */
async function writeFully(fd: number, piece: Uint8Array): Promise<void> {
  for (let done = 0, waitMs = 1; done < piece.length; ) {
    try {
      done += await writeSome(fd, piece, done);
      waitMs = 1;
    } catch (error) {
      if (isCode(error, "EINTR")) continue;
      if (!isCode(error, "EAGAIN")) throw error;
      // Somebody made the stream non-blocking, and it is full.
      await Bun.sleep(waitMs);
      waitMs = Math.min(waitMs * 2, 16);
    }
  }
}

function writeSome(fd: number, piece: Uint8Array, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    writeFile(fd, piece, from, piece.length - from, null, (error, written) => {
      if (error === null) resolve(written);
      else reject(error);
    });
  });
}

/** Waits for the ends of the channels, for the grace time and a slow reader. False when one was still open then. */
async function endWithin(ends: readonly Promise<void>[], routes: readonly Route[]): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), GRACE_MS);
  });
  const first = await Promise.race([Promise.all(ends), late]);
  clearTimeout(timer);
  if (first !== "late") return true;
  const ended = await Promise.all(routes.map(endLate));
  return ended.every(Boolean);
}

/** Lets through what a channel still holds, and stops it. True when it ended by itself. */
async function endLate(route: Route): Promise<boolean> {
  const before = route.bytes;
  for (let seen = -1; !route.isOver; ) {
    if ((!route.isWriting && route.bytes === seen) || route.bytes - before > LATE_BYTES) {
      route.stop();
      return false;
    }
    seen = route.isWriting ? -1 : route.bytes;
    await Bun.sleep(QUIET_MS);
  }
  return true;
}

/** The signals of real time have no name there, only a number. */
function nameOf(signal: NodeJS.Signals | number): string {
  return typeof signal === "number" ? `SIG${signal}` : signal;
}

function numberOf(signal: NodeJS.Signals | number): number {
  return typeof signal === "number" ? signal : constants.signals[signal];
}

/** A child's terminal has the size of ours, also after ours has changed. */
function followSize(child: Child, routes: readonly Route[]): () => void {
  const channels = routes.flatMap(({ channel }) => (channel === null || channel.terminal === null ? [] : [channel]));
  if (channels.length === 0) return () => {};
  const handler = () => {
    for (const channel of channels) resizeTerminal(channel, sizeOfTerminal());
    child.kill("SIGWINCH");
  };
  process.on("SIGWINCH", handler);
  return () => process.off("SIGWINCH", handler);
}

/**
 * What is sent to writ is passed on, but for what a terminal sends to the child as well. It begins before there is a
 * child, so that no signal ends us and leaves one behind.
 */
function passSignals(ignored: readonly string[]): { begin(child: Child): void; settle(): void } {
  let child: Child | null = null;
  let isSettled = false;
  const early: PassedOn[] = [];
  const deliver = (to: Child, signal: PassedOn) => {
    if (FROM_KEYBOARD.has(signal) && isForeground() && hasHandler(to.pid, signal)) return;
    to.kill(signal);
  };
  for (const signal of Object.keys(PASSED_ON) as PassedOn[]) {
    if (ignored.includes(signal)) continue;
    const handler = () => {
      if (isSettled) process.off(signal, handler);
      else if (child === null) early.push(signal);
      else deliver(child, signal);
    };
    process.on(signal, handler);
  }
  return {
    begin(started) {
      child = started;
      for (const signal of early) deliver(started, signal);
    },
    settle() {
      isSettled = true;
    },
  };
}

/**
 * Whether a process does something of its own with a signal: then a second one could mean something else to it (many
 * give up at the second Ctrl-C). True where that cannot be found out.
 */
function hasHandler(pid: number, signal: PassedOn): boolean {
  try {
    const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return mask === undefined || ((BigInt(`0x${mask}`) >> BigInt(PASSED_ON[signal] - 1)) & 1n) === 1n;
  } catch {
    return true;
  }
}

function notStarted(
  program: string,
  error: unknown,
  started_ms: number,
  options: { readonly cwd: string | undefined; readonly keep: (text: string) => void },
): CommandEnd {
  const { status, why } = whyNotStarted(program, error, options.cwd);
  const text = `writ run: ${program.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?")}: ${why}\n`;
  options.keep(text);
  writeAll(2, text);
  return { exit_code: status, signal: null, status, started_ms, ended_ms: Date.now(), cut: false, ordered: true };
}

function whyNotStarted(program: string, error: unknown, cwd: string | undefined): { status: 126 | 127; why: string } {
  if (cwd !== undefined && !isEnterable(cwd)) return { status: 126, why: `cannot start in "${cwd}"` };
  if (isCode(error, "EACCES")) return { status: 126, why: "permission denied" };
  if (!isCode(error, "ENOENT")) return { status: 126, why: reasonOf(error) };
  const there = fileOf(program, cwd);
  if (there === null) return { status: 127, why: "not found" };
  // Found, and not started: a script without its interpreter, or a file on PATH that may not be run.
  return isAllowed(there, fileFlags.X_OK)
    ? { status: 127, why: "not found: what should run it is missing" }
    : { status: 126, why: "permission denied" };
}

/** The file that a program's name stands for, executable or not: by its path, or the first of that name on PATH. */
function fileOf(program: string, cwd: string | undefined): string | null {
  const places = program.includes("/")
    ? [program]
    : (process.env.PATH ?? "").split(delimiter).map((folder) => `${folder === "" ? "." : folder}/${program}`);
  const paths = program === "" ? [] : places.map((place) => resolvePath(cwd ?? ".", place));
  return paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile()) ?? null;
}

function isEnterable(folder: string): boolean {
  return (statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false) && isAllowed(folder, fileFlags.X_OK);
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // closed by whoever read it
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
