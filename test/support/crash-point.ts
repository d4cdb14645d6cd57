/** A process that is killed in the middle of its writing, at a drawn call to the system, by strace where it is there. */
import type { Random } from "./seeded.ts";

/** What writes, and how often of it a call of the editor does at least. */
type Point = readonly [call: string, most: number];
const POINTS: readonly [Point, ...Point[]] = [
  ["pwrite64", 16],
  ["fsync", 5],
  ["fsync", 5],
  ["rename", 1],
  ["rename", 1],
  ["unlink", 2],
  ["ftruncate", 2],
  ["mkdir", 2],
];

export type CrashPoint = (random: Random) => readonly string[];

/** The words before a command that is to be killed; null where there is no strace, or it may not trace. */
export function findCrashPoints(): CrashPoint | null {
  const program = Bun.which("strace");
  if (program === null) return null;
  const words = (inject: string) => [program, "-f", "-qq", "-o", "/dev/null", "-e", `inject=${inject}`];
  const trial = Bun.spawnSync([...words("mkdir:signal=SIGKILL:when=1"), "/bin/sh", "-c", "mkdir /; exit 7"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    timeout: 10_000,
  });
  if (trial.exitCode !== 7) return null;
  return (random) => {
    const [call, most] = random.pick(POINTS);
    return words(`${call}:signal=SIGKILL:when=${random.between(1, most)}`);
  };
}
