/**
 * Running one command as if writ were not there, with a copy of what it prints.
 *
 * The child gets our own standard input, environment and terminal. Where our standard output and standard error are
 * one and the same, it gets one channel for both, and the copy has the order in which it wrote. Each piece is passed
 * on before the next is read, so that a slow reader slows the child and memory stays constant.
 */
import {
  closeSync,
  constants as fileFlags,
  fstatSync,
  openSync,
  read as readFile,
  write as writeFile,
  writeSync,
} from "node:fs";
import { constants } from "node:os";
import { type Channel, openPipe, openTerminal, resizeTerminal } from "./channel.ts";
import { isTerminal, writeAll } from "./stream.ts";

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
const PASSED_ON = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"] as const;
/** Those that a terminal sends to all of its foreground processes, the child too. */
const FROM_KEYBOARD: ReadonlySet<string> = new Set(["SIGINT", "SIGQUIT"]);

/**
 * Runs a command to its end.
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
  const routes = openRoutes();
  let child: Child;
  try {
    child = start(argv, options.cwd, routes);
  } catch (error) {
    for (const route of routes.all) route.abandon();
    return notStarted(argv[0] ?? "", error, started_ms, options.keep);
  }
  const stopPassing = passSignals(child);
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
    stopPassing();
    stopResizing();
  }
}

function start(argv: readonly string[], cwd: string | undefined, routes: Routes): Child {
  const spawn = (words: readonly string[]): Child =>
    Bun.spawn([...words], {
      ...(cwd === undefined ? {} : { cwd }),
      stdin: "inherit",
      stdout: routes.stdout,
      stderr: routes.stderr,
    });
  try {
    return spawn(argv);
  } catch (error) {
    const [program = "", ...words] = argv;
    if (!isCode(error, "ENOEXEC")) throw error;
    // A script that names no interpreter: whoever starts programs by execvp(3), as a shell does, hands it to sh.
    return spawn(["/bin/sh", program.includes("/") ? program : (Bun.which(program) ?? program), ...words]);
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

  constructor(
    private readonly fd: 1 | 2,
    readonly channel: Channel | null,
    private readonly stream: "stdout" | "stderr",
  ) {}

  /** Passes everything on until the channel ends, our reader goes away, or `stop` is called. */
  async pump(child: Child, keep: (text: string) => void): Promise<void> {
    const source = this.openSource(child);
    this.source = source;
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const piece = await source.read();
        if (piece === null || this.isOver) break;
        this.heldText = true;
        this.bytes += piece.length;
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

/** What is sent to writ is passed on, but for what a terminal sends to the child as well. */
function passSignals(child: { kill(signal: NodeJS.Signals): void }): () => void {
  const handlers = PASSED_ON.map((signal) => {
    const handler = () => {
      if (FROM_KEYBOARD.has(signal) && ([0, 1, 2] as const).some(isTerminal)) return;
      child.kill(signal);
    };
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const stop of handlers) stop();
  };
}

function notStarted(program: string, error: unknown, started_ms: number, keep: (text: string) => void): CommandEnd {
  const isMissing = isCode(error, "ENOENT");
  const why = isMissing ? "not found" : isCode(error, "EACCES") ? "permission denied" : reasonOf(error);
  const text = `writ run: ${program}: ${why}\n`;
  keep(text);
  writeAll(2, text);
  const status = isMissing ? 127 : 126;
  return {
    exit_code: status,
    signal: null,
    status,
    started_ms,
    ended_ms: Date.now(),
    cut: false,
    ordered: true,
  };
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
