/** Processes known by a text in their environment, where the system shows environments (Linux). */
import { readdirSync, readFileSync } from "node:fs";

/** How often what carries a mark is looked for anew: between two looks a process can begin another. */
const SWEEPS = 20;

/** Kills what carries a mark, until a look finds nothing more. */
export function killMarked(mark: string): void {
  if (process.platform !== "linux") return;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const marked = readdirSync("/proc").filter((name) => /^[1-9]\d*$/.test(name) && carries(Number(name), mark));
    if (marked.length === 0) return;
    for (const pid of marked) kill(Number(pid));
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

function carries(pid: number, mark: string): boolean {
  if (pid === process.pid) return false;
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark);
  } catch {
    return false; // ended meanwhile, or another user's
  }
}
