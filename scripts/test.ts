/**
 * `npm test`: the vectors, then every test against dist/writ. The last line is "N passed, N failed" and nothing
 * else, and the exit status follows it.
 *
 * Words behind `npm test --` go to `bun test`. A run without a summary (a test can end the runner with status 0)
 * and a run of no tests count as failed.
 */
import { join } from "node:path";

type Counts = { readonly passed: number; readonly failed: number };

const ROOT = join(import.meta.dir, "..");
const WRIT = join(ROOT, "dist", process.platform === "win32" ? "writ.exe" : "writ");
/** A test starts real processes, on machines that do other work as well. */
const TEST_LIMIT_MS = 60_000;
/** The summary is the last thing that the runner prints, and shorter than this. */
const SUMMARY_LENGTH = 2000;

const vectors = await run([join(ROOT, "scripts", "vectors.ts")]);
const tests = await run(["test", `--timeout=${TEST_LIMIT_MS}`, ...process.argv.slice(2)]);

const counts = countsOf(tests.ending);
const nothingRan = counts.passed + counts.failed === 0;
const unexplained = counts.failed === 0 && (tests.status !== 0 || nothingRan);
const failed = counts.failed + (unexplained ? 1 : 0) + (vectors.status === 0 ? 0 : 1);
console.log(`${counts.passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Runs Bun in the project's folder, passes its output through, and keeps the end of standard error. */
async function run(args: readonly string[]): Promise<{ readonly status: number; readonly ending: string }> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    env: { ...process.env, WRIT_BIN: WRIT },
    stdio: ["ignore", "inherit", "pipe"],
  });
  const talk = Bun.stderr.writer();
  const decoder = new TextDecoder();
  let ending = "";
  for await (const chunk of child.stderr) {
    talk.write(chunk);
    await talk.flush();
    ending = (ending + decoder.decode(chunk, { stream: true })).slice(-SUMMARY_LENGTH);
  }
  return { status: await child.exited, ending };
}

/** The counts of the runner's summary: the lines " 12 pass" and " 3 fail"; zero where a line is missing. */
function countsOf(ending: string): Counts {
  const count = (word: string) =>
    Number(
      ending
        .match(new RegExp(`^ *(\\d+) ${word}$`, "gm"))
        ?.at(-1)
        ?.match(/\d+/)?.[0] ?? 0,
    );
  return { passed: count("pass"), failed: count("fail") };
}
