import { expect, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finding } from "../../src/doctor/check.ts";
import { type LivingWorld, livingWorld, writCommand } from "../support/writ.ts";

/** Checks whose findings depend on who else uses the machine, and on what is set there. */
const OF_THE_MACHINE: readonly string[] = ["node listener", "environment"];

async function doctor(world: LivingWorld) {
  const ran = await world.writ(["doctor", "--json"]);
  const document = JSON.parse(ran.stdout) as { ok: boolean; status: string; findings: Finding[] };
  const wrong = document.findings
    .filter(({ outcome, check }) => (outcome === "FAIL" || outcome === "WARN") && !OF_THE_MACHINE.includes(check))
    .map(({ check, subject, message }) => `${check}: ${subject}: ${message}`);
  return { ...document, exit: ran.exit, wrong };
}

test("of a machine without hooks it says what to type, and makes nothing", async () => {
  using world = livingWorld();
  expect(await doctor(world)).toMatchObject({
    ok: true,
    status: "ok",
    exit: 0,
    wrong: ["hooks: claude-code: No hook of writ is installed"],
  });
  expect(existsSync(world.data)).toBe(false);
});

test("of what was installed it proves that it records, and leaves store and folders as they were", async () => {
  using world = livingWorld();
  await world.writ(["hooks", "install", "claude-code"]);
  await world.born();
  const listed = (folder: string) => readdirSync(folder, { recursive: true }).map(String).sort();
  const before = listed(world.data);
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith("writ-doctor-"));
  expect(await doctor(world)).toMatchObject({ ok: true, status: "ok", exit: 0, wrong: [] });
  expect(listed(world.data).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(
    before.filter((name) => !/-(wal|shm)$/.test(name)),
  );
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("writ-doctor-") && !left.includes(name))).toEqual([]);
  const list = JSON.parse((await world.writ(["contract", "list", "--json"])).stdout) as { count: number };
  expect(list.count).toBe(1);
});

test("for a person it is one line a check", async () => {
  using world = livingWorld();
  await world.writ(["hooks", "install", "claude-code", "--gate", "2"]);
  const { stdout, stderr, exit } = await world.writ(["doctor"]);
  expect([stderr, exit]).toEqual(["", 0]);
  const lines = stdout.split("\n");
  expect(lines.filter((line) => line.includes("recording"))).toEqual([
    "PASS recording — true: It arrived with exit 0",
    "PASS recording — false: It arrived with exit 1",
    "PASS recording — sleep 60 (background): It arrived with an unknown outcome",
    "PASS recording — stop: It was sent back 2 times, then recorded as cut",
  ]);
  expect(
    lines.every(
      (line) => line === "" || /^(?:(?:PASS|WARN|FAIL|SKIP) [^—]+ — .| {5}.|OK: \d+ checks passed)/.test(line),
    ),
  ).toBe(true);
});

test("a hook for successes alone shows a world without failures", async () => {
  using world = livingWorld();
  await world.writ(["hooks", "install", "claude-code"]);
  const path = join(world.folder, ".claude", "settings.json");
  const settings = JSON.parse(readFileSync(path, "utf8"));
  delete settings.hooks.PostToolUseFailure;
  writeFileSync(path, JSON.stringify(settings));
  const told = await doctor(world);
  expect(told.exit).toBe(1);
  expect(told.wrong).toContain(
    "recording: false: It did not arrive with exit 1: nothing is registered for PostToolUseFailure",
  );
});

test("a writ that has moved away is found", async () => {
  using world = livingWorld();
  await world.writ(["hooks", "install", "claude-code"]);
  const path = join(world.folder, ".claude", "settings.json");
  const [command = ""] = writCommand();
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(JSON.stringify(command), '"/nowhere/writ"'));
  const told = await doctor(world);
  expect(told.exit).toBe(1);
  expect(told.wrong.some((line) => line.includes("/nowhere/writ") && line.endsWith("There is no such program"))).toBe(
    true,
  );
});

test("a program that came with the project is not run", async () => {
  using world = livingWorld();
  const program = join(world.folder, "tools", "writ");
  mkdirSync(join(world.folder, "tools"));
  writeFileSync(program, `#!/bin/sh\necho ran >> '${join(world.folder, "ran")}'\n`, { mode: 0o755 });
  const hook = { type: "command", command: program, args: ["record", "--harness", "claude-code"] };
  mkdirSync(join(world.folder, ".claude"));
  writeFileSync(
    join(world.folder, ".claude", "settings.json"),
    JSON.stringify({ hooks: { PostToolUse: [{ hooks: [hook] }] } }),
  );
  expect((await doctor(world)).wrong).toContain(
    `hooks: ${program}: A project names it, and it is another program than this writ; it was not run`,
  );
  expect(existsSync(join(world.folder, "ran"))).toBe(false);
});

test.each(["sh", "/bin/sh", "bash", "python3", "env"])(
  "an interpreter that a project names is not run, whatever file it is given: %s",
  async (command) => {
    using world = livingWorld();
    writeFileSync(join(world.folder, "record"), `touch '${join(world.folder, "ran")}'\n`);
    const hook = { type: "command", command, args: ["record", "--harness", "claude-code"] };
    mkdirSync(join(world.folder, ".claude"));
    for (const name of ["settings.json", "settings.local.json"]) {
      const path = join(world.folder, ".claude", name);
      writeFileSync(path, JSON.stringify({ hooks: { SubagentStart: [{ hooks: [hook] }] } }));
    }
    await doctor(world);
    expect(existsSync(join(world.folder, "ran"))).toBe(false);
  },
);

test("a copy of this writ in the project is this writ", async () => {
  const [command = "", ...more] = writCommand();
  if (more.length > 0) return; // it runs from its sources
  using world = livingWorld();
  const program = join(world.folder, "writ");
  copyFileSync(command, program);
  chmodSync(program, 0o755);
  await world.shell(`'${program}' hooks install claude-code`);
  expect(await doctor(world)).toMatchObject({ exit: 0 });
}, 30_000); // copies the executable and takes its digest twice

test("a store that is no database, and one that others may read, are findings", async () => {
  using world = livingWorld();
  await world.writ(["hooks", "install", "claude-code"]);
  await world.born();
  const store = join(world.data, "writ.db");
  chmodSync(store, 0o644);
  expect((await doctor(world)).wrong).toEqual([`store: ${store}: Others may use it (mode 644)`]);
  chmodSync(store, 0o600);
  writeFileSync(store, "this is no database, but it is long enough to be looked at\n".repeat(4));
  const told = await doctor(world);
  expect(told.exit).toBe(1);
  expect(told.wrong).toEqual([`store: ${store}: It cannot be used: file is not a database`]);
});

test("settings that are no JSON are a finding, and the rest is looked at all the same", async () => {
  using world = livingWorld();
  await world.writ(["hooks", "install", "claude-code"]);
  mkdirSync(join(world.folder, "home", ".claude"), { recursive: true });
  writeFileSync(join(world.folder, "home", ".claude", "settings.json"), "{");
  const told = await doctor(world);
  expect(told.exit).toBe(1);
  expect(told.wrong).toHaveLength(1);
  expect(told.findings.some(({ subject, outcome }) => subject === "true" && outcome === "PASS")).toBe(true);
});

test("of a file that Bun loads into writ before it begins it warns", async () => {
  using world = livingWorld();
  writeFileSync(join(world.folder, "first.js"), "");
  const env = { BUN_INSPECT_PRELOAD: "./first.js" };
  const ran = await world.writ(["doctor"], { env });
  expect([ran.exit, ran.stdout.split("\n").slice(0, 2)]).toEqual([
    0,
    [
      "WARN environment — BUN_INSPECT_PRELOAD: The file that it names runs in writ before writ does",
      "     If you did not set it, see who did. Type: unset BUN_INSPECT_PRELOAD",
    ],
  ]);
});
