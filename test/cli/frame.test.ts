import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runInFreshWorld, runWrit, type Setting, shown, writCommand } from "../support/writ.ts";

const SCRIPTED = [process.execPath, join(import.meta.dir, "..", "support", "scripted-writ.ts")];

async function scripted(line: string, setting: Setting = {}): Promise<string> {
  return shown(await runInFreshWorld([...SCRIPTED, ...line.split(" ").filter(Boolean)], setting));
}

describe("writ, as a process,", () => {
  test.each(["--version", "version", "--json --version", "version --json"])("tells its versions: %s", async (line) => {
    const ran = await runWrit(line.split(" "));
    const form = line.includes("json")
      ? /^\{"ok":true,"version":"\d+\.\d+\.\d+","bun":"\d+\.\d+\.\d+","sqlite":"\d+\.\d+\.\d+"\}\n$/
      : /^writ \d+\.\d+\.\d+ \(Bun \d+\.\d+\.\d+, SQLite \d+\.\d+\.\d+\)\n$/;
    expect(ran.stdout).toMatch(form);
    expect({ exit: ran.exit, stderr: ran.stderr }).toEqual({ exit: 0, stderr: "" });
  });

  test("prints its help on standard output when asked, on standard error and with status 2 when not", async () => {
    const asked = await runWrit(["--help"]);
    const unasked = await runWrit([]);
    expect({ exit: asked.exit, stderr: asked.stderr }).toEqual({ exit: 0, stderr: "" });
    expect(unasked).toEqual({ exit: 2, stdout: "", stderr: asked.stdout });
  });

  test("answers a call without a command with a document when standard output is owed one", async () => {
    expect(shown(await runWrit(["--json"]))).toMatchInlineSnapshot(`
      "{"ok":false,"status":"error","code":"usage","path":null,"message":"\\"writ\\" needs a command","hint":"\\"writ --help\\" lists them"}
      --- exit 2
      "
    `);
  });

  test("has help as a document too", async () => {
    const ran = await runWrit(["version", "--help", "--json"]);
    const page = await runWrit(["help", "version"]);
    expect(JSON.parse(ran.stdout)).toEqual({ ok: true, help: page.stdout.trimEnd() });
  });

  test("prints a usage error with its hint and the usage", async () => {
    expect(shown(await runWrit(["completions", "bash", "--jsn"]))).toMatchInlineSnapshot(`
      "--- stderr
      Error: Unknown option "--jsn"
      Did you mean "--json"?
      Usage: writ completions bash|zsh|fish [options]
      --- exit 2
      "
    `);
  });

  test("prints a usage error as the one document when --json is among the words, wherever it stands", async () => {
    expect(shown(await runWrit(["completions", "--bogus", "--json"]))).toMatchInlineSnapshot(`
      "{"ok":false,"status":"error","code":"usage","path":null,"message":"Unknown option \\"--bogus\\"","hint":"An operand that starts with \\"-\\" stands behind \\"--\\"; \\"writ completions --help\\" lists the options"}
      --- exit 2
      "
    `);
    expect(shown(await runWrit(["nonsense", "--json"]))).toMatchInlineSnapshot(`
      "{"ok":false,"status":"error","code":"usage","path":null,"message":"There is no command \\"writ nonsense\\"","hint":"\\"writ --help\\" lists the commands"}
      --- exit 2
      "
    `);
    expect(shown(await runWrit(["nonsense", "--", "--json"]))).toMatchInlineSnapshot(`
      "--- stderr
      Error: There is no command "writ nonsense"
      "writ --help" lists the commands
      --- exit 2
      "
    `);
  });

  test("ends quietly when its reader is gone", async () => {
    const script = '"$@" completions bash 2>&1 | true; "$@" --version | true; "$@" completions bash | head -n 1';
    const ran = await runInFreshWorld(["bash", "-c", script, "bash", ...writCommand()]);
    expect(shown(ran)).toBe("# bash completion of writ; made by: writ completions bash\n--- exit 0\n");
  });

  test.skipIf(!existsSync("/dev/full")).each(["--version", "completions bash", "version --json"])(
    "ends in 4 when standard output is full (needs /dev/full): %s",
    async (line) => {
      const ran = await runInFreshWorld(["sh", "-c", `"$@" ${line} >/dev/full`, "sh", ...writCommand()]);
      expect(ran.exit).toBe(4);
      expect(ran.stderr).toStartWith("Error: Cannot write standard output: ENOSPC");
    },
  );
});

describe("the frame", () => {
  test("calls anything that is thrown by mistake a defect, in one line, with status 70", async () => {
    expect(await scripted("boom")).toMatchInlineSnapshot(`
      "--- stderr
      Error: This is a defect in writ: kaput
      --- exit 70
      "
    `);
    expect(await scripted("boom --json")).toMatchInlineSnapshot(`
      "{"ok":false,"status":"error","code":"internal","path":null,"message":"This is a defect in writ: kaput","hint":null}
      --- stderr
      Error: This is a defect in writ: kaput
      --- exit 70
      "
    `);
  });

  test.each([
    { line: "boom --debug", env: {} },
    { line: "boom", env: { WRIT_DEBUG: "1" } },
    { line: "boom --json --debug", env: {} },
  ])("shows the stack of a defect on request: $line $env", async ({ line, env }) => {
    expect(await scripted(line, { env })).toContain("scripted-writ.ts:");
  });

  test("shows no stack without request", async () => {
    expect(await scripted("boom", { env: { WRIT_DEBUG: "0" } })).not.toContain("scripted-writ.ts:");
  });

  test("reports a forgotten promise as a defect, and prints no second document", async () => {
    expect(await scripted("stray")).toMatchInlineSnapshot(`
      "--- stderr
      Error: This is a defect in writ: forgotten
      --- exit 70
      "
    `);
    expect(await scripted("stray --json")).toMatchInlineSnapshot(`
      "{"ok":true}
      --- stderr
      Error: This is a defect in writ: forgotten
      --- exit 70
      "
    `);
  });

  test("prints errors as JSON where a command always prints JSON", async () => {
    expect(await scripted("always")).toMatchInlineSnapshot(`
      "{"ok":false,"status":"error","code":"bad_json","path":null,"message":"No body","hint":null}
      --- exit 2
      "
    `);
    expect(await scripted("always --json")).toMatchInlineSnapshot(`
      "{"ok":false,"status":"error","code":"usage","path":null,"message":"Option \\"--json\\" needs a value: JSON","hint":null}
      --- exit 2
      "
    `);
    expect(await scripted("always --json x")).toMatchInlineSnapshot(`
      "{"ok":true,"json":"x"}
      --- exit 0
      "
    `);
  });

  test("never prints JSON where a command has none, and hands over what stands behind --", async () => {
    expect(await scripted("wrap --json -- ls")).toMatchInlineSnapshot(`
      "--- stderr
      Error: Unknown option "--json"
      It prints what its command prints
      Usage: writ wrap [options] -- CMD
      --- exit 2
      "
    `);
    expect(await scripted("wrap -- ls --json --debug --help")).toMatchInlineSnapshot(`
      "{"c":null,"rest":["ls","--json","--debug","--help"],"json":false}
      --- exit 7
      "
    `);
  });

  test.each(["hook --fail store", "hook --fail defect", "hook --bogus", "hook --fail", "hook sbu"])(
    "ends a hook in 0 with one line on standard error: %s",
    async (line) => {
      const ran = await runInFreshWorld([...SCRIPTED, ...line.split(" ")]);
      expect({ exit: ran.exit, stdout: ran.stdout }).toEqual({ exit: 0, stdout: "" });
      expect(ran.stderr).toMatch(/^Error: [^\n]+\n$/);
    },
  );

  test("does not treat a command under a hook as one", async () => {
    expect((await runInFreshWorld([...SCRIPTED, "hook", "sub", "--bogus"])).exit).toBe(2);
  });

  test("ends a hook in 2 for a wrong command line that a person typed, and in 0 for the rest", async () => {
    expect(await atTerminal("hook --bogus")).toMatchObject({ exit: 2 });
    expect((await atTerminal("hook --bogus")).screen).toContain("Usage: writ hook [options]");
    expect(await atTerminal("hook --fail defect")).toMatchObject({ exit: 0 });
  });

  test("strips text for a person and keeps it in JSON", async () => {
    expect(await scripted("hostile")).toBe("red red bidi\n--- stderr\nred red bidi\n--- exit 0\n");
    const ran = await runInFreshWorld([...SCRIPTED, "hostile", "--json"]);
    expect(ran.stdout).toStartWith('{"ok":true,');
    expect(JSON.parse(ran.stdout).text).toBe("red \u001b[31mred\u001b[0m \u202ebidi");
    expect(ran.stdout).toContain("\u202e");
  });

  test("escapes in JSON on a terminal what would turn the reading direction", async () => {
    const { screen } = await atTerminal("hostile --json");
    expect(screen).toContain("\\u202ebidi");
    expect(screen).not.toContain("\u202e");
  });

  test("hands over all of a long document before it ends", async () => {
    const ran = await runInFreshWorld([...SCRIPTED, "long"]);
    expect({ exit: ran.exit, length: ran.stdout.length, stderr: ran.stderr }).toEqual({
      exit: 0,
      length: 3_000_003,
      stderr: "printed\n",
    });
  });

  test("uses colour on a terminal only, and not where NO_COLOR or TERM say no", async () => {
    const colour = "\u001b[1mExamples";
    expect((await atTerminal("boom --help", { TERM: "xterm" })).screen).toContain(colour);
    expect((await atTerminal("boom --help", { TERM: "xterm", NO_COLOR: "" })).screen).toContain(colour);
    expect((await atTerminal("boom --help", { TERM: "xterm", NO_COLOR: "1" })).screen).not.toContain("\u001b[");
    expect((await atTerminal("boom --help", { TERM: "dumb" })).screen).not.toContain("\u001b[");
    expect((await atTerminal("boom --help", { TERM: "" })).screen).not.toContain("\u001b[");
    expect(await scripted("boom --help", { env: { TERM: "xterm", FORCE_COLOR: "1", CI: "1" } })).not.toContain(
      "\u001b[",
    );
  });
});

async function atTerminal(line: string, env: Readonly<Record<string, string>> = {}) {
  let screen = "";
  const { NO_COLOR: _, ...inherited } = process.env;
  const child = Bun.spawn([...SCRIPTED, ...line.split(" ")], {
    env: { ...inherited, ...env },
    terminal: {
      cols: 80,
      rows: 24,
      data: (_terminal, data) => {
        screen += new TextDecoder().decode(data);
      },
    },
  });
  const exit = await child.exited;
  child.terminal?.close();
  return { exit, screen };
}
