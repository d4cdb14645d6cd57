/**
 * Runs one command with `runCommand` and writes what came of it to a file, since both streams are the command's:
 * `run-reporter.ts REPORT CWD|- WORD...`.
 */
import { writeFileSync } from "node:fs";
import { runCommand } from "../../src/host/process.ts";

const [report = "", cwd = "-", ...argv] = process.argv.slice(2);
let kept = "";
const end = await runCommand(argv, {
  cwd: cwd === "-" ? undefined : cwd,
  keep: (text) => {
    kept += text;
  },
});
const { started_ms, ended_ms, ...rest } = end;
writeFileSync(report, JSON.stringify({ end: rest, kept }));
process.exitCode = end.status;
