/** A process that listens for being asked to stop, cleans up slowly, and says what it hears. */
import { writeSync } from "node:fs";
import { interruptible } from "../../src/host/interrupt.ts";

const interrupt = interruptible({ last: () => writeSync(1, "last\n") });
interrupt.signal.addEventListener("abort", () => writeSync(1, "first\n"));
writeSync(1, "ready\n");
// Its cleaning up never ends by itself.
setInterval(() => {}, 1000);
