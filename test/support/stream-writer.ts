/** Writes as many characters as it is told to a standard stream, by `writeAll`, and tells what came of it on the other. */
import { WritError } from "../../src/core/error.ts";
import { isTerminal, writeAll } from "../../src/host/stream.ts";

const [stream, size, times] = process.argv.slice(2).map(Number);
const fd = stream === 2 ? 2 : 1;
const other = fd === 1 ? 2 : 1;
try {
  for (let time = 0; time < (times ?? 1); time++) writeAll(fd, `${"é".repeat(size ?? 1)}\n`);
  writeAll(other, `written; terminals ${[isTerminal(0), isTerminal(1), isTerminal(2)].join(" ")}`);
} catch (error) {
  writeAll(other, error instanceof WritError ? `${error.code}: ${error.message}` : `defect: ${error}`);
}
