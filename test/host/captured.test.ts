import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CapturedOptions, runCaptured } from "../../src/host/captured.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-captured-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(argv: readonly string[], more: Partial<CapturedOptions> = {}) {
  let output = "";
  const end = await runCaptured(argv, {
    cwd: folder,
    env: { PATH: process.env.PATH },
    timeout_ms: 60_000,
    signal: new AbortController().signal,
    keep: (text) => {
      output += text;
    },
    ...more,
  });
  return { ...end, output };
}

const sh = (text: string) => ["sh", "-c", text];

/** A named pipe that a command's helper holds open for writing: reading it ends when the last of them is gone. */
function leash(): { readonly path: string; readonly released: Promise<string> } {
  const path = join(folder, `leash-${crypto.randomUUID()}`);
  Bun.spawnSync(["mkfifo", path]);
  return { path, released: Bun.file(path).text() };
}

describe("runCaptured()", () => {
  test.each([
    { text: "exit 0", exit_code: 0, signal: null },
    { text: "exit 7", exit_code: 7, signal: null },
    { text: "kill -9 $$", exit_code: null, signal: "SIGKILL" },
  ])("of $text ends in $exit_code $signal, by itself", async ({ text, exit_code, signal }) => {
    expect(await run(sh(text))).toMatchObject({ exit_code, signal, ended_by: "itself", cut: false });
  });

  test.each([
    { argv: ["writ-no-such-program"], exit_code: 127, says: "writ-no-such-program: not found\n" },
    { argv: ["./plain"], exit_code: 126, says: "./plain: permission denied\n" },
  ])("of $argv is $exit_code", async ({ argv, exit_code, says }) => {
    writeFileSync(join(folder, "plain"), "");
    expect(await run(argv)).toMatchObject({ exit_code, output: says, ended_by: "itself" });
  });

  test("keeps both streams in the order in which they were written", async () => {
    const { output } = await run(sh("for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done"));
    expect(output).toBe("123456789".replaceAll(/\d/g, "o$&\ne$&\n"));
  });

  test("gives it an empty standard input, its folder and exactly the environment", async () => {
    const { output } = await run(sh("cat; pwd; env | grep -c ^ONLY"), {
      env: { PATH: process.env.PATH, ONLY: "x", NOT: undefined },
    });
    expect(output.split("\n").at(-2)).toBe("1");
    expect(output).toContain(folder.split("/").at(-1) ?? "?");
  });

  test("a large output is kept whole, and a character across two pieces too", async () => {
    const { output } = await run(sh("yes 'é€😀' | head -n 100000"));
    expect(output).toBe("é€😀\n".repeat(100_000));
  });

  test("is stopped when the time is up, with everything that it started", async () => {
    const { path, released } = leash();
    const end = await run(sh(`trap '' TERM; sleep 300 > ${path} & wait; sleep 300`), { timeout_ms: 1000 });
    expect(end).toMatchObject({ exit_code: null, signal: "SIGKILL", ended_by: "time" });
    expect(await released).toBe("");
  });

  test("is stopped by the caller's signal, also by one that came before it began", async () => {
    const controller = new AbortController();
    const running = run(sh("echo begun; exec sleep 300"), {
      signal: controller.signal,
      keep: () => controller.abort(),
    });
    expect(await running).toMatchObject({ signal: "SIGTERM", ended_by: "caller" });
    expect(await run(["sleep", "300"], { signal: AbortSignal.abort() })).toMatchObject({ ended_by: "caller" });
  });

  test("what it left running is ended with it, and does not hold us up", async () => {
    const { path, released } = leash();
    const { exit_code, cut } = await run(sh(`{ echo held; exec sleep 300; } > ${path} & echo x > ${path}; exit 3`));
    expect([exit_code, cut]).toEqual([3, false]);
    expect(await released).toContain("x\n");
  });

  test.skipIf(process.platform !== "linux")("what left its group is ended too, by the mark it carries", async () => {
    const { path, released } = leash();
    const mark = crypto.randomUUID();
    const env = { PATH: process.env.PATH, MARK: mark };
    const text = `mkfifo away; setsid sh -c 'echo 1 > away; exec sleep 300' > ${path} & until read x < away; do :; done`;
    expect(await run(sh(text), { env, mark })).toMatchObject({ exit_code: 0 });
    expect(await released).toBe("");
  });

  test("gives it what it reads, and keeps its two streams apart where that is asked for", async () => {
    const kept = { stdout: "", stderr: "" };
    const end = await run(sh("cat; echo oops >&2"), {
      stdin: "given",
      isApart: true,
      keep: (piece, stream) => {
        kept[stream] += piece;
      },
    });
    expect([end.exit_code, kept]).toEqual([0, { stdout: "given", stderr: "oops\n" }]);
  });

  test("closes what it opened", async () => {
    const open = () => new Set(Array.from(new Bun.Glob("*").scanSync({ cwd: "/proc/self/fd", onlyFiles: false }))).size;
    await run(sh("echo x"));
    const before = open();
    for (let time = 0; time < 10; time += 1) {
      await run(sh("echo x"));
      await run(["writ-no-such-program"]);
    }
    // The runtime itself holds one or two for a while; what is leaked at each run would be ten or more.
    expect(open()).toBeLessThan(before + 5);
  });
});
