import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";
import { openScreen } from "../support/screen.ts";
import { documentOf, type LivingWorld, livingWorld, shown, type Turn, writCommand } from "../support/writ.ts";

const CHILD = [process.execPath, join(import.meta.dir, "..", "support", "terminal-child.ts")];

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

/** What the record of a turn holds, oldest first. */
async function recordOf(turn: Pick<Turn, "id">): Promise<readonly JsonObject[]> {
  const { record } = documentOf(await world.writ(["contract", "show", turn.id, "--json"]));
  return (record as { runs: JsonObject[] }).runs;
}

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

describe("writ run", () => {
  test("behaves as the command does, and records how it went", async () => {
    const turn = await world.turn();
    const words = ["run", "--", "sh", "-c", 'echo out; echo err >&2; read line; echo "got $line"; exit 3'];
    const ran = await turn.writ(words, { stdin: "typed\n" });
    expect(shown(ran)).toBe("out\ngot typed\n--- stderr\nerr\n--- exit 3\n");
    const [run, ...more] = await recordOf(turn);
    expect(more).toEqual([]);
    const { started_at, ended_at, output, digest, ...rest } = run ?? {};
    expect(started_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(String(started_at) <= String(ended_at)).toBe(true);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    // In the order of arrival, which is not told for two streams apart.
    expect(String(output).split("\n").sort()).toEqual(["", "err", "got typed", "out"]);
    expect(rest).toEqual({
      contract_id: turn.id,
      seq: 1,
      source: "run",
      harness: null,
      tool: "bash",
      tool_use_id: null,
      command: `sh -c 'echo out; echo err >&2; read line; echo "got $line"; exit 3'`,
      argv: ["sh", "-c", 'echo out; echo err >&2; read line; echo "got $line"; exit 3'],
      path: null,
      cwd: realpathSync(world.folder),
      exit_code: 3,
      signal: null,
      failed: false,
      exit_note: null,
      tail: null,
      output_bytes: 18,
      output_sha256: sha256(String(output)),
      truncated: false,
      ordered: false,
      prev_digest: "0".repeat(64),
    });
  });

  test("runs the text of -c with sh, and records it as it was given", async () => {
    const turn = await world.turn();
    const ran = await turn.writ(["run", "-c", "  echo one | tr o 0 && exit 4"]);
    expect(shown(ran)).toBe("0ne\n--- exit 4\n");
    expect(await recordOf(turn)).toMatchObject([
      { command: "  echo one | tr o 0 && exit 4", argv: null, exit_code: 4, output: "0ne\n", ordered: true },
    ]);
  });

  test("records the words of a command quoted as a shell would need them", async () => {
    const turn = await world.turn();
    await turn.writ(["run", "--", "true", "a-b_c@%+=:,./9", "", "two words", "it's", "$HOME", "-x", "--json", "é"]);
    expect(await recordOf(turn)).toMatchObject([
      { command: `true a-b_c@%+=:,./9 '' 'two words' 'it'"'"'s' '$HOME' -x --json 'é'` },
    ]);
  });

  test.each([
    { words: ["no-such-program"], exit: 127, says: "no-such-program: not found" },
    { words: ["/"], exit: 126, says: "/: permission denied" },
  ])("ends in $exit where $words cannot be started, and records that too", async ({ words, exit, says }) => {
    const turn = await world.turn();
    const ran = await turn.writ(["run", "--", ...words]);
    expect(shown(ran)).toBe(`--- stderr\nwrit run: ${says}\n--- exit ${exit}\n`);
    expect(await recordOf(turn)).toMatchObject([{ exit_code: exit, signal: null, output: `writ run: ${says}\n` }]);
  });

  test("ends in 128 + n for a command killed by signal n, and records the signal's name", async () => {
    const turn = await world.turn();
    const ran = await turn.writ(["run", "--", "sh", "-c", "kill -KILL $$"]);
    expect(shown(ran)).toBe("--- exit 137\n");
    expect(await recordOf(turn)).toMatchObject([{ exit_code: 137, signal: "SIGKILL" }]);
  });

  test("whose command a signal ended refutes a pass", async () => {
    const turn = await world.turn();
    const words = 'echo "3 passed"; kill -SEGV $$';
    expect((await turn.writ(["run", "-c", words])).exit).toBe(139);
    const verification = { type: "command", command: words, result: "pass" };
    const patch = { evidence_report: { verification }, conclusion: "It passes." };
    await turn.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
    const state = { agent_status: { agent_state: "COMPLETE", next_action: "done" } };
    await turn.writ(["contract", "fill", "--json", JSON.stringify(state)]);
    const closed = await turn.writ(["contract", "finalize", "--json"]);
    expect([closed.exit, documentOf(closed)]).toMatchObject([
      1,
      {
        code: "content_unverified",
        errors: [{ code: "exit_mismatch", message: expect.stringContaining("ended in exit 139") }],
      },
    ]);
  });

  test("ends as the command does when its reader goes away, and records that", async () => {
    const turn = await world.turn();
    const { stdout } = await turn.shell('writ run -- yes | head -n 2; echo "$PIPESTATUS"');
    expect(stdout).toBe("y\ny\n141\n");
    expect(await recordOf(turn)).toMatchObject([
      { command: "yes", exit_code: 141, signal: "SIGPIPE", truncated: true, output_bytes: null },
    ]);
  });

  test("passes a signal on, and records the end that the command chose", async () => {
    const turn = await world.turn();
    const child = Bun.spawn([...writCommand(), "run", "--", ...CHILD], {
      env: world.env(turn.env),
      cwd: world.folder,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    await child.stderr.getReader().read(); // ready
    child.kill("SIGTERM");
    let text = "";
    let isTold = false;
    for await (const piece of child.stdout) {
      text += new TextDecoder().decode(piece);
      if (isTold || !text.includes("SIGTERM 1")) continue;
      isTold = true;
      child.stdin.write("end\n");
      child.stdin.end();
    }
    expect(await child.exited).toBe(9);
    expect(await recordOf(turn)).toMatchObject([{ exit_code: 9, signal: null }]);
  });

  test("ends with its command at a signal, also where what that started holds the output open and runs on", async () => {
    const turn = await world.turn();
    const child = Bun.spawn([...writCommand(), "run", "-c", 'sleep 600 & echo "$!"; wait'], {
      env: world.env(turn.env),
      cwd: world.folder,
      stdout: "pipe",
      stderr: "ignore",
    });
    const started = Number(new TextDecoder().decode((await child.stdout.getReader().read()).value));
    child.kill("SIGTERM");
    expect(await child.exited).toBe(143);
    process.kill(started); // throws where it is gone
    expect(await recordOf(turn)).toMatchObject([{ exit_code: 143, signal: "SIGTERM", truncated: true }]);
  });

  test.skipIf(process.platform !== "linux")("is a terminal for a command in a terminal (Linux)", async () => {
    const turn = await world.turn();
    const screen = openScreen([...writCommand(), "run", "--", ...CHILD], {
      env: world.env(turn.env),
      cwd: world.folder,
      columns: 70,
      rows: 20,
    });
    await screen.shows("ready");
    screen.type("\x03");
    await screen.shows("SIGINT 1");
    screen.type("end\r");
    expect(await screen.ended).toBe(9);
    expect(screen.text()).toStartWith("terminals true true true; 20 70\r\nready\r\n");
    expect(await recordOf(turn)).toMatchObject([
      {
        exit_code: 9,
        ordered: true,
        output: 'terminals true true true; 20 70\nready\nSIGINT 1\nline "end" after 1 SIGINT\n',
      },
    ]);
  });

  test("keeps both ends of a long output, its size and its digest", async () => {
    const turn = await world.turn();
    const text = Array.from({ length: 1_000 }, (_, line) => `line ${line} é\n`).join("");
    writeFileSync(join(world.folder, "long"), text);
    expect((await turn.writ(["run", "--", "cat", "long"])).stdout).toBe(text);
    expect(await recordOf(turn)).toMatchObject([
      {
        output: text.slice(0, 500),
        tail: text.slice(-500),
        truncated: true,
        output_bytes: Buffer.byteLength(text),
        output_sha256: sha256(text),
      },
    ]);
  });

  test("keeps no secret, in the output or in the command, and passes both on as they are", async () => {
    const turn = await world.turn();
    const secret = "correct-horse-battery";
    const token = `ghp_${"a".repeat(36)}`;
    const env = { MY_API_TOKEN: secret };
    const ran = await turn.writ(["run", "--", "sh", "-c", `echo "$MY_API_TOKEN"; echo password=hunter22; : ${token}`], {
      env,
    });
    expect(ran.stdout).toBe(`${secret}\npassword=hunter22\n`);
    const [run] = await recordOf(turn);
    expect(run).toMatchObject({ output: "[REDACTED]\npassword=[REDACTED]\n" });
    expect(JSON.stringify(run)).not.toContain(token);
    await turn.writ(["run", "--", "true", secret], { env });
    expect((await recordOf(turn))[1]).toMatchObject({ command: "true [REDACTED]", argv: ["true", "[REDACTED]"] });
  });

  test.each(["gone", "file.txt", "file.txt/below"])("refuses --cwd %s, which is no folder", async (path) => {
    writeFileSync(join(world.folder, "file.txt"), "");
    const ran = await world.writ(["run", "--cwd", path, "--", "true"]);
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([2, `Error: --cwd "${path}" is no folder`]);
  });

  test("runs in the folder of --cwd and records it whole", async () => {
    const turn = await world.turn();
    const folder = join(world.folder, "a folder é");
    mkdirSync(folder);
    const ran = await turn.writ(["run", "--cwd", "a folder é", "--", "pwd", "-P"]);
    expect(ran.stdout).toBe(`${realpathSync(folder)}\n`);
    expect(await recordOf(turn)).toMatchObject([{ cwd: join(realpathSync(world.folder), "a folder é") }]);
  });

  test("records to the contract of --contract-id rather than to that of the environment", async () => {
    const [turn, other] = [await world.turn(), await world.turn()];
    await turn.writ(["run", "--contract-id", other.id, "--", "true"]);
    expect([await recordOf(turn), await recordOf(other)]).toMatchObject([[], [{ command: "true" }]]);
  });

  test.each([
    { how: "no contract is named", env: {}, why: "no contract was named" },
    { how: "its name is blank", env: { WRIT_CONTRACT_ID: " " }, why: "no contract was named" },
    { how: "its name is none", env: { WRIT_CONTRACT_ID: "../x" }, why: '"../x" is no contract' },
    {
      how: "the store is no database",
      env: { WRIT_CONTRACT_ID: "a0123456789abcdef.1", WRIT_DB: "broken.db" },
      why: "",
    },
    {
      how: "the data folder is none",
      env: { WRIT_CONTRACT_ID: "a0123456789abcdef.1", WRIT_DATA_DIR: "file/x" },
      why: "",
    },
  ])(
    "runs the command all the same, and says in one line that nothing was recorded, where $how",
    async ({ env, why }) => {
      writeFileSync(
        join(world.folder, "broken.db"),
        "this is no database, and long enough to be looked at ".repeat(50),
      );
      writeFileSync(join(world.folder, "file"), "");
      const ran = await world.writ(["run", "--", "sh", "-c", "echo out; exit 6"], { env });
      expect({ exit: ran.exit, stdout: ran.stdout }).toEqual({ exit: 6, stdout: "out\n" });
      expect(ran.stderr).toMatch(/^writ run: nothing was recorded: [^\n]+\n$/);
      expect(ran.stderr).toContain(why);
    },
  );

  test("says where the id that a run is recorded under is no turn's; a draft without a row is one", async () => {
    const id = `${(await world.turn()).id.slice(0, -1)}z`;
    const ran = await world.writ(["run", "--", "echo", "out"], { env: { WRIT_CONTRACT_ID: id } });
    expect(shown(ran)).toBe(
      `out\n--- stderr\nwrit run: no turn of this store has the id ${id}: the run is recorded under it, and no turn sees it\n--- exit 0\n`,
    );
    const { draft_id } = documentOf(await world.writ(["contract", "init", "--json"]));
    const env = { WRIT_CONTRACT_ID: String(draft_id) };
    expect(shown(await world.writ(["run", "--", "true"], { env }))).toBe("--- exit 0\n");
  });

  test.each([
    { words: ["A=1", "true"], call: `writ run -c 'A=1 true'` },
    { words: ["export", "A=b c"], call: `writ run -c 'export '"'"'A=b c'"'"''` },
  ])("says of $words that a shell is meant", async ({ words, call }) => {
    const turn = await world.turn();
    const { exit, stderr } = await turn.writ(["run", "--", ...words]);
    expect(exit).toBe(127);
    expect(stderr).toContain(`writ run: "${words[0]}" is for a shell; -c takes one string: ${call}\n`);
    expect((await turn.shell(call)).exit).toBe(0);
  });

  test("adds nothing to standard output, also under a --json before it", async () => {
    const turn = await world.turn();
    expect(shown(await turn.writ(["--json", "run", "--", "echo", "--json"]))).toBe("--json\n--- exit 0\n");
  });

  test.each([
    { args: [], message: "There is no command" },
    { args: ["--"], message: "There is no command" },
    { args: ["true"], message: 'Unexpected operand "true"' },
    { args: ["-c", "true", "--", "true"], message: "A command was given twice: behind -- and as -c" },
    { args: ["--cwd", "gone", "--", "true"], message: '--cwd "gone" is no folder' },
    { args: ["--cwd", "a-file", "--", "true"], message: '--cwd "a-file" is no folder' },
    { args: ["--cdw", ".", "--", "true"], message: 'Unknown option "--cdw"' },
    { args: ["-ctrue"], message: 'Unknown option "-ctrue"' },
  ])("refuses $args in 2 and runs nothing", async ({ args, message }) => {
    writeFileSync(join(world.folder, "a-file"), "");
    const turn = await world.turn();
    const ran = await turn.writ(["run", ...args]);
    expect({ exit: ran.exit, stdout: ran.stdout }).toEqual({ exit: 2, stdout: "" });
    expect(ran.stderr).toStartWith(`Error: ${message}\n`);
    expect(await recordOf(turn)).toEqual([]);
  });

  test("counts on: a second run is the next of the chain", async () => {
    const turn = await world.turn();
    await turn.shell("writ run -- true; writ run -- false; writ run -c 'exit 2'");
    const record = await recordOf(turn);
    expect(record.map(({ seq, exit_code }) => [seq, exit_code])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    expect(record.slice(1).map((run) => run.prev_digest ?? null)).toEqual(
      record.slice(0, -1).map((run) => run.digest ?? null),
    );
  });
});

test("a run after the close is recorded behind it, and says so; show and verify tell the two apart", async () => {
  const turn = await world.turn();
  await turn.writ(["run", "--", "true"]);
  await turn.writ([
    "contract",
    "fill",
    "--json",
    '{"conclusion":"c","agent_status":{"agent_state":"BLOCKED","next_action":"wait"}}',
  ]);
  await turn.writ(["contract", "finalize"]);
  const late = await turn.writ(["run", "--", "false"]);
  expect(late.exit).toBe(1);
  expect(late.stderr).toContain(`${turn.id} is closed: the run is recorded behind what its close saw`);
  const shownTurn = await world.writ(["contract", "show", turn.id]);
  expect(shownTurn.stdout).toContain("record (bound, 2 entries, the last 1 after the close)");
  const byHandoff = documentOf(await world.writ(["contract", "show", turn.id, "--json"]));
  const { id } = byHandoff.handoff as { id: number };
  const verified = await world.writ(["record", "verify", String(id), "--json"]);
  expect(documentOf(verified)).toMatchObject({ ok: true, contract_id: turn.id, count: 2 });
});
