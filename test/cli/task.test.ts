/** `writ task …`, as a shell sees it. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

let world: LivingWorld;
beforeEach(() => {
  world = livingWorld();
});
afterEach(() => world[Symbol.dispose]());

const task = (...words: string[]) => world.writ(["task", ...words]);
const json = async (...words: string[]) => documentOf(await task(...words, "--json"));

/** A brief with a task and a gate; each is number 1. */
async function begun(): Promise<void> {
  await task("brief", "add", "checkout-fix");
  await task("add", "--brief", "checkout-fix", "--goal", "Round the total");
  await task("gate", "add", "1", "--type", "command", "--evidence-shape", "bun test exits 0");
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

describe("a session", () => {
  test("prints each id, and what a person wants to see", async () => {
    const texts: string[] = [];
    for (const words of [
      ["brief", "add", "checkout-fix"],
      ["add", "--brief", "checkout-fix", "--goal", "Round the total"],
      ["gate", "add", "1", "--type", "command", "--evidence-shape", "bun test exits 0"],
      ["gate", "add", "1", "--type", "semantic"],
      ["gate", "set", "1", "pass"],
      ["gate", "set", "2", "pass"],
      ["brief", "list"],
      ["list", "--brief", "checkout-fix"],
      ["gate", "list", "1"],
      ["gate", "set", "2", "fail"],
      ["set", "1", "skipped"],
      ["set", "1", "skipped"],
      ["gate", "set", "2", "pass"],
    ]) {
      texts.push(`$ ${words.join(" ")}\n${shown(await task(...words))}`);
    }
    expect(texts.join("").replaceAll(TIME, "TIME")).toMatchInlineSnapshot(`
      "$ brief add checkout-fix
      brief id=1 checkout-fix
      --- exit 0
      $ add --brief checkout-fix --goal Round the total
      task id=1
      --- exit 0
      $ gate add 1 --type command --evidence-shape bun test exits 0
      gate id=1
      --- exit 0
      $ gate add 1 --type semantic
      gate id=2
      --- exit 0
      $ gate set 1 pass
      gate id=1 pass
      --- exit 0
      $ gate set 2 pass
      gate id=2 pass
      task id=1 done
      --- exit 0
      $ brief list
      id  workspace  name          status  created_at
      1   me         checkout-fix  open    TIME
      1 brief.
      --- exit 0
      $ list --brief checkout-fix
      id  place  status  gates passed  goal
      1   1      done    2 of 2        Round the total
      1 task.
      --- exit 0
      $ gate list 1
      id  type      status  evidence_type  evidence_shape    artifact_path  settled_by  settled_at
      1   command   pass    -              bun test exits 0  -              -           TIME
      2   semantic  pass    -              -                 -              -           TIME
      2 gates, approving.
      --- exit 0
      $ gate set 2 fail
      gate id=2 fail
      task id=1 pending
      --- exit 0
      $ set 1 skipped
      task id=1 skipped
      --- exit 0
      $ set 1 skipped
      task id=1 skipped, as it was
      --- exit 0
      $ gate set 2 pass
      gate id=2 pass
      task id=1 stays skipped
      --- exit 0
      "
    `);
  });

  test("prints each row with --json", async () => {
    expect(await json("brief", "add", "b")).toMatchObject({
      ok: true,
      id: 1,
      workspace: "me",
      name: "b",
      status: "open",
    });
    expect(await json("add", "--brief", "b", "--goal", "g")).toEqual({
      ok: true,
      id: 1,
      plan_id: 1,
      brief_id: 1,
      order_num: 1,
      status: "pending",
      goal: "g",
    });
    const gate = await json("gate", "add", "1", "--type", "code", "--evidence-type", "text", "--artifact-path", "a.ts");
    expect(gate).toEqual({
      ok: true,
      id: 1,
      task_id: 1,
      verification_type: "code",
      evidence_type: "text",
      evidence_shape: null,
      artifact_path: "a.ts",
      status: "pending",
      settled_by_handoff_id: null,
      settled_at: null,
      derived_closure: {
        task_id: 1,
        approving: false,
        before: "pending",
        after: "pending",
        outcome: "unchanged",
        error: null,
      },
    });
    const verifier = documentOf(await world.writ(["dispatch", "--agent", "qa", "--json"]));
    const settled = await json("gate", "set", "1", "pass", "--handoff-id", String(verifier.handoff_id));
    expect(settled).toMatchObject({
      ok: true,
      id: 1,
      status: "pass",
      settled_by_handoff_id: verifier.handoff_id,
      derived_closure: { approving: true, before: "pending", after: "done", outcome: "moved" },
    });
    expect(await json("set", "1", "pending")).toMatchObject({ ok: true, id: 1, status: "pending", before: "done" });
    const { derived_closure: _, ok: __, ...row } = settled;
    expect(await json("gate", "list", "1")).toEqual({
      ok: true,
      task_id: 1,
      task_status: "pending",
      approving: true,
      count: 1,
      gates: [row],
    });
    expect(await json("list", "--brief", "b")).toMatchObject({
      ok: true,
      brief_id: 1,
      count: 1,
      tasks: [{ id: 1, approving: true, gates: [{ id: 1 }] }],
    });
    expect(await json("brief", "list")).toMatchObject({ ok: true, count: 1, briefs: [{ id: 1 }] });
  });
});

describe("workspaces", () => {
  test("the option, else the environment, else the turn's, else me", async () => {
    await task("brief", "add", "b", "--workspace", "shop");
    const add = ["task", "add", "--brief", "b", "--goal", "x"];
    expect((await world.writ(add)).exit).toBe(3);
    expect((await world.writ([...add, "--workspace", "shop"])).exit).toBe(0);
    expect((await world.writ(add, { env: { WRIT_WORKSPACE: "shop" } })).exit).toBe(0);
    const turn = await world.turn("--workspace", "shop");
    expect((await turn.writ(add)).exit).toBe(0);
    expect((await turn.writ(add, { env: { WRIT_WORKSPACE: "me" } })).exit).toBe(3);
    expect(await json("list", "--brief", "b", "--workspace", "shop")).toMatchObject({ count: 3 });
    await task("brief", "add", "b");
    expect(await json("brief", "list")).toMatchObject({ count: 2 });
    expect(await json("brief", "list", "--workspace", "me")).toMatchObject({ briefs: [{ workspace: "me" }] });
  });
});

describe("a producer", () => {
  test("settles its gate and does not close its task; its verifier does", async () => {
    await begun();
    const producer = await world.turn("--plan-task-id", "1");
    const refused = await producer.writ(["task", "set", "1", "done", "--json"]);
    expect(refused).toMatchObject({ exit: 3, stderr: "" });
    expect(documentOf(refused)).toMatchObject({ ok: false, code: "blind_verification_required", plan_task_id: 1 });
    const settled = await producer.writ(["task", "gate", "set", "1", "pass"]);
    expect(shown(settled)).toBe(
      "gate id=1 pass\ntask id=1 stays pending: the settling turn worked on it\n--- exit 0\n",
    );
    const verifier = documentOf(
      await world.writ(["dispatch", "--agent", "qa-verifier", "--parent-handoff-id", "1", "--json"]),
    );
    const env = { WRIT_CONTRACT_ID: String(verifier.contract_id) };
    const closed = await world.writ(["task", "gate", "set", "1", "pass"], { env });
    expect(shown(closed)).toBe("gate id=1 pass\ntask id=1 done\n--- exit 0\n");
    expect(await json("gate", "list", "1")).toMatchObject({ gates: [{ settled_by_handoff_id: verifier.handoff_id }] });
  });
});

test("a task that cannot follow its gate is reported, and the gate stands", async () => {
  await begun();
  using db = new Database(join(world.data, "writ.db"), { readwrite: true });
  db.run("CREATE TRIGGER no BEFORE UPDATE ON tasks BEGIN SELECT RAISE(ABORT, 'no'); END");
  const ran = await task("gate", "set", "1", "pass", "--json");
  expect(ran.exit).toBe(0);
  expect(ran.stderr).toStartWith("Warning: the gate stands, and task 1 could not follow:");
  expect(documentOf(ran)).toMatchObject({
    ok: true,
    status: "pass",
    derived_closure: { outcome: "failed", approving: null, error: { code: "internal", path: null, hint: null } },
  });
  expect(await json("gate", "list", "1")).toMatchObject({ task_status: "pending", gates: [{ status: "pass" }] });
});

test("eight processes that settle the gates of a task close it", async () => {
  await begun();
  for (let gate = 2; gate <= 8; gate++) await task("gate", "add", "1", "--type", "command");
  const ran = await Promise.all(
    Array.from({ length: 8 }, (_, index) => task("gate", "set", String(index + 1), "pass")),
  );
  expect(ran.map((one) => one.exit)).toEqual(Array(8).fill(0));
  expect(await json("gate", "list", "1")).toMatchObject({ task_status: "done", approving: true });
});

describe("what is refused", () => {
  test.each([
    [["brief", "add", "checkout-fix"], 3, "brief_exists"],
    [["add", "--brief", "none", "--goal", "x"], 3, "no_row"],
    [["list", "--brief", "none"], 3, "no_row"],
    [["gate", "add", "99", "--type", "command"], 3, "no_row"],
    [["gate", "list", "99"], 3, "no_row"],
    [["gate", "set", "99", "pass"], 3, "no_row"],
    [["gate", "set", "1", "pass", "--handoff-id", "99"], 3, "no_row"],
    [["set", "99", "done"], 3, "no_row"],
    [["set", "9223372036854775807", "done"], 3, "no_row"],
    [["brief", "add", "../x"], 2, "usage"],
    [["brief", "add", "a\u001b[2J"], 2, "usage"],
    [["brief", "add", " "], 2, "usage"],
    [["brief", "add"], 2, "usage"],
    [["add", "--brief", "checkout-fix", "--goal", " "], 2, "usage"],
    [["add", "--brief", "checkout-fix"], 2, "usage"],
    [["gate", "add", "1", "--type", "none"], 2, "usage"],
    [["gate", "add", "one", "--type", "code"], 2, "usage"],
    [["gate", "set", "1", "passed"], 2, "usage"],
    [["gate", "set", "1"], 2, "usage"],
    [["gate", "set", "-1", "pass"], 2, "usage"],
    [["gate", "set", "1", "pass", "--handoff-id", "0"], 2, "usage"],
    [["set", "1", "open"], 2, "usage"],
    [["gate"], 2, "usage"],
    [["brief"], 2, "usage"],
  ])("%j ends in %d, %s, and changes nothing", async (words, exit, code) => {
    await begun();
    const all = async () => [await json("brief", "list"), await json("list", "--brief", "checkout-fix")];
    const before = await all();
    const ran = await task(...words, "--json");
    expect(ran).toMatchObject({ exit, stderr: "" });
    expect(documentOf(ran)).toMatchObject({ ok: false, code });
    const plain = await task(...words);
    expect(plain).toMatchObject({ exit, stdout: "" });
    expect(plain.stderr).not.toMatch(/\u001b/);
    expect(await all()).toEqual(before);
  });

  test.each([
    [["brief", "add", "x"], "writ task brief add"],
    [["plan", "create"], "writ task add"],
  ])("%j names the right command", async (words, meant) => {
    expect(await world.writ(words)).toMatchObject({ exit: 2, stderr: expect.stringContaining(meant) });
  });

  test("a usage error and a look make no store", async () => {
    for (const words of [
      ["brief", "add", ".."],
      ["add", "--brief", "b", "--goal", ""],
      ["brief", "list"],
    ])
      await task(...words);
    for (const words of [
      ["list", "--brief", "b"],
      ["gate", "list", "1"],
    ])
      expect((await task(...words)).exit).toBe(3);
    expect(existsSync(world.data)).toBe(false);
  });
});

test("empty lists are answers", async () => {
  expect(shown(await task("brief", "list"))).toBe("No briefs matched.\n--- exit 0\n");
  await task("brief", "add", "b");
  expect(shown(await task("list", "--brief", "b"))).toBe("No tasks matched.\n--- exit 0\n");
  await task("add", "--brief", "b", "--goal", "x");
  expect(shown(await task("gate", "list", "1"))).toBe("No gates matched.\n--- exit 0\n");
  expect(await json("gate", "list", "1")).toMatchObject({ count: 0, approving: false });
});

test("what would move a cursor is stripped for a person, and kept in JSON", async () => {
  const hostile = "a\u001b[2J\u202eb\u0007";
  await task("brief", "add", "b");
  await task("add", "--brief", "b", "--goal", hostile);
  await task("gate", "add", "1", "--type", "code", "--evidence-shape", hostile, "--artifact-path", hostile);
  for (const words of [
    ["list", "--brief", "b"],
    ["gate", "list", "1"],
  ]) {
    const { stdout } = await task(...words);
    expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(stdout).toContain("ab");
  }
  expect(await json("list", "--brief", "b")).toMatchObject({ tasks: [{ goal: hostile }] });
});
