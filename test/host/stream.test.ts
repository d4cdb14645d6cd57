import { describe, expect, test } from "bun:test";
import { constants, existsSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInFreshWorld } from "../support/writ.ts";

const WRITER = [process.execPath, join(import.meta.dir, "..", "support", "stream-writer.ts")];
const onLinux = process.platform === "linux";

/** Runs the writer under a shell, with redirections behind it. */
function inShell(redirection: string, ...args: readonly (string | number)[]) {
  return runInFreshWorld(["sh", "-c", `"$@" ${redirection}`, "sh", ...WRITER, ...args.map(String)]);
}

describe("writeAll()", () => {
  test("writes all of a text that is larger than a pipe holds, characters of two bytes whole", async () => {
    const ran = await runInFreshWorld([...WRITER, "1", "1500000"]);
    expect(ran.stdout.length).toBe(1_500_001);
    expect(ran.stdout.replaceAll("é", "")).toBe("\n");
    expect(ran.stderr).toBe("written; terminals false false false");
  });

  test("ends quietly when the reader of standard output is gone", async () => {
    const ran = await inShell("| true", 1, 100_000, 3);
    expect(ran).toEqual({ exit: 0, stdout: "", stderr: "written; terminals false false false" });
  });

  test("ends quietly when the reader of standard error is gone", async () => {
    const ran = await inShell("2>&1 >/dev/null | true", 2, 100_000, 3);
    expect(ran).toEqual({ exit: 0, stdout: "", stderr: "" });
  });

  test.skipIf(!existsSync("/dev/full"))(
    "says output_failed when standard output is full (needs /dev/full)",
    async () => {
      const ran = await inShell(">/dev/full", 1, 10);
      expect(ran.stderr).toStartWith("output_failed: Cannot write standard output: ENOSPC");
    },
  );

  test.skipIf(!onLinux)(
    "says output_failed when standard output is closed, and not for a /dev/null (Linux)",
    async () => {
      const ran = await inShell(">&-", 1, 10);
      expect(ran.stderr).toStartWith("output_failed: Cannot write standard output: it is closed");
      for (const given of [">/dev/null", "1<>/dev/null"])
        expect((await inShell(given, 1, 10)).stderr).toStartWith("written");
    },
  );

  test.skipIf(!existsSync("/dev/full"))("is quiet when standard error is full (needs /dev/full)", async () => {
    const ran = await inShell("2>/dev/full", 2, 10);
    expect(ran.stdout).toStartWith("written");
  });

  test.skipIf(!onLinux)("waits for the reader of a non-blocking pipe (needs mkfifo)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "writ-fifo-"));
    try {
      const path = join(folder, "pipe");
      expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
      const ours = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      const child = Bun.spawn([...WRITER, "1", "500000"], { stdout: ours, stderr: "pipe" });
      // A pipe holds 64 KiB: the writer meets a full one many times before this has read it all.
      const chunk = new Uint8Array(16_384);
      let size = 0;
      while (size < 1_000_001) {
        try {
          size += readSync(ours, chunk);
        } catch {
          // Empty for the moment: the writer has its turn.
          await new Promise(setImmediate);
        }
      }
      expect(await child.exited).toBe(0);
      expect(await new Response(child.stderr).text()).toStartWith("written");
      expect(size).toBe(1_000_001);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("isTerminal()", () => {
  test("is false of a file, of /dev/null and of a closed stream", async () => {
    const ran = await inShell("</dev/null 2>/dev/null", 2, 1);
    expect(ran.stdout).toBe("written; terminals false false false");
    const closed = await inShell("<&-", 2, 1);
    expect(closed.stdout).toStartWith("written; terminals false false");
  });

  test("is true of a terminal", async () => {
    let screen = "";
    const child = Bun.spawn([...WRITER, "1", "1"], {
      terminal: {
        cols: 80,
        rows: 24,
        data: (_, data) => {
          screen += new TextDecoder().decode(data);
        },
      },
    });
    await child.exited;
    child.terminal?.close();
    expect(screen).toContain("written; terminals true true true");
  });
});
