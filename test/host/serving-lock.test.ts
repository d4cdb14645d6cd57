import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freeBytes } from "../../src/host/free-bytes.ts";
import { canLock } from "../../src/host/lock.ts";
import { openLogStream } from "../../src/host/log-stream.ts";
import { ownIdentity } from "../../src/host/process-identity.ts";
import { takeServingLock } from "../../src/host/serving-lock.ts";
import { clearSlotsOf } from "../../src/host/slot-line.ts";

function folder() {
  const path = mkdtempSync(join(tmpdir(), "writ-serving-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

test.skipIf(!canLock())("a folder is served by one process at a time; the next one learns who did it before", () => {
  using here = folder();
  const first = takeServingLock(here.path);
  expect(first.before).toBeNull();
  expect(() => takeServingLock(here.path)).toThrow(expect.objectContaining({ code: "node_running" }));
  first.release();
  const second = takeServingLock(here.path);
  expect(second.before).toEqual(ownIdentity());
  expect(statSync(join(here.path, "node.lock")).mode & 0o777).toBe(0o600);
  second.release();
  writeFileSync(join(here.path, "node.json"), "{");
  const third = takeServingLock(here.path);
  expect(third.before).toBeNull();
  third.release();
  expect(() => takeServingLock(join(here.path, "not-there"))).toThrow(
    expect.objectContaining({ code: "state_failed" }),
  );
});

test("what a process that is gone held at the seats is freed, and nothing of anybody else", () => {
  using here = folder();
  const seat = join(here.path, "slots", "abc");
  mkdirSync(seat, { recursive: true });
  const owned = (name: string, owner: object) => writeFileSync(join(seat, name), JSON.stringify(owner));
  owned("0", { pid: 7, start: "100", token: "t" });
  owned("1", { pid: 7, start: "101", token: "t" });
  owned("2", { pid: 8, start: "100", token: "t" });
  owned("q-1-7", { pid: 7, start: "100", token: "t" });
  writeFileSync(join(seat, "3"), "nobody's");
  clearSlotsOf(here.path, { pid: 7, start: null });
  clearSlotsOf(join(here.path, "not-there"), { pid: 7, start: "100" });
  expect(readdirSync(seat)).toHaveLength(5);
  clearSlotsOf(here.path, { pid: 7, start: "100" });
  expect(readdirSync(seat).sort()).toEqual(["1", "2", "3"]);
});

test("a disk tells how much is free; a folder that is not there tells nothing", () => {
  expect(freeBytes(tmpdir())).toBeGreaterThan(0);
  expect(freeBytes("/not/there")).toBeNull();
});

test("the log of a process that serves comes out in order, and a reader that does not read holds nobody up", async () => {
  const script = `
    import { openLogStream } from ${JSON.stringify(join(import.meta.dir, "../../src/host/log-stream.ts"))};
    const log = openLogStream(2);
    for (let n = 0; n < 3; n += 1) log.write("line " + n);
    await log.flush(5000);
    for (let n = 0; n < 5000; n += 1) log.write("x".repeat(1000));
    await log.flush(20);
    console.log("not held up");
    process.kill(process.pid, "SIGKILL");`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
  expect(await new Response(child.stdout).text()).toBe("not held up\n");
  expect(await new Response(child.stderr).text()).toStartWith("line 0\nline 1\nline 2\nxxx");
  await child.exited;
  // A stream that is closed is nobody's trouble.
  const gone = openLogStream(987_654);
  gone.write("to nobody");
  await gone.flush(5000);
});
