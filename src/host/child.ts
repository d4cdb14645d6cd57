/** A short program that is given some input and watched until its end: a hook command, another writ. */

export type Ended =
  | { readonly kind: "ended"; readonly exit: number; readonly stdout: string; readonly stderr: string }
  /** One clause: "did not start: …", "did not end within …". */
  | { readonly kind: "not_started" | "late"; readonly reason: string };

/** What is kept of each stream, in bytes. */
const KEPT = 1024 * 1024;

/**
 * Runs a program to its end. One that was killed by a signal ended in 128 + n.
 *
 * @param wait in milliseconds; then the program is killed with the whole group that it began
 * Errors: none
 */
export async function runChild(
  argv: readonly string[],
  setting: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly stdin: string;
    readonly waitMs: number;
  },
): Promise<Ended> {
  const { cwd, env, stdin, waitMs } = setting;
  let child: Bun.Subprocess<Uint8Array, "pipe", "pipe">;
  try {
    child = Bun.spawn([...argv], {
      cwd,
      env: { ...env },
      stdin: new TextEncoder().encode(stdin),
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    });
  } catch (error) {
    return { kind: "not_started", reason: `did not start: ${error instanceof Error ? error.message : error}` };
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), waitMs);
  });
  const ending = Promise.all([readSome(child.stdout), readSome(child.stderr), child.exited]);
  const ended = await Promise.race([ending, late]);
  clearTimeout(timer);
  if (ended === null) {
    killGroup(child);
    return { kind: "late", reason: `did not end within ${waitMs / 1000} seconds` };
  }
  const [stdout, stderr, exit] = ended;
  return { kind: "ended", exit, stdout, stderr };
}

async function readSome(stream: ReadableStream<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream) {
    if (size < KEPT) pieces.push(piece.subarray(0, KEPT - size));
    size += piece.length;
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}

function killGroup(child: Bun.Subprocess<Uint8Array, "pipe", "pipe">): void {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // no group of its own: on Windows there is none
  }
}
