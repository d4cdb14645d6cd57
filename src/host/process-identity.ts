/**
 * Whether the process that wrote its id somewhere is still the one that has it.
 *
 * Ids are given out again: a process is known by its id and the moment it started.
 */
import { readFileSync } from "node:fs";

export type ProcessIdentity = {
  readonly pid: number;
  /** Opaque; null where the platform does not tell. */
  readonly start: string | null;
};

let own: ProcessIdentity | null = null;

/** This process. */
export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, start: startOf(process.pid) };
  return own;
}

/** False when that process has ended, be its id given to another one or not. */
export function isStillAlive({ pid, start }: ProcessIdentity): boolean {
  if (!isAlive(pid)) return false;
  const now = start === null ? null : startOf(pid);
  return now === null || now === start;
}

/** Ids are positive and fit the platform's `pid_t`; 0 and less would mean groups of processes. */
const MOST_PID = 2_147_483_647;

/**
 * Whether a process has this id; one that ended and was not waited for by its parent counts as dead where that shows.
 * Nobody has what can be no id, as a file that was cut or edited may say.
 */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid > MOST_PID) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Of another user's process nothing is told but that it is there.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
  const state = statOf(pid)?.[0];
  return state !== "Z" && state !== "X";
}

/** When a process started, as its platform spells it; null where that is not told. */
function startOf(pid: number): string | null {
  if (process.platform === "linux") return statOf(pid)?.[19] ?? null;
  if (process.platform !== "darwin") return null;
  const said = Bun.spawnSync(["/bin/ps", "-o", "lstart=", "-p", String(pid)], {
    env: { LC_ALL: "C", TZ: "UTC" },
    stderr: "ignore",
  });
  const text = said.stdout.toString().trim();
  return text === "" ? null : text;
}

/** The fields of `/proc/<pid>/stat` behind the name, which may hold anything: the state is the first one. */
function statOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null; // gone, or a platform without it
  }
}
