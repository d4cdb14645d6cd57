import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RUNNER = [process.execPath, join(import.meta.dir, "..", "support", "run-reporter.ts")];
const environment = process.env;
const onLinux = process.platform === "linux";

type Report = {
  readonly end: {
    readonly exit_code: number | null;
    readonly signal: string | null;
    readonly status: number;
    readonly cut: boolean;
    readonly ordered: boolean;
  };
  readonly kept: string;
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-process-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const reportPath = () => join(folder, "report.json");
const report = (): Report => JSON.parse(readFileSync(reportPath(), "utf8"));

/** The words that run a command under the runner, in a folder. */
const runner = (argv: readonly string[], cwd = "-") => [...RUNNER, reportPath(), cwd, ...argv];

const bytesOf = async (stream: ReadableStream<Uint8Array>) => new Uint8Array(await new Response(stream).arrayBuffer());
const textOf = (stream: ReadableStream<Uint8Array>) => new Response(stream).text();

/** Runs a command with its streams apart. */
async function apart(argv: readonly string[], cwd?: string, variables: Readonly<Record<string, string>> = {}) {
  const process = Bun.spawn(runner(argv, cwd), {
    env: { ...environment, ...variables },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exit] = await Promise.all([bytesOf(process.stdout), textOf(process.stderr), process.exited]);
  return { bytes: stdout, stdout: new TextDecoder().decode(stdout), stderr, exit, ...report() };
}

/** Runs a command under a shell, behind which redirections or a pipeline follow. */
async function inShell(rest: string, argv: readonly string[], before = "") {
  const words = ["sh", "-c", `${before} "$@" ${rest}`, "sh", ...runner(argv)];
  const process = Bun.spawn(words, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([textOf(process.stdout), textOf(process.stderr), process.exited]);
  return { stdout, stderr, ...report() };
}

/** Runs a command on a terminal of 31 rows and 91 columns, and types what is due once a text was seen. */
async function onTerminal(
  argv: readonly string[],
  steps: readonly (readonly [string, (at: Terminal) => void])[] = [],
  within: (words: readonly string[]) => readonly string[] = (words) => words,
) {
  let screen = "";
  const waiting = [...steps];
  const decoder = new TextDecoder();
  const process = Bun.spawn([...within(runner(argv))], {
    terminal: {
      cols: 91,
      rows: 31,
      data(terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true });
        for (let next = waiting[0]; next !== undefined && screen.includes(next[0]); next = waiting[0]) {
          waiting.shift();
          next[1]({
            type: (keys) => terminal.write(keys),
            resize: (columns, rows) => terminal.resize(columns, rows),
            kill: (signal) => process.kill(signal),
          });
        }
      },
    },
  });
  await process.exited;
  process.terminal?.close();
  return { screen, ...report() };
}
type Terminal = {
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
};

describe("a command that cannot be started", () => {
  const script = (name: string, text: string, mode: number) => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  };

  test.each([
    { argv: ["no-such-program"], status: 127, says: "writ run: no-such-program: not found\n" },
    { argv: ["./nowhere"], status: 127, says: "writ run: ./nowhere: not found\n" },
    { argv: [""], status: 127, says: "writ run: : not found\n" },
    { argv: ["on-path"], status: 126, says: "writ run: on-path: permission denied\n" },
    { argv: ["./plain"], status: 126, says: "writ run: ./plain: permission denied\n" },
    { argv: ["/"], status: 126, says: "writ run: /: permission denied\n" },
    { argv: ["./orphan"], status: 127, says: "writ run: ./orphan: not found: what should run it is missing\n" },
    { argv: ["bad\u001b[31mname"], status: 127, says: "writ run: bad?[31mname: not found\n" },
  ])("ends $argv in $status and says why, also in the record", async ({ argv, status, says }) => {
    script("plain", "echo\n", 0o644);
    script("on-path", "echo\n", 0o644);
    script("orphan", "#!/no/such/interpreter\n", 0o755);
    const ran = await apart(argv, folder, { PATH: `${folder}:${process.env.PATH}` });
    expect(ran).toMatchObject({ stderr: says, kept: says, exit: status });
    expect(ran.end).toEqual({ exit_code: status, signal: null, status, cut: false, ordered: true });
  });

  test("is 126 where the folder is no folder", async () => {
    expect(await apart(["true"], join(folder, "nowhere"))).toMatchObject({ exit: 126 });
  });
});

describe("the output of a command", () => {
  test("is passed on byte by byte, and kept as text", async () => {
    const ran = await apart(["printf", "\\357\\273\\277\\303\\251\\377\\000\\r\\n\\342\\202"]);
    expect([...ran.bytes]).toEqual([0xef, 0xbb, 0xbf, 0xc3, 0xa9, 0xff, 0, 13, 10, 0xe2, 0x82]);
    expect(ran.kept).toBe("\ufeffé\ufffd\0\r\n\ufffd");
  });
});

describe("what surrounds a command", () => {
  test("are the files that a shell opened for it", async () => {
    writeFileSync(join(folder, "given"), "given\n");
    const ran = await inShell("", ["cat", "/dev/fd/7"], `exec 7<${folder}/given;`);
    expect(ran.stdout).toBe("given\n");
  });

  test.skipIf(!onLinux)("are the signals that were ignored for us, and no others", async () => {
    const ran = await inShell("", ["grep", "SigIgn", "/proc/self/status"], "trap '' HUP INT;");
    expect(Number.parseInt(ran.stdout.split(":")[1]?.trim() ?? "", 16)).toBe(0b11);
    const plain = await apart(["grep", "SigIgn", "/proc/self/status"]);
    expect(Number.parseInt(plain.stdout.split(":")[1]?.trim() ?? "", 16)).toBe(0);
  });
});

describe.skipIf(process.platform === "win32")("on a terminal, a command", () => {
  test("gets keys at once when it asks for them through its output, and leaves our terminal as it was", async () => {
    const script =
      'stty -icanon -echo <&1; printf ready; k=$(dd bs=1 count=1 2>/dev/null); stty icanon echo <&1; echo "<$k>"';
    const ran = await onTerminal(["sh", "-c", script], [["ready", ({ type }) => type("q")]], (words) => [
      "sh",
      "-c",
      '"$@"; stty -a',
      "sh",
      ...words,
    ]);
    expect(ran.screen).toStartWith("ready<q>\r\n");
    expect(ran.screen).toMatch(/\sicanon\b/);
    expect(ran.screen).toMatch(/\secho\b/);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("gets %s that is sent to us alone", async (signal) => {
    // The shell has a handler of its own for SIGINT: the signal waits until sed, which has none, has answered.
    const ran = await onTerminal(
      ["sh", "-c", "echo ready; exec sed -u s/^/got-/"],
      [
        ["ready", ({ type }) => type("go\n")],
        ["got-go", ({ kill }) => kill(signal)],
      ],
    );
    expect(ran.end.signal).toBe(signal);
  });

  test("can leave something running behind it", async () => {
    const ran = await onTerminal(["sh", "-c", "sleep 30 >/dev/null 2>&1 & echo $!"]);
    expect(ran.end.cut).toBe(false);
    expect(process.kill(Number(ran.kept.trim()), "SIGTERM")).toBe(true);
  });
});
