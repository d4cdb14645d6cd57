import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChild } from "../../src/host/child.ts";

const SETTING = { cwd: tmpdir(), env: { PATH: process.env.PATH, A: "1" }, stdin: "given", waitMs: 20_000 };

test.each([
  { script: 'cat; echo "$A$B" >&2; exit 3', exit: 3, stdout: "given", stderr: "1\n" },
  { script: "kill -9 $$", exit: 137, stdout: "", stderr: "" },
  { script: "exec <&-; echo closed", exit: 0, stdout: "closed\n", stderr: "" },
])("runs $script to its end", async ({ script, ...ended }) => {
  expect(await runChild(["/bin/sh", "-c", script], SETTING)).toEqual({ kind: "ended", ...ended });
});

test("keeps a million bytes of what is printed and reads the rest", async () => {
  const ran = await runChild(["/bin/sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x"], SETTING);
  expect(ran).toMatchObject({ kind: "ended", exit: 0 });
  expect(ran.kind === "ended" ? ran.stdout.length : 0).toBe(1024 * 1024);
});

test("a program that is not there did not start", async () => {
  const ran = await runChild(["/nowhere/writ"], SETTING);
  expect(ran).toMatchObject({ kind: "not_started", reason: expect.stringContaining("did not start: ") });
});

test.skipIf(process.platform !== "linux")("what does not end in time is killed with all that it began", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-child-"));
  const started = join(folder, "started");
  const script = `(touch '${started}'; sleep 600) & wait`;
  try {
    const ran = await runChild(["/bin/sh", "-c", script], { ...SETTING, cwd: folder, waitMs: 2_000 });
    expect(ran).toEqual({ kind: "late", reason: "did not end within 2 seconds" });
    expect(existsSync(started)).toBe(true);
    // A process that was killed needs a moment to be gone; one that was not sleeps for ten minutes.
    const hasLeft = () => {
      const left = Bun.spawnSync(["sh", "-c", 'for p in /proc/[0-9]*; do readlink "$p/cwd"; done 2>/dev/null']);
      return left.stdout.toString().split("\n").includes(folder);
    };
    while (hasLeft()) await Bun.sleep(20);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
