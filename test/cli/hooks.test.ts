import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { livingWorld, shown, writCommand } from "../support/writ.ts";

const INSTALL = ["hooks", "install", "claude-code"];
const UNINSTALL = ["hooks", "uninstall", "claude-code"];

function json(ran: { stdout: string }) {
  return JSON.parse(ran.stdout) as Record<string, unknown> & { difference: string[]; events: string[] };
}

test("install, again, and uninstall leave the file as it was, and show what changes", async () => {
  using world = livingWorld();
  const path = join(world.folder, ".claude", "settings.json");
  mkdirSync(join(world.folder, ".claude"));
  const before = '{\n  "model": "opus"\n}\n';
  writeFileSync(path, before);
  const installed = await world.writ(INSTALL);
  expect(installed.exit).toBe(0);
  const lines = installed.stdout.split("\n");
  expect(lines.slice(0, 5)).toEqual([`--- ${path}`, `+++ ${path}`, lines[2] ?? "", " {", '-  "model": "opus"']);
  expect(lines.at(-2)).toBe(
    `OK: hooks for PostToolUse, PostToolUseFailure, SubagentStart, SubagentStop are in ${path}.`,
  );
  const [command, ...start] = writCommand();
  expect(JSON.parse(readFileSync(path, "utf8")).hooks.SubagentStop).toEqual([
    {
      hooks: [
        {
          type: "command",
          command,
          args: [...start, "record", "--harness", "claude-code", "--gate", "1"],
          timeout: 60,
        },
      ],
    },
  ]);
  expect(shown(await world.writ(INSTALL))).toBe(`OK: nothing to do, the hooks are in ${path}.\n--- exit 0\n`);
  const gone = await world.writ([...UNINSTALL, "--json"]);
  expect(json(gone)).toMatchObject({ ok: true, status: "uninstalled", scope: "project", path });
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(shown(await world.writ(UNINSTALL))).toBe(`OK: nothing to do, no hook of writ is in ${path}.\n--- exit 0\n`);
});

test("--dry-run shows the same and writes nothing", async () => {
  using world = livingWorld();
  const planned = json(await world.writ([...INSTALL, "--dry-run", "--json"]));
  expect(planned).toMatchObject({ ok: true, status: "planned", harness: "claude-code", gate: 1 });
  expect(existsSync(join(world.folder, ".claude"))).toBe(false);
  const done = json(await world.writ([...INSTALL, "--json"]));
  expect(done).toMatchObject({ status: "installed", events: planned.events, difference: planned.difference });
  const path = join(world.folder, ".claude", "settings.json");
  const before = readFileSync(path, "utf8");
  expect(json(await world.writ([...UNINSTALL, "--dry-run", "--json"]))).toMatchObject({ status: "planned" });
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("the project's settings lie at the root of the work tree, the user's at home", async () => {
  using world = livingWorld();
  const deep = join(world.folder, "tree", "src", "deep");
  mkdirSync(deep, { recursive: true });
  mkdirSync(join(world.folder, "tree", ".git"));
  expect(json(await world.writ([...INSTALL, "--json"], { cwd: deep })).path).toBe(
    join(world.folder, "tree", ".claude", "settings.json"),
  );
  expect(json(await world.writ([...INSTALL, "--user", "--json"], { cwd: deep })).path).toBe(
    join(world.folder, "home", ".claude", "settings.json"),
  );
});

test.each([
  { args: [...INSTALL, "--user", "--project"], says: "--project and --user name two files" },
  { args: ["hooks", "install", "codex"], says: "writ does not write the settings of codex" },
  { args: ["hooks", "install", "cursor"], says: 'There is no harness "cursor"' },
  { args: ["hooks", "print", "cursor"], says: 'There is no harness "cursor"' },
  { args: [...INSTALL, "--gate", "often"], says: '--gate takes a whole number from 0, not "often"' },
  { args: [...INSTALL, "--gate", "-1"], says: '--gate takes a whole number from 0, not "-1"' },
])("$args makes no sense, and nothing is written", async ({ args, says }) => {
  using world = livingWorld();
  const ran = await world.writ(args);
  expect(ran).toMatchObject({ exit: 2, stdout: "" });
  expect(ran.stderr).toContain(says);
  expect(existsSync(join(world.folder, ".claude"))).toBe(false);
});

test("a file that is no strict JSON is refused with its position, and left", async () => {
  using world = livingWorld();
  mkdirSync(join(world.folder, ".claude"));
  const path = join(world.folder, ".claude", "settings.json");
  writeFileSync(path, '{\n  "a": 1, // mine\n}\n');
  const ran = await world.writ([...INSTALL, "--json"]);
  expect(ran.exit).toBe(2);
  expect(json(ran)).toMatchObject({ ok: false, code: "bad_json", path });
  expect(json(ran).message).toContain("line 2, column 11: comments are not JSON");
  expect(readFileSync(path, "utf8")).toBe('{\n  "a": 1, // mine\n}\n');
});

test("a link to what is no file of one's own is refused", async () => {
  using world = livingWorld();
  mkdirSync(join(world.folder, ".claude"));
  symlinkSync("/dev/null", join(world.folder, ".claude", "settings.json"));
  expect(json(await world.writ([...INSTALL, "--json"]))).toMatchObject({ ok: false, code: "settings_refused" });
});

test("installs and uninstalls at once lose nothing of anybody", async () => {
  using world = livingWorld();
  mkdirSync(join(world.folder, ".claude"));
  const path = join(world.folder, ".claude", "settings.json");
  const theirs = { env: { A: "1" }, hooks: { Stop: [{ hooks: [{ type: "command", command: "x" }] }] } };
  const before = `${JSON.stringify(theirs, null, 2)}\n`;
  writeFileSync(path, before);
  const gates = ["1", "2", "3", "4", "5", "6"];
  const ran = await Promise.all(gates.map((gate) => world.writ([...INSTALL, "--gate", gate])));
  expect(ran.map((each) => each.exit)).toEqual(gates.map(() => 0));
  const after = JSON.parse(readFileSync(path, "utf8"));
  expect(after).toMatchObject(theirs);
  expect(Object.values(after.hooks).flat()).toHaveLength(5);
  await Promise.all([1, 2, 3].map(() => world.writ(UNINSTALL)));
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("print shows what install writes, and says what has to be known of the others", async () => {
  using world = livingWorld();
  const printed = await world.writ(["hooks", "print", "claude-code"]);
  expect(printed.stderr).toBe("");
  await world.writ(INSTALL);
  expect(JSON.parse(readFileSync(join(world.folder, ".claude", "settings.json"), "utf8"))).toEqual(
    JSON.parse(printed.stdout),
  );
  const codex = await world.writ(["hooks", "print", "codex", "--gate", "3"]);
  expect(Object.keys(JSON.parse(codex.stdout).hooks)).toEqual(["PostToolUse", "SubagentStart", "SubagentStop"]);
  expect(codex.stdout).not.toContain("--gate");
  expect(codex.stderr).toContain("There is no stop gate for codex");
  const generic = await world.writ(["hooks", "print", "generic"]);
  expect(generic.stderr).toContain("There is no stop gate for a generic harness");
});

test("what print shows for a generic harness is recorded", async () => {
  using world = livingWorld();
  const id = await world.born();
  const { command, args, stdin } = JSON.parse((await world.writ(["hooks", "print", "generic"])).stdout);
  const child = Bun.spawn([command, ...args, "--contract-id", id], {
    env: world.env(),
    stdin: new TextEncoder().encode(JSON.stringify(stdin)),
  });
  expect(await child.exited).toBe(0);
  expect((await world.writ(["record", "verify", id])).stdout).toContain("(1 entry");
});

test.each(["codex", "generic"])("a gate under %s is none: the turn is recorded as cut", async (harness) => {
  using world = livingWorld();
  const id = await world.born();
  const ran = await world.writ(["record", "--harness", harness, "--gate", "5", "--stop", "--contract-id", id], {
    stdin: "{}",
  });
  expect(shown(ran)).toBe("--- exit 0\n");
  const row = JSON.parse((await world.writ(["contract", "show", id, "--json"])).stdout).handoff;
  expect(row.cut_reason).toBe("reaped");
});

test("a gate that makes no sense breaks no harness", async () => {
  using world = livingWorld();
  const ran = await world.writ(["record", "--gate", "often"], { stdin: "{}" });
  expect(ran).toMatchObject({ exit: 0, stdout: "" });
  expect(ran.stderr).toMatch(/^Error: --gate takes a whole number[^\n]*\n$/);
});

test("record --json of a turn that is sent back is one document", async () => {
  using world = livingWorld();
  const id = await world.born();
  const call = ["record", "--stop", "--gate", "1", "--json", "--contract-id", id];
  expect(json(await world.writ(call, { stdin: "{}" }))).toMatchObject({
    ok: true,
    status: "sent_back",
    contract_id: id,
    count: 1,
    decision: "block",
  });
  expect(json(await world.writ(call, { stdin: "{}" }))).toMatchObject({
    ok: true,
    status: "cut",
    cut_reason: "reaped",
  });
});
