import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Report } from "../support/command-runner.ts";
import { openScreen } from "../support/screen.ts";
import { type LivingWorld, livingWorld, type Ran, type Setting } from "../support/writ.ts";

const SUPPORT = join(import.meta.dir, "..", "support");
const RUNNER = [process.execPath, join(SUPPORT, "command-runner.ts")];
const CHILD = [process.execPath, join(SUPPORT, "terminal-child.ts")];
const onLinux = process.platform === "linux";

let world: LivingWorld;
let reports = 0;

beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

type Outcome = Ran & { readonly report: Report };

function newReport(): string {
  reports += 1;
  return join(world.folder, `report-${reports}.json`);
}

function readReport(path: string): Report {
  return JSON.parse(readFileSync(path, "utf8")) as Report;
}

/** Runs words under `runCommand` in a script of bash, where `"$@"` is the call. */
async function inShell(script: string, words: readonly string[], setting: Setting = {}): Promise<Outcome> {
  const report = newReport();
  const ran = await world.shell(script, setting, ...RUNNER, report, ...words);
  return { ...ran, report: readReport(report) };
}

/** The same with standard output and standard error apart. */
function run(words: readonly string[], setting: Setting = {}): Promise<Outcome> {
  return inShell('exec "$@"', words, setting);
}

const sh = (script: string, ...words: string[]) => ["sh", "-c", script, "sh", ...words];

describe("the end of a command", () => {
  test.each([
    { words: ["true"], status: 0, exit_code: 0, signal: null },
    { words: sh("exit 7"), status: 7, exit_code: 7, signal: null },
    { words: sh("exit 137"), status: 137, exit_code: 137, signal: null }, // told, not killed
    { words: sh("kill -KILL $$"), status: 137, exit_code: null, signal: "SIGKILL" },
    { words: sh("kill -TERM $$"), status: 143, exit_code: null, signal: "SIGTERM" },
    { words: sh("kill -PIPE $$"), status: 141, exit_code: null, signal: "SIGPIPE" },
  ])("is status $status, exit $exit_code and signal $signal for $words", async ({ words, ...end }) => {
    const { exit, report } = await run(words);
    expect(exit).toBe(end.status);
    expect(report).toMatchObject({ ...end, cut: false, ordered: true, kept: "" });
    expect(report.started_ms).toBeLessThanOrEqual(report.ended_ms);
  });

  test.skipIf(!onLinux)("has the number of a signal that has no name (Linux)", async () => {
    const { exit, report } = await run(sh("kill -40 $$"));
    expect({ exit, ...report }).toMatchObject({ exit: 168, status: 168, exit_code: null, signal: "SIG40" });
  });

  test.each([
    { words: ["no-such-program"], status: 127, says: "no-such-program: not found" },
    { words: ["./no/such/program"], status: 127, says: "./no/such/program: not found" },
    { words: ["/"], status: 126, says: "/: permission denied" },
    { words: ["./not-executable"], status: 126, says: "./not-executable: permission denied" },
    { words: ["echo", "@LONG"], status: 126, says: "echo: " }, // E2BIG
    { words: ["echo", "@NUL"], status: 126, says: "echo: " },
  ])("is $status where $words cannot be started, and its copy says so", async ({ words, status, says }) => {
    writeFileSync(join(world.folder, "not-executable"), "#!/bin/sh\n");
    const { exit, stdout, stderr, report } = await run(words);
    expect({ exit, stdout }).toEqual({ exit: status, stdout: "" });
    expect(stderr).toStartWith(`writ run: ${says}`);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(report).toMatchObject({ exit_code: status, signal: null, status, kept: stderr, ordered: true, cut: false });
  });

  test("is that of sh for a script that names no interpreter, as under a shell", async () => {
    const script = join(world.folder, "bare-script");
    writeFileSync(script, 'echo "$1 of $0"; exit 3\n');
    chmodSync(script, 0o755);
    const { exit, stdout } = await run(["./bare-script", "one two"]);
    expect({ exit, stdout }).toEqual({ exit: 3, stdout: "one two of ./bare-script\n" });
    const found = await run(["bare-script", "x"], { env: { PATH: `${world.folder}:${process.env.PATH}` } });
    expect(found).toMatchObject({ exit: 3, stdout: `x of ${script}\n` });
  });

  test("comes from the folder it was told to run in", async () => {
    const folder = join(world.folder, "a folder é");
    mkdirSync(folder);
    writeFileSync(join(folder, "here"), "#!/bin/sh\npwd -P\n", { mode: 0o755 });
    const { stdout } = await run(["./here"], { env: { RUN_CWD: folder } });
    expect(stdout).toEndWith("/a folder é\n");
  });

  test("comes with the environment and the arguments as they were", async () => {
    const words = ["printf", "[%s]", "", "a b", "$HOME", "'\"\\", "é\n", "*"];
    const { stdout } = await run([...sh('printf "%s|" "$ODD"; shift 0; "$@"'), ...words], { env: { ODD: " x\ny " } });
    expect(stdout).toBe(" x\ny |[][a b][$HOME]['\"\\][é\n][*]");
  });
});

describe("what a command prints", () => {
  test("passes unchanged, 8 MiB of any bytes on either stream", async () => {
    const bytes = new Uint8Array(8 * 1024 * 1024);
    for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    const digest = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    writeFileSync(join(world.folder, "bytes"), bytes);
    const out = await inShell('"$@" 2>err >out; sha256sum <out; wc -c <err', ["cat", "bytes"]);
    expect(out.stdout).toBe(`${digest}  -\n0\n`);
    const err = await inShell('"$@" 2>&1 >out | sha256sum; wc -c <out', sh("cat bytes >&2"));
    expect(err.stdout).toBe(`${digest}  -\n0\n`);
    const both = await inShell('"$@" 2>&1 | sha256sum', ["cat", "bytes"]);
    expect(both.stdout).toBe(`${digest}  -\n`);
    expect(out.report.kept_length).toBe(err.report.kept_length);
  });

  const LINES = Array.from({ length: 300 }, (_, line) => `out ${line}\nerr ${line}\n`).join("");
  const ALTERNATE = sh('i=0; while [ $i -lt 300 ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done');

  test.each([
    { where: "one pipe", script: '"$@" 2>&1' },
    { where: "one file", script: '"$@" >file 2>&1; cat file' },
    { where: "one file at its end", script: 'echo >file; "$@" >>file 2>>file; tail -n +2 file' },
  ])("keeps its order where both streams are $where", async ({ script }) => {
    const { stdout, stderr, report } = await inShell(script, ALTERNATE);
    expect({ stdout, stderr }).toEqual({ stdout: LINES, stderr: "" });
    expect(report).toMatchObject({ ordered: true, kept: LINES });
  });

  test("stays apart where the streams are, and is not in order then", async () => {
    const { stdout, stderr, report } = await run(ALTERNATE);
    expect(stdout).toBe(LINES.replaceAll(/err .*\n/g, ""));
    expect(stderr).toBe(LINES.replaceAll(/out .*\n/g, ""));
    expect(report.ordered).toBe(false);
    expect(report.kept.split("\n").sort()).toEqual(LINES.split("\n").sort());
  });

  test.each([
    { what: "standard output", words: sh("echo text") },
    { what: "standard error", words: sh("echo text >&2") },
  ])("is in order where it is on $what alone", async ({ words }) => {
    expect((await run(words)).report).toMatchObject({ ordered: true, kept: "text\n" });
  });

  test("may be written to /dev/stdout and /dev/stderr, which a socket would refuse", async () => {
    const words = sh("echo out >/dev/stdout; echo err >/dev/stderr");
    expect(await run(words)).toMatchObject({ exit: 0, stdout: "out\n", stderr: "err\n" });
    expect(await inShell('"$@" 2>&1', words)).toMatchObject({ stdout: "out\nerr\n", stderr: "" });
  });

  test("is kept as text with a character that came in pieces whole", async () => {
    const words = sh("printf '\\303'; read go <go; printf '\\251'");
    const script = 'mkfifo go; "$@" | { head -c 1 >first; echo >go; cat >rest; cat first rest; }; rm go';
    const { stdout, report } = await inShell(script, words);
    expect(stdout).toBe("é");
    expect(report.kept).toBe("é");
  });

  test("reaches a reader as it comes: a line before the command has ended", async () => {
    const words = sh('echo first; read answer; echo "got $answer"');
    const script = 'mkfifo answer; exec 3<>answer; "$@" <answer | { read line; echo "$line" >&3; cat; }; rm answer';
    expect((await inShell(script, words)).stdout).toBe("got first\n");
  });

  test.skipIf(!onLinux)("loses nothing on a pipe that somebody made non-blocking (needs mkfifo)", async () => {
    const path = join(world.folder, "nonblocking");
    expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
    const ours = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const report = newReport();
    const child = Bun.spawn([...RUNNER, report, "head", "-c", "1000000", "/dev/zero"], {
      stdin: "ignore",
      stdout: ours,
      stderr: "pipe",
    });
    const chunk = new Uint8Array(16_384);
    let size = 0;
    while (size < 1_000_000) {
      try {
        size += readSync(ours, chunk);
      } catch {
        await new Promise(setImmediate); // empty for the moment
      }
    }
    expect(await child.exited).toBe(0);
    closeSync(ours);
    expect(size).toBe(1_000_000);
    expect(readReport(report)).toMatchObject({ kept_length: 1_000_000, cut: false });
  });

  test("waits for a slow reader in bounded memory", async () => {
    // 512 MiB through a reader that takes 4 KiB at a time.
    const words = ["head", "-c", String(512 * 1024 * 1024), "/dev/zero"];
    const { stdout, report } = await inShell('"$@" | dd bs=4096 2>/dev/null | wc -c', words);
    expect(stdout.trim()).toBe(String(512 * 1024 * 1024));
    expect(report).toMatchObject({ kept_length: 512 * 1024 * 1024, cut: false });
    expect(report.peak_bytes).toBeLessThan(400 * 1024 * 1024);
  });

  test.concurrent("loses nothing when the command has long ended before its reader goes on", async () => {
    // What fits into the pipes lets the command end; the reader begins later than the grace for open channels.
    const { stdout, report } = await inShell('"$@" | { sleep 2.5; wc -c; }', ["head", "-c", "190000", "/dev/zero"]);
    expect(stdout.trim()).toBe("190000");
    expect(report).toMatchObject({ kept_length: 190_000, cut: false, status: 0 });
  });

  test.concurrent("is cut where something that the command started holds it open", async () => {
    const { exit, stdout, report } = await run(sh("sleep 60 & echo $!; echo done >&2; exit 4"));
    process.kill(Number(stdout));
    expect(exit).toBe(4);
    expect(report).toMatchObject({ exit_code: 4, cut: true, kept_length: stdout.length + 5 });
  });

  test.concurrent("is cut where something that the command started writes on without end", async () => {
    const { exit, report } = await inShell('"$@" 2>/dev/null | wc -c', sh("yes & exit 0"));
    expect(exit).toBe(0);
    expect(report).toMatchObject({ status: 0, cut: true });
  });

  test("is whole where the command has ended and what it started ends soon", async () => {
    const { stdout, report } = await run(sh("(read go <&3; echo late) 3<&0 & echo soon"), { stdin: "go\n" });
    expect(stdout.split("\n").sort()).toEqual(["", "late", "soon"]);
    expect(report.cut).toBe(false);
  });
});

describe("a reader that goes away", () => {
  test.each([
    { which: "standard output", script: '"$@" | head -n 1; echo "$PIPESTATUS"', words: ["yes"] },
    {
      which: "standard error",
      script: '"$@" 2>&1 >/dev/null | head -n 1; echo "$PIPESTATUS"',
      words: sh("exec yes >&2"),
    },
    { which: "both in one", script: '"$@" 2>&1 | head -n 1; echo "$PIPESTATUS"', words: ["yes"] },
  ])("ends the command by SIGPIPE while it writes: $which", async ({ script, words }) => {
    const { stdout, stderr, report } = await inShell(script, words);
    expect({ stdout, stderr }).toEqual({ stdout: "y\n141\n", stderr: "" });
    expect(report).toMatchObject({ exit_code: null, signal: "SIGPIPE", status: 141, cut: true });
  });

  test("ends the command by SIGPIPE when it had gone before the first write", async () => {
    const script = 'mkfifo gone; "$@" | { exec <&-; echo >gone; }; echo "$PIPESTATUS"; rm gone';
    const { stdout, report } = await inShell(script, sh("read go <gone; exec yes"));
    expect(stdout).toBe("141\n");
    expect(report).toMatchObject({ signal: "SIGPIPE", cut: true });
  });

  test("leaves the other stream alone", async () => {
    const words = sh("trap '' PIPE; read go <gone; echo out; echo out; echo err >&2; exit 6");
    const script = 'mkfifo gone; { "$@" 2>&3 | { exec <&-; echo >gone; }; } 3>&1; echo "$PIPESTATUS"; rm gone';
    const { stdout, report } = await inShell(script, words);
    expect(stdout).toContain("err\n");
    expect(report).toMatchObject({ exit_code: 6 });
  });

  test.skipIf(!existsSync("/dev/full"))(
    "may be a full disk: one line says so, the status stays (needs /dev/full)",
    async () => {
      const { exit, stderr, report } = await inShell('exec "$@" >/dev/full', sh("echo out; exit 5"));
      expect(exit).toBe(5);
      expect(stderr).toMatch(/^writ run: standard output cannot be passed on: ENOSPC[^\n]*\n$/);
      expect(report).toMatchObject({ exit_code: 5, kept: "out\n", cut: true });
    },
  );
});

test("a command runs as well where a stream of ours is closed", async () => {
  const words = sh("echo out; echo err >&2; exit 3");
  const out = await inShell('"$@" >&-', words);
  const err = await inShell('"$@" 2>&-', words);
  expect([out.exit, out.stderr, err.exit, err.stdout]).toEqual([3, "err\n", 3, "out\n"]);
});

describe("standard input", () => {
  const COUNT = ["wc", "-c"];

  test.each([
    { what: "a pipe", script: 'head -c 300000 /dev/zero | "$@"', bytes: "300000" },
    { what: "a file", script: 'head -c 300000 /dev/zero >input; "$@" <input', bytes: "300000" },
    { what: "/dev/null", script: '"$@" </dev/null', bytes: "0" },
    { what: "closed", script: '"$@" <&-', bytes: "0" },
  ])("is the command's own where it is $what", async ({ script, bytes }) => {
    expect((await inShell(script, COUNT)).stdout.trim()).toBe(bytes);
  });

  test("is left to the next command where this one does not read it", async () => {
    expect((await inShell('"$@"; cat', ["true"], { stdin: "left" })).stdout).toBe("left");
  });
});

describe("a signal sent to writ", () => {
  // Standard input stays open, so that only the signal or a line ends the child.
  test.each(["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"] as const)("reaches the command: %s", async (signal) => {
    const report = newReport();
    const child = Bun.spawn([...RUNNER, report, ...CHILD], {
      env: world.env(),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    const talk = child.stderr.getReader();
    expect(new TextDecoder().decode((await talk.read()).value)).toBe("ready\n");
    child.kill(signal);
    let text = "";
    let isTold = false;
    for await (const piece of child.stdout) {
      text += new TextDecoder().decode(piece);
      if (isTold || !text.includes(`${signal} 1\n`)) continue;
      isTold = true;
      child.stdin.write("end\n");
      child.stdin.end();
    }
    expect(await child.exited).toBe(9);
    expect(text).toBe(
      `terminals false false false; no size\n${signal} 1\nline "end" after ${signal === "SIGINT" ? 1 : 0} SIGINT\n`,
    );
    expect(readReport(report)).toMatchObject({ exit_code: 9, signal: null });
  });

  test("ends in the command's own end where the command does not catch it", async () => {
    const report = newReport();
    const child = Bun.spawn([...RUNNER, report, ...sh("echo ready; exec sleep 60")], {
      env: world.env(),
      stdout: "pipe",
    });
    await child.stdout.getReader().read();
    child.kill("SIGTERM");
    expect(await child.exited).toBe(143);
    expect(readReport(report)).toMatchObject({ exit_code: null, signal: "SIGTERM", kept: "ready\n" });
  });
});

describe.skipIf(!onLinux)("in a terminal (Linux),", () => {
  const open = (report: string, words: readonly string[], size: { columns?: number; rows?: number } = {}) =>
    openScreen([...RUNNER, report, ...words], { env: world.env(), cwd: world.folder, ...size });

  test("all three streams of the command are one, of the same size, and lines typed reach it", async () => {
    const report = newReport();
    const screen = open(report, CHILD, { columns: 91, rows: 17 });
    await screen.shows("ready");
    screen.type("hello\r");
    await screen.shows('line "hello"');
    screen.type("end\r");
    expect(await screen.ended).toBe(9);
    expect(screen.text()).toContain("terminals true true true; 17 91\r\n");
    const { kept, ordered } = readReport(report);
    expect(kept).toBe(
      'terminals true true true; 17 91\nready\nline "hello" after 0 SIGINT\nline "end" after 0 SIGINT\n',
    );
    expect(ordered).toBe(true);
  });

  test("Ctrl-C is one SIGINT for the command", async () => {
    const screen = open(newReport(), CHILD);
    await screen.shows("ready");
    screen.type("\x03");
    await screen.shows("SIGINT 1");
    screen.type("end\r");
    expect(await screen.ended).toBe(9);
    expect(screen.text()).toContain('line "end" after 1 SIGINT');
    expect(screen.text()).not.toContain("SIGINT 2");
  });

  test("Ctrl-C ends a command that does not catch it, and the end is recorded", async () => {
    const report = newReport();
    const screen = open(report, sh("echo ready; exec sleep 60"));
    await screen.shows("ready");
    screen.type("\x03");
    expect(await screen.ended).toBe(130);
    expect(readReport(report)).toMatchObject({ exit_code: null, signal: "SIGINT" });
  });

  test("the command's terminal has the new size when the window changes", async () => {
    const screen = open(newReport(), CHILD, { columns: 80, rows: 24 });
    await screen.shows("ready");
    screen.resize(101, 31);
    await screen.shows(" 31 101");
    screen.type("end\r");
    expect(await screen.ended).toBe(9);
  });

  test("what the command prints is shown as it would be without writ, and kept without the terminal's own bytes", async () => {
    const words = sh("printf 'one\\ntwo\\r\\033[31mred\\033[0m\\ttab\\n'; printf 'err\\n' >&2; printf '\\303\\251'");
    const report = newReport();
    const through = open(report, words);
    await through.ended;
    const direct = openScreen(words, { env: world.env(), cwd: world.folder });
    await direct.ended;
    expect(through.text()).toBe(direct.text());
    expect(readReport(report).kept).toBe("one\ntwo\r\x1b[31mred\x1b[0m\ttab\nerr\né");
  });

  test("a stream that goes to a file is no terminal for the command, and the other one stays one", async () => {
    const report = newReport();
    const screen = openScreen(["bash", "-c", '"$@" 2>stderr-file', "bash", ...RUNNER, report, ...CHILD], {
      env: world.env(),
      cwd: world.folder,
    });
    await screen.shows("terminals true true false; 24 80");
    screen.type("end\r");
    expect(await screen.ended).toBe(9);
    expect(readFileSync(join(world.folder, "stderr-file"), "utf8")).toBe("ready\n");
    expect(readReport(report)).toMatchObject({ ordered: false });
  });

  test.concurrent("a terminal that something holds open is cut as well", async () => {
    const report = newReport();
    const screen = open(report, sh("sleep 60 & echo $!"));
    expect(await screen.ended).toBe(0);
    process.kill(Number.parseInt(screen.text(), 10));
    expect(readReport(report).cut).toBe(true);
  });

  test("10 MB pass through a terminal whole", async () => {
    const report = newReport();
    const screen = open(report, sh("head -c 10000000 /dev/zero | tr '\\0' x; echo"));
    await screen.ended;
    expect(screen.text()).toBe(`${"x".repeat(10_000_000)}\r\n`);
    expect(readReport(report).kept_length).toBe(10_000_001);
  });
});
