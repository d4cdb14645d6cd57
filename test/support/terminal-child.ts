/**
 * A child that tells what it is attached to, then answers each line and each signal until the line "end".
 * It says "ready" when it listens.
 */
import { openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

const counts = { SIGINT: 0, SIGTERM: 0, SIGHUP: 0, SIGQUIT: 0, SIGWINCH: 0 };
for (const signal of Object.keys(counts) as (keyof typeof counts)[]) {
  process.on(signal, () => {
    counts[signal] += 1;
    console.log(`${signal} ${counts[signal]}${signal === "SIGWINCH" ? ` ${sizeOfOutput()}` : ""}`);
  });
}
console.log(`terminals ${[0, 1, 2].map((fd) => isatty(fd)).join(" ")}; ${sizeOfOutput()}`);
writeSync(2, "ready\n");
for await (const line of console) {
  console.log(`line "${line}" after ${counts.SIGINT} SIGINT`);
  if (line === "end") break;
}
process.exitCode = 9;

/** Rows and columns of the terminal that standard output is; what `process.stdout` tells may be from before. */
function sizeOfOutput(): string {
  if (!isatty(1)) return "no size";
  return Bun.spawnSync(["stty", "size"], { stdin: openSync("/dev/fd/1", "r+") })
    .stdout.toString()
    .trim();
}
