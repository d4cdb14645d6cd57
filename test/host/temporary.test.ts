import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canLock } from "../../src/host/lock.ts";
import { isAlive } from "../../src/host/process-identity.ts";

const HOLDER = join(import.meta.dir, "..", "support", "temporary-holder.ts");
let place = "";

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "writ-temporary-")));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** A process with a folder of its own, when it has it. */
async function holder() {
  const child = Bun.spawn([process.execPath, HOLDER], {
    env: { ...process.env, TMPDIR: place },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  const held = JSON.parse(new TextDecoder().decode(value)) as { readonly folder: string; readonly stray: number };
  return {
    ...held,
    pid: child.pid,
    async end(signal: "SIGKILL" | null) {
      if (signal === null) child.stdin.end();
      else child.kill(signal);
      await child.exited;
    },
  };
}

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await Bun.sleep(5);
}

test.skipIf(process.platform !== "linux" || !canLock())(
  "what a killed process left is taken away by the next one, with what still runs in it; what lives stays",
  async () => {
    const living = await holder();
    const killed = await holder();
    await killed.end("SIGKILL");
    expect([existsSync(killed.folder), isAlive(killed.stray)]).toEqual([true, true]);
    // Nobody is asked who else has such a name.
    const others = ["writ-gate-kept-AbCdEf", "writ-gate-AbCdEf", `writ-prove-${killed.pid}-AbCdEf`, "else"];
    for (const name of others) mkdirSync(join(place, name));

    const next = await holder();
    expect(existsSync(killed.folder)).toBe(false);
    await gone(killed.stray);
    expect([living, next].map(({ folder }) => existsSync(folder))).toEqual([true, true]);
    expect(isAlive(living.stray)).toBe(true);
    expect(others.filter((name) => !existsSync(join(place, name)))).toEqual([]);

    for (const one of [living, next]) await one.end(null);
    expect([living, next].map(({ folder }) => existsSync(folder))).toEqual([false, false]);
  },
);

test.skipIf(!canLock())("a folder whose process is gone is taken away though another process has its id", async () => {
  const left = join(place, `writ-gate-${process.pid}-AbCdEf`);
  mkdirSync(left);
  const next = await holder();
  expect(existsSync(left)).toBe(false);
  await next.end(null);
});
