/** A process that keeps reports, all of one second, in the folder of its argument, when its standard input ends. */
import { keepReport } from "../../src/cli/gate/measure.ts";

const [, , folder = "", count = "1"] = process.argv;
console.log("ready");
await Bun.stdin.text();
for (let at = 0; at < Number(count); at += 1) keepReport(folder, { ran_at: "2026-01-01T00:00:00Z" });
