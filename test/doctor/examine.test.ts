import { describe, expect, test } from "bun:test";
import { WritError } from "../../src/core/error.ts";
import { planInstall } from "../../src/core/hooks/settings.ts";
import { type Finding, hasFailed } from "../../src/doctor/check.ts";
import { CHECKS, examine } from "../../src/doctor/examine.ts";
import type { Look } from "../../src/doctor/world.ts";
import {
  DATA,
  type DoctorScript,
  doctorWorld,
  installedText,
  PROJECT,
  type Rows,
  said,
  USER,
  WRIT,
} from "../support/doctor-world.ts";

async function told(script: DoctorScript = {}): Promise<readonly Finding[]> {
  return await examine(doctorWorld(script));
}

/** What is not well, as lines. */
async function wrong(script: DoctorScript): Promise<readonly string[]> {
  const findings = await told(script);
  return findings
    .filter(({ outcome }) => outcome === "FAIL" || outcome === "WARN")
    .map(({ check, subject, outcome, message }) => `${outcome === "WARN" ? "? " : ""}${check}: ${subject}: ${message}`);
}

function edited(
  edit: (hooks: Record<string, { matcher?: string; hooks: Record<string, unknown>[] }[]>) => void,
): DoctorScript {
  const settings = JSON.parse(installedText());
  edit(settings.hooks);
  return { files: { [PROJECT]: JSON.stringify(settings) } };
}

/** Checks that say of which of several they speak. */
const NAMED: Readonly<Record<string, string>> = { seat: "seat qwen", remote: "remote http://10.0.0.2:18811" };

test("where all is well, every check says so", async () => {
  const findings = await told();
  expect(hasFailed(findings)).toBe(false);
  expect(new Set(findings.filter((each) => each.outcome === "PASS").map((each) => each.check))).toEqual(
    new Set(CHECKS.map((check) => NAMED[check.name] ?? check.name)),
  );
  expect(
    findings.filter((each) => each.check === "recording").map((each) => `${each.subject}: ${each.message}`),
  ).toEqual([
    "true: It arrived with exit 0",
    "false: It arrived with exit 1",
    "sleep 60 (background): It arrived with an unknown outcome",
    "stop: It was sent back once, then recorded as cut",
  ]);
});

test.each([
  [
    { BUN_INSPECT_PRELOAD: "./x.ts" },
    ["? environment: BUN_INSPECT_PRELOAD: The file that it names runs in writ before writ does"],
  ],
  [
    { BUN_INSPECT: "1", LD_PRELOAD: "/x.so" },
    [
      "? environment: BUN_INSPECT: Every call of writ opens a debugger",
      "? environment: LD_PRELOAD: The libraries that it names run in writ",
    ],
  ],
  [{ BUN_INSPECT: "", BUN_OPTIONS: "--preload ./x.ts" }, []],
])("of the variables %p what they do to writ is said", async (variables: Readonly<Record<string, string>>, lines) => {
  expect(await wrong({ variable: (name) => variables[name] ?? "" })).toEqual(lines);
});

describe("hasFailed()", () => {
  const of = (...outcomes: Finding["outcome"][]) =>
    hasFailed(outcomes.map((outcome) => ({ check: "c", subject: "s", outcome, message: "m", hint: null })));
  test.each<[Finding["outcome"][], boolean]>([
    [["PASS", "SKIP"], false],
    [["PASS", "WARN"], false],
    [["WARN", "FAIL", "PASS"], true],
    [[], false],
  ])("of %p is %p", (outcomes, failed) => {
    expect(of(...outcomes)).toBe(failed);
  });
});

const folder = { kind: "folder" as const, mode: 0o700, isMine: true, isWritable: true };
/** Everything looks so but for the temporary folder. */
const outside = (look: Look | null) => (path: string) => (path === "/tmp" ? folder : look);

test.each<[string, DoctorScript, string[]]>([
  [
    "a data folder that others may use",
    { look: () => ({ ...folder, mode: 0o755 }) },
    [
      `data folder: ${DATA}: Others may use it (mode 755)`,
      `data folder: ${DATA}/contract_drafts: Others may use it (mode 755)`,
      `store: ${DATA}/writ.db: Others may use it (mode 755)`,
    ],
  ],
  [
    "a data folder that is a file",
    { look: outside({ ...folder, kind: "file" }) },
    [`data folder: ${DATA}: It is no folder`],
  ],
  [
    "a data folder that cannot be written",
    { look: outside({ ...folder, isWritable: false }) },
    [`data folder: ${DATA}: It cannot be written`],
  ],
  [
    "a data folder of somebody else",
    { look: () => ({ ...folder, isMine: false }) },
    [
      `data folder: ${DATA}: It belongs to another user`,
      `data folder: ${DATA}/contract_drafts: It belongs to another user`,
      `store: ${DATA}/writ.db: It belongs to another user`,
      `config: ${DATA}/config.json: It belongs to another user`,
    ],
  ],
  [
    "a data folder that cannot be made",
    { look: outside(null), canMake: () => false },
    [`data folder: ${DATA}: It is not there and cannot be made`],
  ],
  [
    "a store of a newer layout",
    { inspectStore: () => ({ kind: "read", layout: 9, known: 2, journal_mode: "wal", complaints: [] }) },
    [`store: ${DATA}/writ.db: It has layout 9; this writ knows 2`],
  ],
  [
    "a store that is not whole",
    {
      inspectStore: () => ({
        kind: "read",
        layout: 2,
        known: 2,
        journal_mode: "wal",
        complaints: ["page 7 is lost", "b"],
      }),
    },
    [`store: ${DATA}/writ.db: Its integrity check says: page 7 is lost (and 1 more)`],
  ],
  [
    "a store that is no database",
    { inspectStore: () => ({ kind: "failed", isBroken: true, reason: "not a database" }) },
    [`store: ${DATA}/writ.db: It cannot be used: not a database`],
  ],
  [
    "a store that is a folder",
    { inspectStore: () => ({ kind: "shut", isFile: false, reason: "it is no regular file" }) },
    [`store: ${DATA}/writ.db: It cannot be used: it is no regular file`],
  ],
  [
    "a store that is locked",
    { inspectStore: () => ({ kind: "failed", isBroken: false, reason: "locked" }) },
    [`? store: ${DATA}/writ.db: It could not be looked at: locked`],
  ],
  [
    "a folder without WAL",
    { walFault: () => "the journal mode stays delete" },
    [`store: ${DATA}: A WAL database does not work there: the journal mode stays delete`],
  ],
  ["no hooks", { files: {} }, ["? hooks: claude-code: No hook of writ is installed"]],
  [
    "settings that cannot be read",
    { files: { [PROJECT]: "{ // mine\n}" } },
    [
      `hooks: ${PROJECT}: The project settings cannot be read: Cannot read "${PROJECT}": line 1, column 3: comments are not JSON`,
      "? hooks: claude-code: No hook of writ is installed",
    ],
  ],
  [
    "hooks that are switched off",
    { files: { [PROJECT]: installedText(), [USER]: '{"disableAllHooks": true}' } },
    [`hooks: ${USER}: The user settings switch all hooks off`],
  ],
  [
    "no hook for failures",
    edited((hooks) => delete hooks.PostToolUseFailure),
    [
      "hooks: PostToolUseFailure: It is not registered: no command that fails is recorded: the record shows a world without failures",
      "recording: false: It did not arrive with exit 1: nothing is registered for PostToolUseFailure",
    ],
  ],
  [
    "no hook for the stop",
    edited((hooks) => delete hooks.SubagentStop),
    ["hooks: SubagentStop: It is not registered: a turn that stops unfinalized is neither sent back nor marked as cut"],
  ],
  [
    "a matcher that leaves Bash out",
    edited((hooks) => Object.assign(hooks.PostToolUse?.[0] ?? {}, { matcher: "Edit|Write" })),
    [
      "hooks: PostToolUse: Its matcher leaves Bash out: no command that succeeds is recorded",
      "recording: true: It did not arrive with exit 0: nothing is registered for PostToolUse",
      "recording: sleep 60 (background): It did not arrive with an unknown outcome: nothing is registered for PostToolUse",
    ],
  ],
  [
    "a hook that is not waited for",
    edited((hooks) => Object.assign(hooks.PostToolUse?.[0]?.hooks[0] ?? {}, { async: true })),
    ['hooks: PostToolUse: It is "async": what it reports may come after the turn was closed'],
  ],
  [
    "two writs for one event",
    edited((hooks) => hooks.SubagentStart?.[0]?.hooks.push({ type: "command", command: WRIT, args: ["record"] })),
    ["? hooks: SubagentStart: It calls writ in 2 different ways"],
  ],
  [
    "a hook under another harness",
    edited((hooks) =>
      Object.assign(hooks.PostToolUse?.[0]?.hooks[0] ?? {}, { args: ["record", "--harness", "codex"] }),
    ),
    ["hooks: PostToolUse: It says --harness codex, under which no outcome is known"],
  ],
  [
    "a writ that is not there",
    { findProgram: () => ({ path: null, isSelf: false }) },
    [
      `hooks: ${WRIT}: There is no such program`,
      "? recording: claude-code: A hook names a program that the doctor does not run; nothing was played",
    ],
  ],
  [
    "an older writ",
    { files: { [USER]: installedText(1, ["/old/writ"]) }, versionOf: async () => "0.9.0" },
    ["hooks: /old/writ: It is writ 0.9.0; this is 1.2.3"],
  ],
  [
    "what is called writ and is none",
    { files: { [USER]: installedText(1, ["/old/writ"]) }, versionOf: async () => null },
    ["hooks: /old/writ: It does not answer as writ does"],
  ],
  ["another file of the same version", { files: { [USER]: installedText(1, ["/old/writ"]) } }, []],
  [
    "another program that a project names",
    { files: { [PROJECT]: installedText(1, ["/old/writ"]) } },
    [
      "? hooks: /old/writ: A project names it, and it is another program than this writ; it was not run",
      "? recording: claude-code: A hook names a program that the doctor does not run; nothing was played",
    ],
  ],
  [
    "a program that came with the project",
    { files: { [PROJECT]: installedText(1, ["/work/bin/writ"]) } },
    [
      "? hooks: /work/bin/writ: A project names it, and it is another program than this writ; it was not run",
      "? recording: claude-code: A hook names a program that the doctor does not run; nothing was played",
    ],
  ],
  [
    "a line for a shell",
    {
      files: {
        [PROJECT]: planInstall(null, PROJECT, { harness: "claude-code", program: [WRIT], gate: 0 }).text.replace(
          /"command": "\/opt\/writ",\s*"args": \[[^\]]*\]/g,
          '"command": "/opt/writ record || true"',
        ),
      },
    },
    [
      "? hooks: /opt/writ record || true: It is a line for a shell that the doctor does not run",
      "? recording: claude-code: A hook names a program that the doctor does not run; nothing was played",
    ],
  ],
])("of %s it says what is wrong", async (_, script, lines) => {
  expect(await wrong(script)).toEqual(lines);
});

test("a program of the project is never run, whatever it answers", async () => {
  const world = doctorWorld({
    files: { [PROJECT]: installedText(1, ["/work/bin/writ"]) },
    versionOf: async () => {
      throw new Error("it was run");
    },
  });
  await examine(world);
  expect(world.called).toEqual([]);
});

test("the user's own settings may name any program", async () => {
  const world = doctorWorld({ files: { [USER]: installedText(1, ["/work/bin/writ"]) } });
  expect(hasFailed(await examine(world))).toBe(false);
  expect(world.called[0]).toBe("/work/bin/writ record --harness claude-code");
});

describe("the recording", () => {
  const play = async (rehearsal: DoctorScript["rehearsal"], gate = 1) =>
    (await wrong({ files: { [PROJECT]: installedText(gate) }, rehearsal: rehearsal ?? {} })).map((line) =>
      line.replace("recording: ", ""),
    );
  const runs = (rows: readonly (readonly [string, number | null])[]) => () =>
    new Map(rows.map(([command, exit_code]) => [command, { exit_code, failed: false }])) as Rows;

  test("what did not arrive is told with what its command said", async () => {
    const call = async () => said("", "Error: The store is locked\nmore");
    expect((await play({ runs: () => new Map(), call })).slice(0, 2)).toEqual([
      'true: It did not arrive with exit 0: its command says "Error: The store is locked"',
      'false: It did not arrive with exit 1: its command says "Error: The store is locked"',
    ]);
  });

  test("an outcome that is another one than it was is told", async () => {
    const rows = [
      ["true", 0],
      ["false", 0],
      ["sleep 60", 0],
    ] as const;
    expect(await play({ runs: runs(rows) })).toEqual([
      "false: It arrived with exit 0 instead of exit 1",
      "sleep 60 (background): It arrived with exit 0 instead of an unknown outcome",
    ]);
  });

  test.each([
    ["ends in 2", said("", "", 2), "SubagentStart: Its command ended in 2, and a hook has to end in 0"],
    ["prints", said("hello\n"), "SubagentStart: Its command printed something on standard output"],
    [
      "does not start",
      { kind: "not_started", reason: "did not start: no" } as const,
      "SubagentStart: Its command did not start: no",
    ],
    [
      "does not end",
      { kind: "late", reason: "did not end within 20 seconds" } as const,
      "SubagentStart: Its command did not end within 20 seconds",
    ],
  ])("a hook that %s would be seen in the harness", async (_, called, line) => {
    expect((await play({ call: async () => called }))[0]).toBe(line);
  });

  test("a gate that goes on for ever is found", async () => {
    const call = async () => said('{"decision":"block"}');
    const all = [
      ["true", 0],
      ["false", 1],
      ["sleep 60", null],
    ] as const;
    const lines = await play({ runs: runs(all), call }, 2);
    expect(lines.at(-1)).toBe("stop: The turn was sent back 3 times; the gate allows 2");
  });

  test("a gate that sends nobody back is found", async () => {
    const all = [
      ["true", 0],
      ["false", 1],
      ["sleep 60", null],
    ] as const;
    expect(await play({ runs: runs(all), call: async () => said("") }, 2)).toEqual([
      "stop: The turn was sent back 0 times; the gate says 2",
    ]);
  });

  test("a turn that is not marked as cut is found", async () => {
    const row = () => ({ agent_state: "DISPATCHED", cut_reason: "never_finalized" });
    expect(await play({ row })).toEqual(["stop: The turn was not recorded as cut: its row is DISPATCHED"]);
  });

  test("a gate of a hundred is not played to its end", async () => {
    const world = doctorWorld({ files: { [PROJECT]: installedText(100) } });
    expect(hasFailed(await examine(world))).toBe(false);
    expect(world.called.length).toBeLessThan(20);
  });

  test("its folder is removed, also when playing breaks", async () => {
    const world = doctorWorld();
    await examine(world);
    expect(world.closed).toBe(1);
    const broken = doctorWorld({
      rehearsal: {
        call: () => {
          throw new TypeError("kaput");
        },
        close: () => {
          broken.closed += 1;
        },
      },
    });
    await expect(examine(broken)).rejects.toThrow("kaput");
    expect(broken.closed).toBe(1);
  });

  test("where no folder can be made, nothing can be told", async () => {
    const openRehearsal = () => {
      throw new WritError("store_failed", "the disk is full");
    };
    expect(await wrong({ openRehearsal })).toEqual([
      "? recording: rehearsal: No scratch folder could be set up: the disk is full",
    ]);
  });
});
