import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

const ID = "a[0-9a-f]{16}\\.[0-9a-f]{12}";

/** Ids and the line about the machine differ with every call. */
function evened(text: string, id: string): string {
  const [agent = ""] = id.split(".");
  return text
    .replaceAll(id, "CONTRACT")
    .replaceAll(agent, "AGENT")
    .replace(/(# Environment\n\n).*/, "$1MACHINE");
}

describe("writ dispatch", () => {
  test("prints the block that the turn is given, and the line for its environment", async () => {
    const ran = await world.writ(
      ["dispatch", "--agent", "backend-dev", "--goal", "Find why it fails\nand fix it", "--role", "fixer"].concat([
        "--surface",
        "api",
        "--can-read",
        "stack, apps,stack",
        "--can-write",
        "stack",
        "--workspace",
        "mine",
      ]),
    );
    const id = new RegExp(`WRIT_CONTRACT_ID=(${ID})\n$`).exec(ran.stdout)?.[1] ?? "";
    expect(evened(shown(ran), id)).toMatchInlineSnapshot(`
      "# Your Contract

      contract_id: CONTRACT
      agent_id:    AGENT

      goal: Find why it fails
        and fix it

      role: fixer
      surface: api

      can_read:  [stack, apps]
      can_write: [stack]

      # Environment

      MACHINE

      # Your CLI

        writ contract view | validate | list
        writ contract set | add | fill | finalize --draft-id CONTRACT
        writ run -- CMD
        writ evidence add | list | show
        writ context get SECTION --workspace mine

      WRIT_CONTRACT_ID=CONTRACT
      --- exit 0
      "
    `);
  });

  test("leaves out what was not told", async () => {
    const { stdout } = await world.writ(["dispatch", "--agent", "backend-dev"]);
    expect(stdout).not.toMatch(/^(goal|role|surface|project|workflow|plan_task_id|can_read|can_write|acceptance)/m);
  });

  test("answers with one document under --json", async () => {
    const ran = await world.writ(["dispatch", "--agent", "qa", "--goal", "look", "--session-id", "s1", "--json"]);
    const { contract_id, agent_id, handoff_id, kernel, ...rest } = documentOf(ran);
    expect(contract_id).toMatch(new RegExp(`^${ID}$`));
    expect(agent_id).toBe(String(contract_id).split(".")[0] ?? "");
    expect(handoff_id).toBeGreaterThan(0);
    expect(kernel).toStartWith(`# Your Contract\n\ncontract_id: ${contract_id}\n`);
    expect(rest).toEqual({
      ok: true,
      status: "dispatched",
      created: true,
      kind: "investigation",
      plan_task_id: null,
      parent_handoff_id: null,
      binding_rejection: null,
    });
    expect({ exit: ran.exit, stderr: ran.stderr }).toEqual({ exit: 0, stderr: "" });
  });

  test("says that a goal which was given is blank, and names the turn that another one judges", async () => {
    const warning = "Warning: the goal is blank: the turn is born without one\n";
    const { exit, stderr } = await world.writ(["dispatch", "--agent", "dev", "--goal", " "]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: warning });
    expect((await world.writ(["dispatch", "--agent", "dev", "-"], { stdin: "\n" })).stderr).toBe(warning);
    const { handoff_id } = documentOf(await world.writ(["dispatch", "--agent", "dev", "--json"]));
    const judge = ["dispatch", "--agent", "qa-verifier", "--parent-handoff-id", String(handoff_id)];
    expect((await world.writ(judge)).stdout).toContain(`\nparent_handoff_id: ${handoff_id}\n`);
  });

  test("ends with a line that a shell can export", async () => {
    const script =
      'export "$(writ dispatch --agent dev --goal x | tail -n 1)"; writ contract view --field agent_status.agent_state';
    expect(shown(await world.shell(script))).toBe('"IN_PROGRESS"\n--- exit 0\n');
  });

  test.each([
    { from: "a file", args: ["--goal-file", "goal.md"] },
    { from: "a pipe", args: ["--goal-file", "/dev/fd/0"] },
    { from: "standard input", args: ["-"] },
  ])("takes its goal from $from", async ({ args }) => {
    const goal = 'From -5 to "done":\n\n  keep é🗸';
    writeFileSync(join(world.folder, "goal.md"), `${goal}\n\n`);
    const setting = { stdin: `${goal}\n\n` };
    const { kernel } = documentOf(await world.writ(["dispatch", "--agent", "dev", "--json", ...args], setting));
    expect(kernel).toContain('\n\ngoal: From -5 to "done":\n\n    keep é🗸\n');
  });

  test.each([
    { args: ["--goal", "x"], message: 'Missing option "--agent NAME"' },
    { args: ["--agent", " "], message: "--agent is blank" },
    { args: ["--agent", "x", "y"], message: 'dispatch takes no operand but -, not "y"' },
    { args: ["--agent", "x", "--goal", "a", "-"], message: "The goal was given more than once" },
    {
      args: ["--agent", "x", "--plan-task-id", "1.5"],
      message: '--plan-task-id takes a whole number from 1, not "1.5"',
    },
    { args: ["--agent", "x", "--brief-id", "0"], message: '--brief-id takes a whole number from 1, not "0"' },
    { args: ["--agent", "x", "--goal-file", "gone"], message: 'Cannot read "gone": there is no such file' },
    { args: ["--agnet", "x"], message: 'Unknown option "--agnet"' },
  ])("refuses $args in 2 and makes nothing", async ({ args, message }) => {
    const data = join(world.folder, "untouched");
    const ran = await world.writ(["dispatch", ...args, "--json"], { env: { WRIT_DATA_DIR: data } });
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 2, ok: false, message });
    expect(statSync(data, { throwIfNoEntry: false })).toBeUndefined();
  });

  test.each([
    {
      args: ["--agent", "qa-Verifier"],
      reason: "verifier_requires_parent_handoff_id",
      says: "name the turn to verify with --parent-handoff-id N (writ contract list), and dispatch again",
    },
    {
      args: ["--agent", "x", "--parent-handoff-id", "99999"],
      reason: "parent_handoff_id_unresolved",
      says: "there is no turn 99999: find its id with writ contract list, and dispatch again",
    },
    {
      args: ["--agent", "x", "--plan-task-id", "99999"],
      reason: "plan_task_id_unresolved",
      says: "there is no task 99999: find it with writ task list --brief NAME, and dispatch again",
    },
    {
      args: ["--agent", "x", "--kind", "task_execution"],
      reason: "task_execution_requires_plan_task_id",
      says: "name the task with --plan-task-id N (writ task list --brief NAME), and dispatch again",
    },
  ])("is born unbound, with one line about it, where the binding fails: $reason", async ({ args, reason, says }) => {
    const ran = await world.writ(["dispatch", "--json", ...args]);
    expect(documentOf(ran)).toMatchObject({
      status: "dispatched",
      plan_task_id: null,
      parent_handoff_id: null,
      binding_rejection: { reason },
    });
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toBe(`Warning: the binding was refused (${reason}): the turn is born unbound; ${says}\n`);
  });

  test("binds a verifier to the turn that it verifies", async () => {
    const { handoff_id } = documentOf(await world.writ(["dispatch", "--agent", "dev", "--json"]));
    const args = ["dispatch", "--agent", "verifier", "--parent-handoff-id", String(handoff_id), "--json"];
    expect(documentOf(await world.writ(args))).toMatchObject({
      kind: "verifier",
      parent_handoff_id: handoff_id,
      binding_rejection: null,
    });
  });

  test("says that a brief or a plan is not there, and is born all the same", async () => {
    const ran = await world.writ(["dispatch", "--agent", "x", "--brief-id", "7", "--plan-id", "8", "--json"]);
    expect(documentOf(ran)).toMatchObject({ ok: true, status: "dispatched" });
    expect(ran.stderr).toContain("There is no brief 7");
    expect(ran.stderr).toContain("There is no plan 8");
  });

  test("makes folders and files that are the owner's alone", async () => {
    const data = join(world.folder, "private");
    await world.writ(["dispatch", "--agent", "x"], { env: { WRIT_DATA_DIR: data } });
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    const drafts = join(data, "contract_drafts");
    const [draft = ""] = readdirSync(drafts).filter((name) => name.endsWith(".json"));
    expect([mode(data), mode(drafts), mode(join(drafts, draft)), mode(join(data, "writ.db"))]).toEqual([
      "700",
      "700",
      "600",
      "600",
    ]);
  });

  test("takes a session id that says nothing as none", async () => {
    const { contract_id } = documentOf(
      await world.writ(["dispatch", "--agent", "x", "--session-id", " Unknown", "--json"]),
    );
    const { handoff } = documentOf(await world.writ(["contract", "show", String(contract_id), "--json"]));
    expect(handoff).toMatchObject({ session_id: null, agent_name: "x", workspace: "me" });
  });
});
