/** A small disk of its own in the place of a folder, which a test can fill and free. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether this process may mount; a container mostly may not. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), "writ-mount-"));
  try {
    using _ = smallDisk(folder, 1);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Mounts one over a folder, which is made where it is missing. Errors: of `mount` */
export function smallDisk(folder: string, megabytes: number) {
  mkdirSync(folder, { recursive: true });
  const quietly = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: "ignore" });
  quietly("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder);
  const filler = join(folder, "filler");
  return {
    /** To the last block. */
    fill() {
      const whole = `dd if=/dev/zero of="$0" bs=1M count=${megabytes + 1}`;
      quietly("sh", "-c", `${whole}; dd if=/dev/zero of="$0.small" bs=512 count=8000; true`, filler);
    },
    free: () => quietly("rm", "-f", filler, `${filler}.small`),
    /** False when somebody has a file of it open to write. */
    lock: () => attempt(() => quietly("mount", "-o", "remount,ro", folder)),
    unlock: () => quietly("mount", "-o", "remount,rw", folder),
    [Symbol.dispose]: () => void quietly("umount", "-l", folder),
  };
}

function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false; // the mount is busy
  }
}
