import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Capture } from "../../../src/core/record/tool-record.ts";
import { outsideOfGit } from "../../../src/host/git-call.ts";
import { born, closing, everything, fill, finalize, ran } from "../../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";
import { type Ran, runWrit, shown, writCommand } from "../../support/writ.ts";

const noGit = Bun.which("git") === null;
let world: ScriptedWorld;
/** The folder that commands ran in, and the one for temporary files of the calls. */
let work = "";
let temporary = "";

beforeEach(() => {
  world = scriptedWorld({ programs: ["sh", "cat", "./check.sh"] });
  work = join(realpathSync(world.folder), "app");
  temporary = join(realpathSync(world.folder), "tmp");
  for (const folder of [work, temporary]) mkdirSync(folder);
});
afterEach(() => world[Symbol.dispose]());

/** A closed turn that cites a command, as if it had ended so. */
function provable(command: string, more: Partial<Capture> = {}): string {
  const id = born(world);
  ran(world, id, command, { cwd: work, ...more });
  const verification = { type: "command", command, result: "pass" };
  fill(world, id, closing("COMPLETE", { evidence_report: { verification } }));
  finalize(world, id);
  return id;
}

function environment(): Record<string, string> {
  return { WRIT_DATA_DIR: world.folder, TMPDIR: temporary, WRIT_CONTRACT_ID: "a1111111111111111.222222222222" };
}

async function prove(args: readonly string[]): Promise<Ran> {
  return await runWrit(["contract", "prove", ...args], { env: environment() });
}

describe("writ contract prove", () => {
  test("says that today agrees, and of what the copy was", async () => {
    writeFileSync(join(work, "data"), "hello");
    const id = provable("grep -q hello data");
    expect(shown(await prove([id]))).toBe(
      [
        "OK: today agrees with the row (handoff_id=1).",
        "command  grep -q hello data",
        "row      exit 0 (record, seq 1)",
        "today    exit 0",
        `copy     folder ${work}, 1 files, 5 bytes`,
        "--- exit 0\n",
      ].join("\n"),
    );
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("says that today does not agree, and shows what was printed", async () => {
    writeFileSync(join(work, "data"), "other");
    const ran = await prove([provable("cat data; grep -q hello data")]);
    expect(shown(ran)).toBe(
      [
        "No: today does not agree with the row (handoff_id=1).",
        "command  cat data; grep -q hello data",
        "row      exit 0 (record, seq 1)",
        "today    exit 1",
        `copy     folder ${work}, 1 files, 5 bytes`,
        "",
        "  other",
        "--- exit 1\n",
      ].join("\n"),
    );
  });

  test("works on the copy alone: the folder and the store stay as they are, and it is no run of the turn", async () => {
    writeFileSync(join(work, "data"), "hello");
    const command = `cd ${work} && echo new > data && touch more && env | grep -E '^(WRIT_CONTRACT_ID|PWD)=' && pwd`;
    const id = provable(command);
    const before = everything(world);
    const ran = await prove([id, "--json"]);
    const answer = JSON.parse(ran.stdout);
    const copied = answer.moved_command.split(" ")[1];
    expect(answer).toMatchObject({ ok: true, status: "agrees", command, found: { exit_code: 0, tail: null } });
    expect(answer.found.output).toBe(`PWD=${copied}\n${copied}\n`);
    expect(copied).toStartWith(join(temporary, "writ-prove-"));
    expect(readFileSync(join(work, "data"), "utf8")).toBe("hello");
    expect(readdirSync(work)).toEqual(["data"]);
    expect(everything(world)).toEqual(before);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("runs words as words", async () => {
    const argv = ["sh", "-c", 'test "$1" = "a  b"', "x", "a  b"];
    expect((await prove([provable("sh -c …", { argv })])).exit).toBe(0);
  });

  test("a program that goes by PWD finds the copy there", async () => {
    const ran = await prove([provable("printenv PWD", { argv: ["printenv", "PWD"] }), "--json"]);
    expect(JSON.parse(ran.stdout).found.output).toStartWith(join(temporary, "writ-prove-"));
  });

  test.skipIf(noGit)(
    "of a git work tree it takes the present state, and names what is not in it (needs git)",
    async () => {
      const git = (...args: string[]) =>
        Bun.spawnSync(["git", "-C", work, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
          env: outsideOfGit(process.env),
        }).stdout.toString();
      mkdirSync(join(work, "sub"));
      writeFileSync(join(work, ".gitignore"), "built\n");
      writeFileSync(join(work, "sub/check.sh"), "#!/bin/sh\ntest -e ../built\n");
      chmodSync(join(work, "sub/check.sh"), 0o755);
      git("init");
      git("add", "-A");
      git("commit", "-m", "one");
      writeFileSync(join(work, "built"), "");
      writeFileSync(join(work, "new"), "");
      const commit = git("rev-parse", "HEAD").slice(0, 12);
      const ran = await prove([provable("./check.sh", { cwd: join(work, "sub"), argv: ["./check.sh"] })]);
      expect(shown(ran)).toBe(
        [
          "No: today does not agree with the row (handoff_id=1).",
          "command  ./check.sh",
          "row      exit 0 (record, seq 1)",
          "today    exit 1",
          `copy     git state of ${work} at ${commit}, dirty, 3 files, 33 bytes`,
          "not in it, since git ignores them: built",
          "--- exit 1\n",
        ].join("\n"),
      );
    },
  );

  test("leaves out a named pipe and says so on standard error", async () => {
    Bun.spawnSync(["mkfifo", join(work, "pipe")]);
    const ran = await prove([provable("true"), "--json"]);
    expect([ran.exit, ran.stderr]).toEqual([0, "Left out of the copy: pipe: a named pipe\n"]);
    expect(JSON.parse(ran.stdout).copy.skipped).toEqual(["pipe: a named pipe"]);
  });

  test("a secret in today's output is redacted, and its control sequences reach no reader of text", async () => {
    const ran = await prove([provable("printf 'AKIAABCDEFGHIJKLMNOP \\033[31mred\\n'; false")]);
    expect(ran.stdout).toContain("\n  [REDACTED] red\n");
  });

  test.each([
    { what: "an open turn", id: () => born(world), exit: 3, code: "not_closed" },
    { what: "an unknown id", id: () => "41", exit: 3, code: "no_row" },
    {
      what: "a command that the record keeps redacted",
      id: () => provable("curl https://u:[REDACTED]@h/"),
      exit: 3,
      code: "nothing_to_prove",
    },
    {
      what: "a folder that is gone",
      id: () => provable("true", { cwd: "/nowhere/at/all" }),
      exit: 4,
      code: "copy_failed",
    },
    {
      what: "a program that this machine lacks",
      id: () => provable("writ-none", { argv: ["writ-none"] }),
      exit: 4,
      code: "proof_inconclusive",
    },
  ])("$what is $code, status $exit", async ({ id, exit, code }) => {
    const ran = await prove([id(), "--json"]);
    expect(ran.exit).toBe(exit);
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: false, code });
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("a folder that is gone may be another now", async () => {
    writeFileSync(join(work, "data"), "");
    const id = provable("test -f data && cd /nowhere/at/all", { cwd: "/nowhere/at/all" });
    expect((await prove([id, "--cwd", work])).exit).toBe(0);
  });

  test.each([[["--cwd", "/nowhere/at/all"]], [["--timeout", "0"]], [["--timeout", "soon"]], [["--timeout", "86401"]]])(
    "%p makes no sense, status 2",
    async (args) => {
      expect((await prove([provable("true"), ...args])).exit).toBe(2);
    },
  );

  test("a command that does not end in time proves nothing, status 4, and its copy is gone", async () => {
    const ran = await prove([provable("sleep 300"), "--timeout", "1", "--json"]);
    expect(ran.exit).toBe(4);
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: false, code: "proof_inconclusive" });
    expect(readdirSync(temporary)).toEqual([]);
  });

  test.each([
    { signal: "SIGINT", exit: 130 },
    { signal: "SIGTERM", exit: 143 },
  ] as const)("$signal ends the command, removes the copy, and is status $exit", async ({ signal, exit }) => {
    const fifo = join(world.folder, "fifo");
    Bun.spawnSync(["mkfifo", fifo]);
    const id = provable(`echo $$ > ${fifo}; sleep 300; true`);
    const child = Bun.spawn([...writCommand(), "contract", "prove", id, "--json"], {
      env: { ...process.env, ...environment() },
      stdout: "pipe",
      stderr: "pipe",
    });
    // The opening of the pipe waits until the command runs.
    const pid = Number(await Bun.file(fifo).text());
    expect(readdirSync(temporary).length).toBe(1);
    child.kill(signal);
    expect(await child.exited).toBe(exit);
    expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ ok: false, status: "stopped" });
    expect(readdirSync(temporary)).toEqual([]);
    expect(existsSync(`/proc/${pid}/cwd`)).toBe(false);
  });

  test("says what goes on where standard error is a terminal, and takes it away", async () => {
    const id = provable("sleep 2");
    let seen = "";
    const terminal = {
      cols: 100,
      rows: 20,
      data: (_: unknown, data: Uint8Array) => {
        seen += new TextDecoder().decode(data);
      },
    };
    const child = Bun.spawn([...writCommand(), "contract", "prove", id], {
      env: { ...process.env, ...environment() },
      terminal,
    });
    expect(await child.exited).toBe(0);
    expect(seen).toMatch(/\rrunning: sleep 2 \(1 s\)/);
    expect(seen).toMatch(/\r +\rOK: today agrees/);
    child.terminal?.close();
  });
});
