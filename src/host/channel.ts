/**
 * Real pipes and pseudo-terminals, from the C library.
 *
 * What `Bun.spawn` calls a pipe is a socket: a child cannot open it again (`> /dev/stderr` fails), and a reader that
 * goes away resets it instead of ending the child with SIGPIPE. And of its pseudo-terminal the child gets all three
 * ends, so that its own standard input is lost. Where the C library cannot be had (Windows), there is no channel.
 */
import { dlopen, ptr } from "bun:ffi";

/** The two ends of a channel, as file descriptors. Whoever made it closes both. */
export type Channel = {
  readonly read: number;
  readonly write: number;
  /** The path of a pseudo-terminal's child end; null for a pipe. */
  readonly terminal: string | null;
};

/** More than `struct termios` and `struct sigaction` have anywhere. */
const STRUCT_BYTES = 256;

const LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  // Before 2.34 of glibc (Debian 11, Ubuntu 20.04, RHEL 8) `openpty` stood in a library beside it.
  linux: ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`, "libutil.so.1"],
  darwin: ["libSystem.B.dylib"],
};

/** A pipe whose ends no child inherits by accident; null where there is none to be had. */
export function openPipe(): Channel | null {
  const ends = new Int32Array(2);
  if (process.platform === "linux") {
    const O_CLOEXEC = 0o2000000;
    const made = call({ pipe2: { args: ["ptr", "i32"], returns: "i32" } }, (library) =>
      library.pipe2(ptr(ends), O_CLOEXEC),
    );
    return made === 0 ? channelOf(ends) : null;
  }
  const made = call({ pipe: { args: ["ptr"], returns: "i32" } }, (library) => library.pipe(ptr(ends)));
  return made === 0 ? channelOf(ends) : null;
}

/**
 * A pseudo-terminal of a size, read at its master end, for a child's output alone. It passes text on as it is: the
 * terminal behind it adds its own carriage returns.
 *
 * @returns null where there is none to be had
 */
export function openTerminal(size: { readonly columns: number; readonly rows: number }): Channel | null {
  const master = new Int32Array(1);
  const slave = new Int32Array(1);
  const window = new Uint16Array([size.rows, size.columns, 0, 0]);
  const made = call({ openpty: { args: ["ptr", "ptr", "ptr", "ptr", "ptr"], returns: "i32" } }, (library) =>
    library.openpty(ptr(master), ptr(slave), null, null, ptr(window)),
  );
  if (made !== 0) return null;
  const [read = -1] = master;
  const [write = -1] = slave;
  if (process.platform === "linux") passUnchanged(write);
  return { read, write, terminal: nameOf(write) };
}

/** Gives a pseudo-terminal another size. Elsewhere than on Linux it keeps the one it has. */
export function resizeTerminal(channel: Channel, size: { readonly columns: number; readonly rows: number }): void {
  if (process.platform !== "linux") return;
  const TIOCSWINSZ = 0x5414;
  const window = new Uint16Array([size.rows, size.columns, 0, 0]);
  call({ ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" } }, (library) =>
    library.ioctl(channel.read, TIOCSWINSZ, ptr(window)),
  );
}

/**
 * Carries the modes that a child sets on a pseudo-terminal over to the terminal that we read: programs that set them
 * through their output (curses) would else get no key before a line end, and see it echoed.
 *
 * @returns to be called whenever the child may have set some; what it did not change stays as it is
 */
export function modeFollower(channel: Channel): () => void {
  let seen = modesOf(channel.read);
  return () => {
    const now = modesOf(channel.read);
    if (now === null || seen === null || now.every((byte, at) => byte === seen?.[at])) return;
    const ours = modesOf(0);
    if (ours !== null && isForeground()) {
      for (const [at, byte] of now.entries()) {
        const changed = byte ^ (seen[at] ?? 0);
        ours[at] = ((ours[at] ?? 0) & ~changed) | (byte & changed);
      }
      const TCSADRAIN = 1;
      call({ tcsetattr: { args: ["i32", "i32", "ptr"], returns: "i32" } }, (library) =>
        library.tcsetattr(0, TCSADRAIN, ptr(ours)),
      );
    }
    seen = now;
  };
}

/** True when one of our streams is the terminal whose keys send their signals to our process group. */
export function isForeground(): boolean {
  const answer = call(
    { tcgetpgrp: { args: ["i32"], returns: "i32" }, getpgrp: { args: [], returns: "i32" } },
    ({ tcgetpgrp, getpgrp }) => ([0, 1, 2].some((fd) => tcgetpgrp(fd) === getpgrp()) ? 1 : 0),
  );
  return answer === 1;
}

/** Signals that were ignored when the process began (`nohup`, a background job of a script), of those asked about. */
export function ignoredAmong(signals: Readonly<Record<string, number>>): readonly string[] {
  const SIG_IGN = 1n;
  const ignored: string[] = [];
  call({ sigaction: { args: ["i32", "ptr", "ptr"], returns: "i32" } }, ({ sigaction }) => {
    for (const [name, number] of Object.entries(signals)) {
      // The handler comes first in the struct.
      const action = new BigUint64Array(STRUCT_BYTES / 8);
      if (sigaction(number, null, ptr(action)) === 0 && action[0] === SIG_IGN) ignored.push(name);
    }
    return 0;
  });
  return ignored;
}

function modesOf(fd: number): Uint8Array | null {
  const modes = new Uint8Array(STRUCT_BYTES);
  const got = call({ tcgetattr: { args: ["i32", "ptr"], returns: "i32" } }, (library) =>
    library.tcgetattr(fd, ptr(modes)),
  );
  return got === 0 ? modes : null;
}

function passUnchanged(terminal: number): void {
  const OPOST = 1;
  const TCSANOW = 0;
  // struct termios begins with c_iflag and c_oflag, 32 bits each; it has 60 bytes.
  const settings = new Uint32Array(16);
  call(
    {
      tcgetattr: { args: ["i32", "ptr"], returns: "i32" },
      tcsetattr: { args: ["i32", "i32", "ptr"], returns: "i32" },
    },
    (library) => {
      if (library.tcgetattr(terminal, ptr(settings)) !== 0) return -1;
      settings[1] = (settings[1] ?? 0) & ~OPOST;
      return library.tcsetattr(terminal, TCSANOW, ptr(settings));
    },
  );
}

function nameOf(terminal: number): string {
  let name = "";
  call({ ttyname: { args: ["i32"], returns: "cstring" } }, (library) => {
    name = String(library.ttyname(terminal));
    return 0;
  });
  return name;
}

function channelOf(ends: Int32Array): Channel {
  return { read: ends[0] ?? -1, write: ends[1] ?? -1, terminal: null };
}

type Declared = Parameters<typeof dlopen>[1];

/** Calls into the C library; null where it, or the function, is not there. */
function call<const D extends Declared>(
  functions: D,
  act: (library: ReturnType<typeof dlopen<D>>["symbols"]) => number,
): number | null {
  const key = Object.keys(functions).join();
  const symbols = (opened.get(key) as ReturnType<typeof dlopen<D>>["symbols"] | undefined) ?? load(functions);
  if (symbols === null) return null;
  opened.set(key, symbols);
  return act(symbols);
}

/** What was loaded before, by the names of the functions: some are called for every piece of output. */
const opened = new Map<string, unknown>();

function load<const D extends Declared>(functions: D): ReturnType<typeof dlopen<D>>["symbols"] | null {
  for (const name of LIBRARIES[process.platform] ?? []) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // not this one: it is not there, or has not all of the functions
    }
  }
  return null;
}
