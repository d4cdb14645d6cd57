/** Where things lie, and what happens where they cannot: folders of odd names, no HOME, full disks, read-only stores. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld } from "../support/writ.ts";

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

const isRoot = process.getuid?.() === 0;

async function wholeTurn(env: Record<string, string | undefined>): Promise<string> {
  const script = `set -e
    export "$(writ dispatch --agent x --goal y | tail -n 1)"
    writ run -- true
    writ contract add evidence_report.key_outputs z
    writ contract fill --json '{"agent_status":{"agent_state":"BLOCKED","next_action":"wait"},"conclusion":"c"}'
    writ contract finalize
    writ contract list --json`;
  const { exit, stdout, stderr } = await world.shell(script, { env });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  return stdout;
}

describe("the data folder", () => {
  test.each(["with spaces", "é🗸 ünïcode", "quo'te\"s", "percent%20?#&", "-dash", "deep/er/still"])(
    "may be called %j",
    async (name) => {
      const data = join(world.folder, "places", name);
      expect(await wholeTurn({ WRIT_DATA_DIR: data })).toContain('"agent_state":"BLOCKED"');
      expect(readdirSync(data).sort()).toEqual(expect.arrayContaining(["contract_drafts", "writ.db"]));
    },
  );

  test("is ~/.writ where nothing names another", async () => {
    const home = join(world.folder, "a home");
    mkdirSync(home);
    await wholeTurn({ WRIT_DATA_DIR: undefined, HOME: home });
    expect(existsSync(join(home, ".writ", "writ.db"))).toBe(true);
    await wholeTurn({ WRIT_DATA_DIR: " ", HOME: home });
    expect(
      documentOf(await world.writ(["contract", "list", "--json"], { env: { WRIT_DATA_DIR: "", HOME: home } })),
    ).toMatchObject({ count: 2 });
  });

  test("needs no HOME where it is named", async () => {
    await wholeTurn({ WRIT_DATA_DIR: join(world.folder, "homeless"), HOME: undefined });
  });

  test("may have its database elsewhere", async () => {
    const data = join(world.folder, "drafts-only");
    await wholeTurn({ WRIT_DATA_DIR: data, WRIT_DB: join(world.folder, "else where", "turns.db") });
    expect(readdirSync(data)).not.toContain("writ.db");
    expect(existsSync(join(world.folder, "else where", "turns.db"))).toBe(true);
  });

  test("below a regular file is refused in 4, and nothing is made", async () => {
    writeFileSync(join(world.folder, "file"), "text");
    const before = readdirSync(world.folder);
    for (const args of [
      ["dispatch", "--agent", "x"],
      ["contract", "init"],
      ["contract", "set", "conclusion", "x", "--draft-id", "a0123456789abcdef.00"],
    ]) {
      const ran = await world.writ([...args, "--json"], { env: { WRIT_DATA_DIR: join("file", "data") } });
      expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 4, code: "store_failed" });
    }
    expect(readdirSync(world.folder)).toEqual(before);
    expect(readFileSync(join(world.folder, "file"), "utf8")).toBe("text");
  });

  test("is not made by a command that only reads", async () => {
    const data = join(world.folder, "unmade");
    for (const args of [
      ["contract", "list"],
      ["contract", "view"],
      ["contract", "show", "1"],
      ["contract", "log"],
    ]) {
      await world.writ(args, { env: { WRIT_DATA_DIR: data } });
    }
    expect(existsSync(data)).toBe(false);
  });

  test.skipIf(isRoot)("that cannot be written is refused in 4 (needs a user who is not root)", async () => {
    const data = join(world.folder, "read-only");
    await wholeTurn({ WRIT_DATA_DIR: data });
    chmodSync(data, 0o500);
    const ran = await world.writ(["dispatch", "--agent", "x", "--json"], { env: { WRIT_DATA_DIR: data } });
    chmodSync(data, 0o700);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 4, code: "store_failed" });
  });
});

test.skipIf(process.platform === "win32").each(["000", "022", "277", "777"])(
  "folders are 0700 and files 0600 under the umask %s",
  async (umask) => {
    using own = livingWorld();
    const made = await own.shell(`umask ${umask}; writ dispatch --agent x --json`);
    const id = String(documentOf(made).contract_id);
    const set = await own.shell(`umask ${umask}; writ contract set conclusion kept --draft-id ${id}`);
    expect([set.exit, set.stderr]).toEqual([0, ""]);
    const modes = readdirSync(own.data, { recursive: true, withFileTypes: true }).map((entry) => {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      return `${entry.isDirectory() ? "folder" : "file"} ${mode.toString(8)}`;
    });
    expect([...new Set(modes)].sort()).toEqual(["file 600", "folder 700"]);
  },
);

test.skipIf(process.platform === "win32")(
  "a command of writ run has the umask of the caller, whatever it is",
  async () => {
    const turn = await world.turn();
    expect((await turn.shell("umask 777; writ run -- sh -c umask")).stdout).toMatch(/^0?777\n$/);
    expect((await turn.shell("umask 027; writ run -- sh -c umask")).stdout).toMatch(/^0?0?27\n$/);
  },
);

describe("a store", () => {
  test("that a newer writ wrote is refused in 4 and left as it is", async () => {
    const { Database } = await import("bun:sqlite");
    const path = join(world.folder, "newer.db");
    const db = new Database(path);
    db.run("PRAGMA user_version = 9999");
    db.close();
    const before = readFileSync(path);
    const ran = await world.writ(["dispatch", "--agent", "x", "--json"], { env: { WRIT_DB: path } });
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 4, code: "store_too_new" });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  const AWAY = "It is no regular file: move it away, or name another with";
  test.skipIf(process.platform === "win32").each([
    ["dispatch --agent x", { WRIT_DB: "/dev/zero" }, `${AWAY} WRIT_DB`],
    ["contract list", { WRIT_DB: "." }, `${AWAY} WRIT_DB`],
    [
      "dispatch --agent x",
      { WRIT_DATA_DIR: "/dev/null" },
      "Its folder cannot be made: name another with WRIT_DATA_DIR",
    ],
    [
      "phase start plan",
      { WRIT_STORE: "garbage" },
      "is no database of writ: move it away, or name another with --store",
    ],
    ["phase start plan", { WRIT_STORE: "." }, `${AWAY} --store or WRIT_STORE`],
  ])("that cannot be one says what helps: %s with %j", async (line, env, hint) => {
    writeFileSync(join(world.folder, "garbage"), "text ".repeat(1_000));
    const ran = await world.writ(line.split(" "), { env });
    expect(ran.exit).toBe(4);
    expect(ran.stderr).toContain(hint);
  });

  test("that is no database is refused in 4 and left as it is", async () => {
    const path = join(world.folder, "text.db");
    writeFileSync(path, "text ".repeat(1_000));
    const ran = await world.writ(["dispatch", "--agent", "x", "--json"], { env: { WRIT_DB: path } });
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 4, code: "store_failed", path });
    expect(readFileSync(path, "utf8")).toBe("text ".repeat(1_000));
  });
});

test.skipIf(process.platform !== "linux").each(["dispatch --agent x", "contract list", "board"])(
  "a closed standard output is status 4, and nothing else is written to in its place (Linux): writ %s",
  async (line) => {
    using own = livingWorld();
    const { stderr } = await own.shell(`writ ${line} >&-; echo "status $?" >&2`);
    expect(stderr).toMatch(/^Error: Cannot write standard output: it is closed\nThe command itself[^\n]*\nstatus 4\n$/);
    const turns = documentOf(await own.writ(["contract", "list", "--json"])).handoffs;
    expect(turns).toHaveLength(line.startsWith("dispatch") ? 1 : 0);
  },
);

describe.skipIf(!existsSync("/dev/full"))("a full disk behind standard output (needs /dev/full)", () => {
  test.each([
    "contract view",
    "contract view --field evidence_report",
    "contract list",
    "contract list --json",
    "contract show 1",
    "contract log",
    "contract validate",
    "dispatch --agent x",
  ])("is status 4: writ %s", async (line) => {
    const turn = await world.turn();
    const { stderr } = await turn.shell(`writ ${line} >/dev/full; echo "status $?" >&2`);
    expect(stderr).toMatch(
      /^Error: Cannot write standard output: ENOSPC[^\n]*\nThe command itself went through[^\n]*\nstatus 4\n$/,
    );
  });

  test.each(["board", "board --json", "node serve --listen 127.0.0.1:0", "seat serve --script s.json"])(
    "ends what would serve at an address that nobody can learn: writ %s",
    async (line) => {
      const script = { schema_version: 1, name: "x", turns: [{ id: "a", reply: {} }] };
      writeFileSync(join(world.folder, "s.json"), JSON.stringify(script));
      const { stderr } = await world.shell(`writ ${line} >/dev/full; echo "status $?" >&2`);
      expect(stderr).toMatch(/Error: Cannot write standard output: ENOSPC[^\n]*\n[^\n]+\nstatus 4\n$/);
    },
  );

  test("is said after the write that was done: the change is there", async () => {
    const turn = await world.turn();
    const { stderr } = await turn.shell('writ contract set conclusion kept >/dev/full; echo "status $?" >&2');
    expect(stderr).toEndWith("status 4\n");
    expect((await turn.writ(["contract", "view", "--field", "conclusion"])).stdout).toBe('"kept"\n');
  });
});
