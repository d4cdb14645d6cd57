import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configureNode, startNode } from "../support/node-command.ts";
import { type RunningSeat, startScriptedSeat } from "../support/scripted-seat.ts";
import { livingWorld, writCommand } from "../support/writ.ts";

const edit = (path: string, old_string: string, new_string: string) => ({
  name: "edit_file",
  arguments: { path, old_string, new_string },
});

/** A seat that does every task of the write-door set rightly. */
const script = JSON.parse(readFileSync(join(import.meta.dir, "../../fixtures/write-door/right.json"), "utf8"));

const seats: RunningSeat[] = [];
afterAll(async () => {
  for (const seat of seats) await seat.close();
});

async function gated(seatScript = script, door = "true") {
  const seat = await startScriptedSeat(seatScript);
  seats.push(seat);
  return livingWorld({ WRIT_SEAT_URL: seat.url, WRIT_AGENT_ALLOW_WRITE: door });
}

describe("writ gate write-door", () => {
  test("is a PASS where a seat does every task rightly, and says that the seat was scripted", async () => {
    using world = await gated();
    const reports = join(world.folder, "writ-gate/write-door");
    mkdirSync(reports, { recursive: true });
    // What is no report is passed over, also where it is no file.
    const odd = "report-20200101T000000Z.json";
    expect(Bun.spawnSync(["mkfifo", join(reports, odd)]).exitCode).toBe(0);
    const ran = await world.writ(["gate", "write-door", "--html", "page.html"]);
    expect(
      ran.stderr
        .split("\n")
        .filter((line) => /^(PASS|FAIL|INC)/.test(line))
        .map((line) => line.replace(/ [\d.]+s /, " # ")),
    ).toEqual([
      "PASS t1 # local/env (scripted) files=clamp.ts 170 B — red → green",
      expect.stringMatching(/^PASS t2 # local\/env \(scripted\) files=port.test.ts,port.ts \d+ B — green → green$/),
      expect.stringMatching(/^PASS t3 # local\/env \(scripted\) files=nodes.json,nodes.md \d+ B — 6 proofs hold$/),
      expect.stringMatching(/^PASS t4 # local\/env \(scripted\) files=release-notes.md \d+ B — 1 proof holds$/),
    ]);
    expect([ran.exit, ran.stdout]).toEqual([0, "PASS (scripted seat): 4 legs, 4 PASS, 0 FAIL, 0 INCONCLUSIVE\n"]);
    const kept = readdirSync(reports);
    expect(kept).toContain("t1.patch");
    expect(kept.filter((name) => name.startsWith("report-") && name !== odd)).toHaveLength(1);
    expect(readFileSync(join(world.folder, "page.html"), "utf8")).toContain("PASS</span> (scripted seat)");
  });

  test("with --json prints one document; a part of the set is INCONCLUSIVE", async () => {
    using world = await gated();
    const ran = await world.writ(["gate", "write-door", "--only", "t4", "--json", "--out", "kept"]);
    const { report_file, ...report } = JSON.parse(ran.stdout);
    expect(ran.exit).toBe(4);
    expect(report).toMatchObject({
      ok: false,
      gate: "write-door",
      form: "ts",
      verdict: "INCONCLUSIVE",
      partial: true,
      scripted: true,
      route: "local",
      legs: [{ name: "t4", verdict: "PASS", applied: true }],
    });
    expect(existsSync(join(world.folder, report_file))).toBe(true);
  });

  test("is a FAIL where the door is shut, and where the seat weakens the test", async () => {
    using shut = await gated(script, "false");
    const closedDoor = await shut.writ(["gate", "write-door", "--only", "t1", "--json"]);
    expect([closedDoor.exit, JSON.parse(closedDoor.stdout).legs[0]]).toMatchObject([
      1,
      { verdict: "FAIL", cause: "deferred", detail: expect.stringContaining("write door closed") },
    ]);
    const weak = {
      ...script,
      turns: [
        {
          id: "weak",
          when: { step: 1, tools: true },
          reply: {
            tool_calls: [
              edit("clamp.test.ts", 'name: "above", v: 42, want: 10', 'name: "above", v: 42, want: 0'),
              edit("clamp.ts", "/**", "/* *"),
            ],
          },
        },
        ...script.turns,
      ],
    };
    using world = await gated(weak);
    const ran = await world.writ(["gate", "write-door", "--only", "t1", "--json"]);
    expect([ran.exit, JSON.parse(ran.stdout).legs[0].verdict]).toEqual([1, "FAIL"]);
  });

  test("a scripted seat that refuses is called scripted, and a FAIL of a part is no matter of the part", async () => {
    using world = await gated({
      name: "other",
      turns: [{ id: "never", when: { step: 9 }, reply: { content: "never" } }],
    });
    const ran = await world.writ(["gate", "write-door", "--only", "t1"]);
    expect(ran.exit).toBe(1);
    expect(ran.stderr).toMatch(/^FAIL t1 [\d.]+s local\/env \(scripted\) no files — deferred: .*no turn fits/m);
    expect(ran.stdout).toBe("FAIL (scripted seat), of a part of the set: 1 leg, 0 PASS, 1 FAIL, 0 INCONCLUSIVE\n");
  });

  test("is INCONCLUSIVE where nobody answers for the seat", async () => {
    using world = livingWorld({
      WRIT_SEAT_URL: "http://127.0.0.1:1",
      WRIT_SEAT_ENGINE: "llama.cpp",
      WRIT_SEAT_MODEL: "m",
      WRIT_AGENT_ALLOW_WRITE: "true",
    });
    mkdirSync(world.data, { recursive: true });
    writeFileSync(join(world.data, "config.json"), JSON.stringify({ limits: { admission_wait_sec: -1 } }));
    const ran = await world.writ(["gate", "write-door", "--only", "t4", "--json"]);
    expect([ran.exit, JSON.parse(ran.stdout).legs[0].cause]).toEqual([4, "unreachable"]);
  });

  test.each<[readonly string[], string]>([
    [["--only", "t9"], 'There is no leg "t9"'],
    [["--seat", "nobody"], 'No seat here is called "nobody"'],
    [["--dir", "nowhere"], 'There is no folder "nowhere"'],
  ])("of %p is a usage error", async (words, message) => {
    using world = await gated();
    const ran = await world.writ(["gate", "write-door", ...words]);
    expect([ran.exit, ran.stdout, ran.stderr]).toEqual([2, "", expect.stringContaining(message)]);
  });
});

test("reports of gates that end in one second have a name each, and none is lost", async () => {
  using world = livingWorld();
  const [folder, keepers, count] = [join(world.folder, "kept"), 6, 10];
  mkdirSync(folder);
  const children = Array.from({ length: keepers }, () =>
    Bun.spawn([process.execPath, join(import.meta.dir, "../support/report-keeper.ts"), folder, String(count)], {
      stdin: "pipe",
      stdout: "pipe",
    }),
  );
  for (const child of children) await child.stdout.getReader().read();
  for (const child of children) child.stdin.end();
  expect(await Promise.all(children.map((child) => child.exited))).toEqual(children.map(() => 0));
  expect(readdirSync(folder)).toHaveLength(keepers * count);
});

describe("writ gate run", () => {
  const GATE = {
    schema_version: 1,
    name: "mine",
    mode: "write",
    legs: [
      {
        name: "one",
        dir: "one",
        contract: "contract.json",
        expect_files: ["release-notes.md"],
        proofs: [
          { kind: "command", run: ["sh", "-c", "grep final release-notes.md"], expect: "pass", match: "Status: final" },
        ],
      },
    ],
  };

  async function written() {
    const world = await gated();
    mkdirSync(join(world.folder, "g/one"), { recursive: true });
    writeFileSync(join(world.folder, "g/gate.json"), JSON.stringify(GATE));
    for (const name of ["contract.json", "release-notes.md"]) {
      writeFileSync(
        join(world.folder, "g/one", name),
        readFileSync(join(import.meta.dir, "../../contracts/write-door/t4", name)),
      );
    }
    return world;
  }

  test("runs a gate of the user's with --yes, having said what it will run", async () => {
    using world = await written();
    const ran = await world.writ(["gate", "run", "g/gate.json", "--yes"]);
    expect([ran.exit, ran.stdout]).toEqual([0, "PASS (scripted seat): 1 leg, 1 PASS, 0 FAIL, 0 INCONCLUSIVE\n"]);
    expect(ran.stderr).toContain("  sh -c grep final release-notes.md\n");
  });

  test.each([
    ["n", 3, "were not agreed to"],
    ["y", 0, "PASS (scripted seat)"],
  ])("asks on a terminal, and %s ends in %p", async (answer, exit, said) => {
    using world = await written();
    let shown = "";
    const child = Bun.spawn([...writCommand(), "gate", "run", "g/gate.json"], {
      cwd: world.folder,
      env: world.env({ NO_COLOR: "1", TERM: "xterm" }),
      terminal: {
        cols: 100,
        rows: 30,
        data(terminal, bytes) {
          shown += new TextDecoder().decode(bytes);
          if (shown.includes("Run them? [y/N]") && !shown.includes("asked")) {
            shown += "asked";
            terminal.write(`${answer}\r`);
          }
        },
      },
    });
    expect([await child.exited, shown]).toEqual([exit, expect.stringContaining(said)]);
  });

  test("a link in the fixture is a FAIL of the fixture, and the seat is not asked", async () => {
    using world = await written();
    symlinkSync("/etc/passwd", join(world.folder, "g/one/link"));
    const ran = await world.writ(["gate", "run", "g/gate.json", "--yes", "--json"]);
    expect([ran.exit, JSON.parse(ran.stdout).legs[0]]).toMatchObject([
      1,
      { cause: "fixture", detail: "link is a link", exit: null },
    ]);
  });

  test("a document that is a folder, or a contract that is none, is a FAIL of the fixture", async () => {
    using world = await written();
    const place = join(world.folder, "g/one/release-notes.md");
    const fails = async (detail: string) => {
      const ran = await world.writ(["gate", "run", "g/gate.json", "--yes", "--json"]);
      expect([ran.exit, JSON.parse(ran.stdout).legs[0]]).toMatchObject([
        1,
        { verdict: "FAIL", cause: "fixture", detail: expect.stringContaining(detail) },
      ]);
    };
    rmSync(place);
    await fails("there is no such file");
    mkdirSync(place);
    writeFileSync(join(place, "deep"), "");
    await fails("release-notes.md");
    writeFileSync(join(world.folder, "g/one/contract.json"), "none");
    await fails("contract.json");
  });

  test("of a file that is no gate is a usage error with every issue", async () => {
    using world = await written();
    writeFileSync(join(world.folder, "g/gate.json"), JSON.stringify({ ...GATE, legz: 1 }));
    const ran = await world.writ(["gate", "run", "g/gate.json", "--json"]);
    expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([2, { code: "bad_gate", issues: [{ path: "/legz" }] }]);
  });
});

describe("writ gate parallel", () => {
  test("is a PASS where a seat of one slot is waited for by all, and none is given up", async () => {
    const digest = {
      ...script,
      slots: 1,
      turns: [
        { id: "fields", when: { constraint: "any" }, reply: { json: {} } },
        { id: "all", reply: { content: "nothing", delay_ms: 5 } },
      ],
    };
    using world = await gated(digest);
    const ran = await world.writ(["gate", "parallel", "-k", "2", "--no-peer", "--json"]);
    const report = JSON.parse(ran.stdout);
    expect(report).toMatchObject({
      gate: "parallel",
      k: 2,
      results_total: 16,
      scripted: true,
      peer: false,
      contended: 0,
      busy_defers: 0,
    });
    expect(report.waited).toBeGreaterThan(0);
  });

  test("counts the slots of a node, and begins nothing where the node does not answer", async () => {
    using world = await gated();
    const digest = {
      turns: [
        { id: "fields", when: { constraint: "any" }, reply: { json: {} } },
        { id: "all", reply: { content: "nothing" } },
      ],
    };
    await using seat = await startScriptedSeat({ ...digest, slots: 2 });
    using there = livingWorld();
    configureNode(there, { url: seat.url, more: { slots: 2 } });
    await using node = await startNode(there);
    await node.says(/seat s is served/);
    const ran = await world.writ(["gate", "parallel", "-k", "2", "--remote", node.url, "--json"]);
    expect(ran.stderr).toContain("2 calls of 8 legs on 2 slots: ");
    expect(JSON.parse(ran.stdout)).toMatchObject({ route: "remote", results_total: 16 });
    await node.stop("SIGKILL");
    const dead = await world.writ(["gate", "parallel", "-k", "2", "--remote", node.url, "--json"]);
    expect([dead.exit, JSON.parse(dead.stdout)]).toMatchObject([4, { cause: "seat not answering", results_total: 0 }]);
  });

  test("wants eight contracts, and 2 to 16 calls", async () => {
    using world = await gated();
    writeFileSync(join(world.folder, "one.json"), JSON.stringify({ goal: "x" }));
    const one = await world.writ(["gate", "parallel", "--contract", "one.json"]);
    expect([one.exit, one.stderr]).toEqual([2, expect.stringContaining("exactly 8 are due")]);
    expect((await world.writ(["gate", "parallel", "-k", "17"])).exit).toBe(2);
    expect((await world.writ(["gate", "parallel", "-k", "1"])).exit).toBe(2);
  });
});
