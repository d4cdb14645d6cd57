import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockFile } from "../../src/host/lock.ts";

test("a folder is locked by one at a time, and free again when it is let go", () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-lock-"));
  try {
    const unlock = lockFile(folder, 0);
    expect(unlock).not.toBeNull();
    expect(lockFile(folder, 0)).toBeNull();
    unlock?.();
    const again = lockFile(folder, 0);
    expect(again).not.toBeNull();
    again?.();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the lock of a process that was killed is free", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-lock-"));
  const script = `import { lockFile } from ${JSON.stringify(join(import.meta.dir, "..", "..", "src", "host", "lock.ts"))};
    lockFile(process.argv[1], 0); console.log("locked"); setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", script, folder], { stdout: "pipe", stderr: "inherit" });
  try {
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe("locked\n");
    expect(lockFile(folder, 0)).toBeNull();
    child.kill("SIGKILL");
    await child.exited;
    const unlock = lockFile(folder, 0);
    expect(unlock).not.toBeNull();
    unlock?.();
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
});
