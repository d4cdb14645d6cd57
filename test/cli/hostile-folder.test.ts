/**
 * The executable carries all that it is made of: what lies in the folder it is called from, above it and in the home
 * changes nothing. Every call is made twice, in an empty folder and in one that is full of what Bun would read.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningSeat, startScriptedSeat } from "../support/scripted-seat.ts";
import { type LivingWorld, livingWorld, type Ran, shown } from "../support/writ.ts";

/** Puts a file where it lies when it is loaded, and breaks what loads it. */
const PRELOAD = `require("node:fs").writeFileSync(require("node:path").join(__dirname, "was-loaded"), "");\nthrow new Error("was loaded");\n`;
const VARIABLES = [
  "WRIT_DATA_DIR=/nowhere/trap",
  "WRIT_DB=/nowhere/trap.db",
  "WRIT_WORKSPACE=trap",
  "WRIT_CONTRACT_ID=trap",
  "WRIT_SEAT_URL=http://127.0.0.1:9",
  "WRIT_CONFIG=/nowhere/trap.json",
  "WRIT_DEBUG=1",
  "NODE_ENV=production",
  "NODE_OPTIONS=--require ./preload.cjs",
  'BUN_OPTIONS="--preload ./preload.cjs"',
  "BUN_BE_BUN=1",
].join("\n");
const HOSTILE: Readonly<Record<string, string>> = {
  ".env": VARIABLES,
  ".env.local": VARIABLES,
  ".env.development": VARIABLES,
  ".env.production": VARIABLES,
  ".env.test": VARIABLES,
  ".npmrc": "registry=http://127.0.0.1:9\n",
  "bunfig.toml":
    'preload = ["./preload.cjs"]\nlogLevel = "debug"\n[test]\npreload = ["./preload.cjs"]\n[run]\nbun = true\n',
  ".bunfig.toml": 'preload = ["./preload.cjs"]\n',
  "preload.cjs": PRELOAD,
  "index.ts": PRELOAD,
  "main.ts": PRELOAD,
  "package.json": JSON.stringify({
    name: "writ",
    version: "9.9.9",
    type: "commonjs",
    main: "./preload.cjs",
    exports: { ".": "./preload.cjs" },
    imports: { "#*": "./preload.cjs" },
    browser: { "node:fs": "./preload.cjs" },
    dependencies: { valibot: "file:./node_modules/valibot" },
  }),
  "tsconfig.json": JSON.stringify({
    compilerOptions: { baseUrl: ".", paths: { "*": ["./preload.cjs"], "bun:sqlite": ["./preload.cjs"] } },
  }),
  "jsconfig.json": "{ this is none",
  "bun.lock": "{ this is none",
  "bun.lockb": "\0",
  "contracts/digests.json": "{ this is none",
  "search-worker.js": PRELOAD,
  ...Object.fromEntries(
    ["valibot", "citty", "diff", "re2js", "picocolors", "@modelcontextprotocol/sdk", "bun:sqlite", "bun:ffi"].flatMap(
      (name) => [
        [`node_modules/${name}/package.json`, JSON.stringify({ name, version: "9.9.9", main: "index.js" })],
        [`node_modules/${name}/index.js`, PRELOAD],
      ],
    ),
  ),
};

const SEAT = {
  turns: [
    { id: "form", times: 99, when: { constraint: "any" }, reply: { json: { summary: "412 pallets" } } },
    { id: "plain", times: 99, reply: { content: "there are 412 pallets" } },
  ],
};
const CONTRACT = {
  goal: "how many pallets?",
  context_paths: ["d.md"],
  output_schema: { type: "object", properties: { summary: { type: "string" } }, required: ["summary"] },
  acceptance: ["contains:412", "nonempty:summary"],
};
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const CLOSING = {
  evidence_report: { verification: { type: "command", command: "sh check.sh", result: "pass" } },
  conclusion: "It holds.",
  agent_status: { agent_state: "COMPLETE", next_action: "done" },
};

/** Each call as it is typed; `$1` is the address of a seat. */
const CALLS = [
  "writ --version",
  "writ --help",
  "writ run -- sh check.sh",
  "writ run -- pwd >/dev/null",
  `writ record <<'END'\n{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"true"},"tool_response":{"stdout":"x"}}\nEND`,
  "writ contract add evidence_report.key_outputs one",
  "writ contract set conclusion 'It holds.'",
  `writ contract fill --json '${JSON.stringify(CLOSING)}'`,
  "writ contract view --json",
  "writ contract validate --close",
  "writ contract finalize",
  "writ contract list --json",
  "writ contract log",
  "writ record verify",
  "writ config show",
  "writ context list",
  "writ runs list",
  "writ template show research-digest",
  "writ help skill",
  "writ completions bash",
  "writ plan check plan.md",
  "writ hooks install claude-code",
  "writ lint c.json --read-root .",
  'WRIT_SEAT_URL="$1" writ delegate --contract c.json --read-root . --json',
  "writ gate fixtures",
  `printf %s '{"schema_version":1,"name":"x","mode":"write","legz":[]}' > "$2/g.json"; writ gate check "$2/g.json"`,
  `writ mcp <<'END'\n${JSON.stringify(INITIALIZE)}\nEND`,
];

let seat: RunningSeat;
const worlds: LivingWorld[] = [];
beforeAll(async () => {
  seat = await startScriptedSeat(SEAT);
});
afterAll(async () => {
  await seat.close();
  for (const world of worlds) world[Symbol.dispose]();
});

function litter(folder: string): void {
  for (const [name, text] of Object.entries(HOSTILE)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** What a shell sees of each call, with what no two worlds share made the same. */
async function sessionIn(isHostile: boolean): Promise<readonly string[]> {
  // The places of the data are those that a user without any variable has.
  const world = livingWorld({ WRIT_DATA_DIR: undefined, XDG_CONFIG_HOME: undefined });
  worlds.push(world);
  const cwd = join(world.folder, "project");
  const home = join(world.folder, "home");
  for (const folder of [cwd, home]) mkdirSync(folder);
  if (isHostile) for (const folder of [world.folder, cwd, home]) litter(folder);
  writeFileSync(join(cwd, "check.sh"), "echo '1 passed, 0 failed'\n");
  writeFileSync(join(cwd, "plan.md"), "# Plan\n\n- [ ] one\n");
  writeFileSync(join(cwd, "d.md"), "Rotterdam holds 412 pallets\n");
  writeFileSync(join(cwd, "c.json"), JSON.stringify(CONTRACT));
  const id = /WRIT_CONTRACT_ID=(.*)\n$/.exec((await world.shell("writ dispatch --agent t", { cwd })).stdout)?.[1] ?? "";
  const even = (ran: Ran) =>
    shown(ran)
      .replaceAll(world.folder, "WORLD")
      .replaceAll(id, "ID")
      .replaceAll(id.split(".")[0] ?? "", "AGENT")
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "NOW")
      .replaceAll(/\b[0-9a-f]{64}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, "HEX")
      .replaceAll(
        /[0-9a-f]{40,}…|\bwrt-[0-9a-f]+|\bwall=\d+s|"(?:[a-z_]+_)?(?:sec|ms|s)":[\d.]+|\(pid \d+\)|"(?:id|call|run)_id":"[^"]*"|\b\d+\.\d+s\b/g,
        "N",
      );
  const seen = [];
  for (const call of CALLS) {
    const ran = await world.shell(call, { cwd, env: { WRIT_CONTRACT_ID: id } }, seat.url, world.folder);
    seen.push(`$ ${call}\n${even(ran)}`);
  }
  expect(existsSync(join(home, ".writ", "writ.db"))).toBe(true);
  for (const folder of [world.folder, cwd, home]) expect(existsSync(join(folder, "was-loaded"))).toBe(false);
  return seen;
}

describe.skipIf(process.platform === "win32")("what would change Bun itself", () => {
  test.each([
    ["BUN_OPTIONS", "--preload ./preload.cjs"],
    ["BUN_OPTIONS", "--version"],
    ["BUN_OPTIONS", "--no-such-option"],
    ["BUN_BE_BUN", "0"],
    ["BUN_CONFIG_FILE", "./bunfig.toml"],
    ["BUN_CONFIG_PRELOAD", "./preload.cjs"],
    ["BUN_INSTALL", "."],
    ["XDG_CONFIG_HOME", "."],
    ["NODE_OPTIONS", "--require ./preload.cjs"],
    ["NODE_PATH", "./node_modules"],
    ["NODE_ENV", "production"],
    ["NODE_DEBUG", "fs"],
  ])("%s=%s changes nothing", async (name, value) => {
    using world = livingWorld();
    litter(world.folder);
    const ran = await world.writ(["contract", "list"], { env: { [name]: value } });
    expect(shown(ran)).toBe("No handoffs matched.\n--- exit 0\n");
    expect(existsSync(join(world.folder, "was-loaded"))).toBe(false);
  });
});

describe.skipIf(process.platform === "win32")("in a folder that was deleted", () => {
  const gone = async (words: string, stdin = "") => {
    using world = livingWorld();
    const ran = await world.shell(`mkdir gone; cd gone; rmdir ../gone; writ ${words}`, { stdin });
    return shown({ ...ran, stderr: ran.stderr.replace(/^.*getcwd.*\n/gm, "") }); // what shells say of it
  };

  test("what needs no folder works", async () => {
    expect(await gone("contract list")).toBe("No handoffs matched.\n--- exit 0\n");
    expect(await gone("run -- echo one")).toContain("one\n");
    expect(await gone("record", "{}")).toEndWith("--- exit 0\n");
  });

  test.each(["doctor", "plan check x.md", "handoff", "delegate --contract c.json", "mcp"])(
    "writ %s says so and ends in 4",
    async (words) => {
      expect(await gone(words)).toBe(
        "--- stderr\nError: The folder that writ was started in is no longer there\nGo to a folder that is there and call again: cd /\n--- exit 4\n",
      );
    },
  );
});

test.skipIf(process.platform !== "linux")(
  "a word that is no UTF-8 is refused, and U+FFFD is a letter (Linux)",
  async () => {
    using world = livingWorld();
    expect(shown(await world.shell(`writ run -- touch $'a\\xff'; ls`))).toBe(
      `bin\n--- stderr\nError: Word 4 behind "writ" is no UTF-8: "a\ufffd"\nHand the text over in UTF-8; a name that is none can stand in a script that is run\n--- exit 0\n`,
    );
    expect(shown(await world.shell("writ run -- echo '\ufffd'"))).toStartWith("\ufffd\n");
  },
);

test("every call is the same in a folder full of what Bun would read", async () => {
  const [plain, hostile] = await Promise.all([sessionIn(false), sessionIn(true)]);
  expect(hostile).toEqual(plain);
  const found = plain.filter((each) => !each.endsWith("--- exit 0\n")).map((each) => each.split("\n", 1)[0]);
  expect(found).toEqual(["$ writ plan check plan.md", expect.stringContaining("gate check")]);
}, 120_000);
