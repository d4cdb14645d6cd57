/**
 * Runs a command by `runCommand`, ends in its status, and writes what was learnt of it to a file:
 * `bun command-runner.ts REPORT CMD [ARG...]`. The words @LONG and @NUL stand for what no shell can hand over.
 */
import { writeFileSync } from "node:fs";
import { type CommandEnd, runCommand } from "../../src/host/process.ts";

export type Report = CommandEnd & {
  /** The first million code units of the copy, and how many there were. */
  readonly kept: string;
  readonly kept_length: number;
  readonly peak_bytes: number;
};

const LONG = "x".repeat(3 * 1024 * 1024);
const [report = "", ...words] = process.argv.slice(2);
const argv = words.map((word) => (word === "@LONG" ? LONG : word === "@NUL" ? "a\0b" : word));
let kept = "";
let kept_length = 0;
const end = await runCommand(argv, {
  cwd: process.env.RUN_CWD,
  keep: (text) => {
    kept_length += text.length;
    if (kept.length < 1_000_000) kept += text;
  },
});
const peak_bytes = process.resourceUsage().maxRSS * (process.platform === "darwin" ? 1 : 1024);
writeFileSync(report, JSON.stringify({ ...end, kept, kept_length, peak_bytes } satisfies Report));
process.exitCode = end.status;
