/** Another time for one process, by Debian's libfaketime; the clock of the machine is left alone. */
import { existsSync } from "node:fs";

const LIBRARIES = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map(
  (triple) => `/usr/lib/${triple}/faketime/libfaketimeMT.so.1`,
);

/** Null where the library is not installed. */
export function findSteppedClock(): ((step: string) => Record<string, string>) | null {
  const library = LIBRARIES.find((path) => existsSync(path));
  if (library === undefined) return null;
  return (step) => ({
    LD_PRELOAD: library,
    FAKETIME: step,
    // A monotonic clock stays one, as it does where a machine's clock is set.
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    FAKETIME_DISABLE_SHM: "1",
    // Times of files are the kernel's.
    NO_FAKE_STAT: "1",
  });
}
