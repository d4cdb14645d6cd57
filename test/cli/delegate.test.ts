import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";
import { openScreen } from "../support/screen.ts";
import { type RunningSeat, startScriptedSeat } from "../support/scripted-seat.ts";
import { documentOf, type LivingWorld, livingWorld, type Ran, writCommand } from "../support/writ.ts";

const EDIT = { path: "work/n.txt", content: "412\n" };
const SCRIPT = {
  model: "m",
  slots: 4,
  turns: [
    {
      id: "hang",
      times: 99,
      when: { goal_contains: "hang", constraint: "none" },
      reply: { content: "there are many", cut: { how: "hang", at: "tokens", n: 1 } },
    },
    {
      id: "write",
      times: 99,
      when: { goal_contains: "write", step: 1, tools: "write_file" },
      reply: { tool_calls: [{ name: "write_file", arguments: EDIT }] },
    },
    {
      id: "large",
      times: 99,
      when: { goal_contains: "large" },
      reply: { content: [{ repeat: "0123456789abcdef", count: 25_000 }], chunk: { by: "all" } },
    },
    {
      id: "hostile",
      times: 99,
      when: { goal_contains: "hostile" },
      reply: { content: "412 \u001b[2J\u001b]0;x\u0007\u202epallets" },
    },
    { id: "second", when: { goal_contains: "second", request: 1 }, count: "server", reply: { content: "many" } },
    { id: "form", times: 999, when: { constraint: "any" }, reply: { json: { summary: "412 pallets" } } },
    { id: "plain", times: 999, reply: { content: "there are 412 pallets" } },
  ],
};
const SCHEMA = { type: "object", properties: { summary: { type: "string" } }, required: ["summary"] };
const CONTEXT = [{ name: "work/d.md", text: "Rotterdam holds 412 pallets in bay QX-9" }];
const CONTRACTS = {
  "count.json": { goal: "how many pallets?", context: CONTEXT, output_schema: SCHEMA, acceptance: ["contains:412"] },
  "plain.json": { goal: "how many pallets?", acceptance: ["contains:412"] },
  "wrong.json": { goal: "how many pallets?", acceptance: ["contains:zebra"] },
  "second.json": { goal: "second: how many pallets?", acceptance: ["contains:412"] },
  "large.json": { goal: "large: how many pallets?" },
  "hostile.json": { goal: "hostile: how many pallets?" },
  "three.json": [{ goal: "how many pallets?" }, { goal: "hang: how many?" }, { goal: "hang: how many?" }],
  "write.json": {
    goal: "write: the count to work/n.txt",
    context: CONTEXT,
    output_schema: SCHEMA,
    acceptance: ["diff_touches:work/n.txt", "diff_max_files:1"],
    write_root: "work",
  },
  "stray.json": {
    goal: "write: the count to work/n.txt",
    context: CONTEXT,
    output_schema: SCHEMA,
    acceptance: ["diff_touches:work/other.txt"],
    write_root: "work",
  },
  "bad.json": [{ goal: "" }, { goal: "x", acceptance: ["contans:x"] }],
};

let world: LivingWorld;
let seat: RunningSeat;
beforeAll(async () => {
  world = livingWorld();
  seat = await startScriptedSeat(SCRIPT);
  for (const [name, value] of Object.entries(CONTRACTS)) writeFileSync(join(world.folder, name), JSON.stringify(value));
  const config = (name: string, fields: object) =>
    writeFileSync(join(world.folder, name), JSON.stringify({ seats: [seatOf("one")], ...fields }));
  mkdirSync(world.data, { recursive: true });
  config("data/config.json", {});
  config("two.json", { seats: [seatOf("one"), seatOf("other")], default_seat: "one" });
  config("open.json", { agent_allow_write: true });
  config("off.json", { delegation_enabled: false });
  config("none.json", { seats: [] });
});
afterAll(async () => {
  await seat.close();
  world[Symbol.dispose]();
});

const seatOf = (name: string) => ({
  name,
  base_url: seat.url,
  model: "scripted/m",
  engine: "llama.cpp",
  ctx_tokens: 32_768,
  slots: 4,
});

const delegate = (...args: string[]) => world.writ(["delegate", ...args]);
type Leg = JsonObject & { readonly placement: string; readonly reason?: string };
type Printed = JsonObject & {
  readonly ok: boolean;
  readonly summary: JsonObject;
  readonly results: readonly Leg[];
  readonly run_id: string;
  readonly started_at: string;
};
const printed = (ran: Ran): Printed => {
  if (!ran.stdout.endsWith("}\n")) throw new Error(`no document: ${ran.stdout}${ran.stderr}`);
  return JSON.parse(ran.stdout) as Printed;
};
const onlyLeg = (ran: Ran): Leg => {
  const [leg, ...more] = printed(ran).results;
  if (leg === undefined || more.length > 0) throw new Error("not one leg");
  return leg;
};

describe("writ delegate", () => {
  test("gives a program one document, and keeps talk on standard error", async () => {
    const ran = await delegate("--contract", "count.json");
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toStartWith('{"ok":true,"schema_version":1,"run_id":"run-');
    expect(onlyLeg(ran)).toMatchObject({
      status: "succeeded",
      node: "local",
      seat: "one",
      scripted: true,
      route: "auto",
      output: "there are 412 pallets",
      structured: { summary: "412 pallets" },
      repack: { mode: "grammar" },
      acceptance: [{ check: "contains:412", outcome: "pass" }],
      attempts: [{ n: 1, kind: "first", status: "succeeded" }],
    });
    const talk = ran.stderr.trimEnd().split("\n");
    expect(talk.at(0)).toBe('writ: leg 1 placed node=local seat=one reason="local free"');
    expect(talk.at(-1)).toMatch(/^writ: leg 1 done status=succeeded steps=1 wall=\d+s \(scripted\)$/);
  });

  test("says nothing beside the document with --quiet", async () => {
    expect((await delegate("--contract", "plain.json", "--quiet")).stderr).toBe("");
  });

  test("tries a failed leg on another seat, and says so", async () => {
    await seat.reset();
    const ran = await delegate("--contract", "second.json", "--config", "two.json", "--quiet");
    expect(onlyLeg(ran)).toMatchObject({ status: "succeeded", seat: "other", retried_on: "local" });
    expect(printed(ran).summary).toMatchObject({ retried: 1, retry_recovered: 1 });
  });

  test("ends in 0 for failed verification, and in 1 under --strict", async () => {
    const ran = await delegate("--contract", "wrong.json", "--quiet");
    expect([ran.exit, printed(ran).ok, onlyLeg(ran).status]).toEqual([0, true, "failed_verification"]);
    const strict = await delegate("--contract", "wrong.json", "--quiet", "--strict");
    expect([strict.exit, printed(strict).ok]).toEqual([1, false]);
  });

  test("ends in 4 where no place answers, and the last line says what was lost", async () => {
    const ran = await delegate("--contract", "count.json", "--config", "none.json", "--remote", "http://127.0.0.1:9");
    expect([ran.exit, onlyLeg(ran).defer_class]).toEqual([4, "infrastructure"]);
    expect(onlyLeg(ran).reason).toBe("no eligible place: http://127.0.0.1:9: probe (connection refused)");
    expect(ran.stderr).toEndWith("writ: 1 leg(s) lost to infrastructure/config\n");
  });

  test("says how to get a seat where there is none", async () => {
    const ran = await delegate("--contract", "plain.json", "--config", "none.json");
    expect([ran.exit, onlyLeg(ran).defer_class]).toEqual([4, "config"]);
    expect(ran.stderr).toContain("writ config init");
  });

  test("leaves a write door that is shut here as an honest defer", async () => {
    const ran = await delegate("--contract", "write.json", "--quiet");
    expect([ran.exit, onlyLeg(ran).defer_class, onlyLeg(ran).reason]).toEqual([
      0,
      "write",
      "write door closed: agent_allow_write is false here",
    ]);
  });

  test("writes the parts of a result to --out, and touches nothing else there", async () => {
    const out = join(world.folder, "out");
    mkdirSync(join(out, "01"), { recursive: true });
    writeFileSync(join(out, "notes.txt"), "mine");
    writeFileSync(join(out, "01", "output.txt"), "old");
    const ran = await delegate("--contract", "write.json", "--config", "open.json", "--out", "out", "--quiet");
    const leg = onlyLeg(ran);
    expect([ran.exit, leg.status]).toEqual([0, "succeeded"]);
    const file = (name: string) => readFileSync(join(out, name), "utf8");
    expect(readdirSync(out).sort()).toEqual(["01", "notes.txt", "result.json"]);
    expect(readdirSync(join(out, "01")).sort()).toEqual([
      "contract.json",
      "diff.patch",
      "output.txt",
      "structured.json",
    ]);
    expect(file("01/diff.patch")).toBe(leg.diff as string);
    expect(file("01/output.txt")).toBe(leg.output as string);
    expect(JSON.parse(file("01/contract.json"))).toMatchObject({
      schema_version: 1,
      context: CONTEXT,
      write_root: "work",
    });
    expect(JSON.parse(file("result.json"))).toMatchObject({ run_id: printed(ran).run_id });
    const again = await delegate("--contract", "plain.json", "--out", "out", "--quiet");
    expect(again.exit).toBe(0);
    expect(readdirSync(join(out, "01")).sort()).toEqual(["contract.json", "output.txt"]);
  });

  test("a diff whose leg failed has a name of its own in --out, under which it is not applied", async () => {
    const run = (contract: string) =>
      delegate("--contract", contract, "--config", "open.json", "--out", "kept", "--quiet");
    const names = () => readdirSync(join(world.folder, "kept", "01")).filter((name) => name.endsWith(".patch"));
    const failed = onlyLeg(await run("stray.json"));
    expect([failed.status, names()]).toEqual(["failed_verification", ["diff.unverified.patch"]]);
    const patch = join("kept", "01", "diff.unverified.patch");
    expect(readFileSync(join(world.folder, patch), "utf8")).toBe(failed.diff as string);
    const applied = await world.writ(["gate", "apply", patch, "--to", ".", "--yes", "--json"]);
    expect([applied.exit, JSON.parse(applied.stdout).code]).toEqual([3, "leg_unproved"]);
    expect(onlyLeg(await run("write.json")).status).toBe("succeeded");
    expect(names()).toEqual(["diff.patch"]);
  });

  test("adds a fingerprint with --fingerprint, or says why not", async () => {
    const ran = await delegate("--contract", "count.json", "--fingerprint");
    expect(ran.stderr).toContain("writ: leg 1: FINGERPRINT: no check was added");
  });
});

describe("what makes no sense runs nothing", () => {
  test.each<[string, readonly string[], number, string]>([
    [
      "a pin reason that is none, before any file is opened",
      ["--contract", "nowhere.json", "--pin-reason", "because"],
      2,
      "usage",
    ],
    [
      "a reason for the wrong route",
      ["--contract", "nowhere.json", "--route", "remote", "--pin-reason", "privacy"],
      2,
      "usage",
    ],
    ["a width outside of 1 to 8", ["--contract", "plain.json", "--width", "9"], 2, "bad_config"],
    ["a seat that is none here", ["--contract", "plain.json", "--route", "local", "--seat", "nine"], 2, "usage"],
    [
      "delegation that is off, before any contract is opened",
      ["--contract", "nowhere.json", "--config", "off.json"],
      3,
      "delegation_disabled",
    ],
    ["a contract that does not open", ["--contract", "nowhere.json"], 2, "bad_contract"],
    ["standard input named twice", ["--contract", "-", "--contract", "-"], 2, "usage"],
    ["no contract at all", [], 2, "usage"],
    ["an --out that cannot be made", ["--contract", "plain.json", "--out", "plain.json/x"], 4, "file_unwritable"],
  ])("%s", async (_, args, exit, code) => {
    const before = (await seat.log()).length;
    const ran = await delegate(...args, "--json");
    expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([exit, { ok: false, status: "error", code }]);
    expect((await seat.log()).length).toBe(before);
  });

  test("tells every issue of every file at once", async () => {
    const ran = await delegate("--contract", "bad.json", "--contract", "nowhere.json", "--json");
    const { issues } = JSON.parse(ran.stdout) as { issues: readonly JsonObject[] };
    expect(issues.map(({ file, path, code }) => [file, path, code])).toEqual([
      ["bad.json", "/0/goal", "goal_required"],
      ["bad.json", "/1/acceptance/0", "acceptance"],
      ["nowhere.json", "", "file_unreadable"],
    ]);
    const text = await delegate("--contract", "bad.json", "--contract", "nowhere.json");
    expect(text.stderr).toContain("bad.json: goal_required [/0/goal]: ");
    expect(text.stdout).toBe("");
  });

  test("refuses more than 64 legs over all files", async () => {
    writeFileSync(join(world.folder, "eight.json"), JSON.stringify(Array(8).fill({ goal: "x" })));
    const nine = Array.from({ length: 9 }, () => ["--contract", "eight.json"]).flat();
    const ran = await delegate(...nine, "--json");
    expect([ran.exit, JSON.parse(ran.stdout).message]).toEqual([
      2,
      "The files have 72 subtasks; one call takes 64 at most",
    ]);
  });
});

describe("a contract on standard input", () => {
  const text = JSON.stringify(CONTRACTS["plain.json"]);

  test("is read where it is named, and where it is offered", async () => {
    for (const args of [["--contract", "-"], []]) {
      const ran = await world.writ(["delegate", "--quiet", ...args], { stdin: text });
      expect([ran.exit, onlyLeg(ran).status]).toEqual([0, "succeeded"]);
    }
    const file = await world.shell("writ delegate --quiet < plain.json");
    expect(file.exit).toBe(0);
    const slow = await world.shell(
      '(printf "{\\"goal\\":"; sleep 0.2; printf "\\"how many?\\"}") | writ delegate --quiet',
    );
    expect([slow.exit, onlyLeg(slow).status]).toEqual([0, "succeeded"]);
  });

  test("that never comes through a pipe that stays open is not waited for", async () => {
    const child = Bun.spawn([...writCommand(), "delegate", "--json"], {
      cwd: world.folder,
      env: world.env(),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    const document = JSON.parse(await new Response(child.stdout).text());
    expect([await child.exited, document.message]).toEqual([2, "--contract required"]);
  });
});

describe("remotes", () => {
  const RECORD = {
    node_id: "node-b",
    protocol: 1,
    schema_versions: [1],
    max_running: 2,
    seats: [{ name: "pool-b", engine: "vllm", model: "m", ctx_tokens: 32_768, slots: 2, served: true }],
  };
  /** A node of which nothing but its health is there. */
  function serve(answer: (request: Request) => Response) {
    return Bun.serve({ port: 0, hostname: "127.0.0.1", development: false, fetch: answer });
  }

  test("a leg that a node does not take goes here instead, unless it is pinned there", async () => {
    using node = serve(({ url }) =>
      new URL(url).pathname === "/writ/v1/health" ? Response.json(RECORD) : new Response("", { status: 404 }),
    );
    const url = `http://127.0.0.1:${node.port}`;
    const ran = await delegate("--contract", "count.json", "--route", "remote", "--remote", url);
    expect(onlyLeg(ran)).toMatchObject({ status: "succeeded", node: "local", replacements: 1 });
    expect(ran.stderr).toContain('writ: leg 1 refused node=node-b said="404"');
    const pin = ["--route", "remote", "--pin-reason", "operator"];
    const pinned = await delegate("--contract", "count.json", ...pin, "--remote", url, "--quiet");
    expect([pinned.exit, onlyLeg(pinned).reason]).toEqual([
      1,
      "placement refused: 1 place(s) refused and none ran it (node-b: 404)",
    ]);
  });

  test("a token that is not accepted is the config's fault, and is sent to the node alone", async () => {
    const tokens: (string | null)[] = [];
    using node = serve((request) => {
      tokens.push(request.headers.get("authorization"));
      return Response.json({ ok: true, protocol: 1 });
    });
    const args = [
      "delegate",
      "--contract",
      "count.json",
      "--config",
      "none.json",
      "--remote",
      `http://127.0.0.1:${node.port}`,
    ];
    const ran = await world.writ(args, { env: { WRIT_NODE_TOKEN: "0123456789abcdef-secret" } });
    expect([onlyLeg(ran).defer_class, onlyLeg(ran).reason]).toEqual([
      "config",
      `no eligible place: http://127.0.0.1:${node.port}: probe (token not accepted)`,
    ]);
    expect(tokens).toEqual(["Bearer 0123456789abcdef-secret"]);
    expect(ran.stdout + ran.stderr).not.toContain("0123456789abcdef-secret");
  });

  test("what is no node is said to be none", async () => {
    using node = serve(() => new Response("<html>", { status: 200 }));
    const ran = await delegate(
      "--contract",
      "count.json",
      "--config",
      "none.json",
      "--remote",
      `http://127.0.0.1:${node.port}`,
      "--quiet",
    );
    expect(onlyLeg(ran).reason).toContain("no JSON: ");
  });
});

describe("being interrupted", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("by %s prints what there is and ends in %p", async (signal, exit) => {
    const child = Bun.spawn([...writCommand(), "delegate", "--contract", "three.json", "--width", "2"], {
      cwd: world.folder,
      env: world.env(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const reader = child.stderr.getReader();
    const decoder = new TextDecoder();
    let talk = "";
    // One leg has finished, and the second and the third hang.
    while (!talk.includes("leg 1 done") || !talk.includes("leg 3 placed")) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`it ended: ${talk}`);
      talk += decoder.decode(value, { stream: true });
    }
    child.kill(signal);
    const document = JSON.parse(await new Response(child.stdout).text()) as Printed;
    expect(await child.exited).toBe(exit);
    expect(document.ok).toBe(false);
    expect(document.summary).toMatchObject({ succeeded: 1, deferred: 2, canceled: 2, infrastructure: 0 });
    for (const { reason, defer_class } of document.results.slice(1)) {
      expect(defer_class).toBe("canceled");
      expect(reason).toMatch(/^canceled by the caller; job wrt-[0-9a-f]{24} on local was stopped \(/);
    }
  });
});

describe("standard output", () => {
  test("gets the whole of a large document, however slow its reader is", async () => {
    const ran = await world.shell("writ delegate --contract large.json --quiet | (sleep 0.3; cat)");
    expect((onlyLeg(ran).output as string).length).toBe(400_000);
  });

  test("that takes no more does not take the result with it", async () => {
    for (const where of ["> /dev/full", "| true"]) {
      const script = `writ delegate --contract large.json --quiet ${where}; echo $\{PIPESTATUS[0]}`;
      const ran = await world.shell(script);
      expect(ran.stdout).toBe("4\n");
      const id = /writ runs show (run-[0-9a-f]{24}) prints it again/.exec(ran.stderr)?.[1] ?? "";
      const kept = await world.writ(["runs", "show", id]);
      expect((onlyLeg(kept).output as string).length).toBe(400_000);
    }
  });
});

describe("a terminal", () => {
  const shownOn = async (columns: number, ...args: string[]) => {
    const screen = openScreen([...writCommand(), "delegate", ...args], {
      env: world.env({ TERM: "xterm" }),
      cwd: world.folder,
      columns,
    });
    return { exit: await screen.ended, text: screen.text() };
  };

  test.each([40, 100])("of %p columns gets a table, and its cursor back", async (columns) => {
    const { exit, text } = await shownOn(columns, "--contract", "plain.json", "--contract", "wrong.json");
    expect(exit).toBe(0);
    expect(text).toContain("\x1b[?25l");
    const end = text.lastIndexOf("\x1b[?25h");
    expect(end).toBeGreaterThan(0);
    const table = text
      .slice(end + 6)
      .replaceAll("\r", "")
      .trimEnd()
      .split("\n");
    for (const line of table.slice(0, -1)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
    expect(table.at(-1)).toMatch(/^1 succeeded, 1 failed verification in [\d.]+s; writ runs show run-[0-9a-f]{24}$/);
    expect(table.join("\n")).toContain("local/one (scripted)");
  });

  test.each(["dumb", ""])("of the type %j gets lines and no sequences", async (TERM) => {
    const screen = openScreen([...writCommand(), "delegate", "--contract", "plain.json"], {
      env: world.env({ TERM }),
      cwd: world.folder,
    });
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain("leg 1 done");
    expect(screen.text()).not.toContain("\x1b");
  });

  test("has its cursor back also where the process is ended at once", async () => {
    const screen = openScreen([...writCommand(), "delegate", "--contract", "three.json"], {
      env: world.env({ TERM: "xterm" }),
      cwd: world.folder,
    });
    await screen.shows("thinking");
    screen.type("\x1c");
    expect(await screen.ended).toBe(131);
    expect(screen.text().lastIndexOf("\x1b[?25h")).toBeGreaterThan(screen.text().lastIndexOf("\x1b[?25l"));
  });

  test("is not moved by what a model says", async () => {
    const { text } = await shownOn(80, "--contract", "hostile.json", "--no-progress");
    expect(text).toContain("412 pallets");
    expect(text).not.toMatch(/[\x1b\x07\u202e]/);
  });

  test("gets the document with --json, escaped", async () => {
    const { text } = await shownOn(80, "--contract", "hostile.json", "--json", "--quiet");
    expect(text).not.toMatch(/[\x1b\x07\u202e]/);
    expect((JSON.parse(text) as Printed).results[0]?.output).toBe("412 \u001b[2J\u001b]0;x\u0007\u202epallets");
  });
});

describe("writ runs", () => {
  test("lists delegations newest first, and shows them again", async () => {
    const first = printed(await delegate("--contract", "plain.json", "--quiet")).run_id;
    const second = printed(await delegate("--contract", "count.json", "--contract", "wrong.json", "--quiet")).run_id;
    const { runs } = JSON.parse((await world.writ(["runs", "list", "--limit", "2", "--json"])).stdout) as {
      runs: readonly JsonObject[];
    };
    expect(runs.map(({ run_id, legs, state }) => [run_id, legs, state])).toEqual([
      [second, 2, "ended"],
      [first, 1, "ended"],
    ]);
    const table = (await world.writ(["runs", "list", "--limit", "1"])).stdout.split("\n");
    expect(table[0]).toStartWith("delegation");
    expect(table[1]).toStartWith(second);

    const again = await world.writ(["runs", "show", second.slice(4, 16)]);
    expect(printed(again)).toMatchObject({ ok: true, run_id: second, results: [{ index: 0 }, { index: 1 }] });
    expect(again.stdout).not.toContain('"record"');
    const several = await world.writ(["runs", "show", "run-"]);
    expect([several.exit, several.stderr]).toEqual([3, expect.stringContaining('have an id that begins with "run-"')]);
    const leg = await world.writ(["runs", "show", second, "--index", "1"]);
    expect(JSON.parse(leg.stdout)).toMatchObject({ ok: true, index: 1, status: "failed_verification" });
    expect((await world.writ(["runs", "show", second, "--index", "0", "--field", "output"])).stdout).toBe(
      "there are 412 pallets",
    );
    expect((await world.writ(["runs", "show", first, "--field", "status"])).stdout).toBe("succeeded");
    expect((await world.writ(["runs", "show", second, "--index", "0", "--field", "structured"])).stdout).toBe(
      '{"summary":"412 pallets"}\n',
    );
  });

  test("shows a field in one document with --json", async () => {
    const { run_id } = printed(await delegate("--contract", "count.json", "--quiet"));
    const field = (name: string) => world.writ(["runs", "show", run_id, "--field", name, "--json"]);
    expect(await field("output")).toEqual({
      exit: 0,
      stderr: "",
      stdout: `{"ok":true,"run_id":"${run_id}","index":0,"field":"output","value":"there are 412 pallets"}\n`,
    });
    expect((await field("structured")).stdout).toBe(
      `{"ok":true,"run_id":"${run_id}","index":0,"field":"structured","value":{"summary":"412 pallets"}}\n`,
    );
    expect(JSON.parse((await field("deferred")).stdout)).toMatchObject({ ok: true, value: false });
  });

  test("grades a kept result again", async () => {
    const { run_id } = printed(await delegate("--contract", "count.json", "--quiet"));
    const ran = await world.shell(`writ runs show ${run_id} > kept.json && writ grade count.json --result kept.json`);
    expect(ran.exit).toBe(0);
    const file = join(world.data, "run", "runs", `${run_id}.json`);
    expect((await world.writ(["grade", "count.json", "--result", file])).exit).toBe(0);
  });

  test.each<[string, readonly string[], number, string]>([
    ["an id that is none", ["show", "ffff0000"], 3, "no_run"],
    ["a leg that is none", ["show", "ID", "--index", "9"], 2, "no_leg"],
    ["a field that is none", ["show", "ID", "--index", "0", "--field", "outptu"], 2, "usage"],
  ])("refuses %s", async (_, args, exit, code) => {
    const { run_id } = printed(await delegate("--contract", "plain.json", "--quiet"));
    const ran = await world.writ(["runs", ...args.map((word) => (word === "ID" ? run_id : word)), "--json"]);
    expect([ran.exit, JSON.parse(ran.stdout)]).toMatchObject([exit, { ok: false, code }]);
  });

  test("are newest first by when they began, also where an older one ended later", async () => {
    const { run_id, started_at } = printed(await delegate("--contract", "plain.json", "--quiet"));
    using other = livingWorld();
    const runs = join(other.data, "run", "runs");
    mkdirSync(runs, { recursive: true });
    const text = readFileSync(join(world.data, "run", "runs", `${run_id}.json`), "utf8");
    const kept = (digit: string, began: string, written: string) => {
      const path = join(runs, `run-${digit.repeat(24)}.json`);
      writeFileSync(
        path,
        text.replaceAll(run_id, `run-${digit.repeat(24)}`).replace(started_at, `2026-01-05T${began}Z`),
      );
      utimesSync(path, new Date(`2026-01-05T${written}Z`), new Date(`2026-01-05T${written}Z`));
    };
    kept("a", "10:00:00", "10:09:00");
    kept("b", "10:00:02", "10:00:03");
    kept("c", "10:00:01", "10:00:04");
    const listed = async (limit: number) => {
      const ran = await other.writ(["runs", "list", "--limit", String(limit), "--json"]);
      return (documentOf(ran).runs as readonly { run_id: string }[]).map((each) => each.run_id.at(-1));
    };
    expect([await listed(9), await listed(1)]).toEqual([["b", "c", "a"], ["b"]]);
  });

  test("an empty list is an answer too", async () => {
    using empty = livingWorld();
    const ran = await empty.writ(["runs", "list"]);
    expect([ran.exit, ran.stdout]).toEqual([0, "There is no record of a delegation\n"]);
  });

  test("keeps no secret of the config or of the environment that it names", async () => {
    const key = "s3cr3t-value-of-a-seat";
    writeFileSync(
      join(world.folder, "keyed.json"),
      JSON.stringify({ seats: [{ ...seatOf("one"), api_key_env: "MY_SEAT" }] }),
    );
    writeFileSync(join(world.folder, "leak.json"), JSON.stringify({ goal: `how many? ${key} ghp_${"a1".repeat(20)}` }));
    const ran = await world.writ(["delegate", "--contract", "leak.json", "--config", "keyed.json"], {
      env: { MY_SEAT: key },
    });
    const { run_id } = printed(ran);
    const text = readFileSync(join(world.data, "run", "runs", `${run_id}.json`), "utf8");
    expect(text).not.toContain(key);
    expect(text).not.toContain("ghp_a1");
    expect(text).toContain("how many? [REDACTED]");
    expect(ran.stderr).toContain("SECRET-SHAPED: ");
    expect(ran.stderr).not.toContain("ghp_a1");
  });
});
