/** A process that holds a temporary folder, with something at work in it, until its standard input ends. */
import { openTemporary } from "../../src/host/temporary.ts";

const held = openTemporary("gate");
// In a session of its own: the end of this process is none of its concern.
const stray = Bun.spawn(["setsid", "sleep", "300"], {
  env: { PATH: process.env.PATH, TMPDIR: `${held.folder}/1/scratch/tmp` },
  stdin: "ignore",
  stdout: "ignore",
  stderr: "ignore",
});
stray.unref();
console.log(JSON.stringify({ folder: held.folder, stray: stray.pid }));
await Bun.stdin.text();
stray.kill("SIGKILL");
held.remove();
