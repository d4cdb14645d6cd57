import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";
import { documentOf, type LivingWorld, livingWorld, type Ran, shown, type Turn } from "../support/writ.ts";

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

async function fill(turn: Turn, patch: JsonObject): Promise<void> {
  const ran = await turn.writ(["contract", "fill", "-"], { stdin: JSON.stringify(patch) });
  if (ran.exit !== 0) throw new Error(shown(ran));
}

const finalize = (turn: Turn, ...more: string[]): Promise<Ran> => turn.writ(["contract", "finalize", ...more]);

const closing = (state: string): JsonObject => ({
  agent_status: { agent_state: state, next_action: state === "COMPLETE" ? "done" : "wait" },
  conclusion: "It holds.",
});

/** A turn that claims, as complete, that a command passed. */
async function claiming(command: string, ...runs: string[]): Promise<Turn> {
  const turn = await world.turn();
  for (const run of runs) await turn.shell(run);
  await fill(turn, {
    ...closing("COMPLETE"),
    evidence_report: { verification: { type: "command", command, method: "ran it", result: "pass" } },
  });
  return turn;
}

describe("writ contract finalize", () => {
  test("closes a turn once, and says so the second time", async () => {
    const turn = await claiming("true", "writ run -- true");
    const first = await finalize(turn);
    const number = /handoff_id=(\d+)/.exec(first.stdout)?.[1];
    expect(shown(first)).toBe(`OK: draft ${turn.id} finalized (handoff_id=${number}).\n--- exit 0\n`);
    expect(shown(await finalize(turn))).toBe(
      `OK: draft ${turn.id} was already finalized (handoff_id=${number}); no-op.\n--- exit 0\n`,
    );
    expect(documentOf(await finalize(turn, "--json"))).toMatchObject({
      ok: true,
      status: "finalized",
      created: false,
      handoff_id: Number(number),
    });
  });

  test("answers with one document under --json", async () => {
    const turn = await claiming("true", "writ run -- true");
    const { handoff_id, content_checks, ...rest } = documentOf(await finalize(turn, "--json"));
    expect(handoff_id).toBeGreaterThan(0);
    expect(content_checks).toMatchObject({ version: 1, bound: true, runs: 1, skipped: [], advice: [] });
    expect(rest).toEqual({
      ok: true,
      status: "finalized",
      draft_id: turn.id,
      created: true,
      agent_state: "COMPLETE",
      conclusion_alias: null,
      proposals: { stored: 0, refused: [], applied: [] },
      notices: [],
      evidence_ids: [],
      unheld: null,
    });
  });

  test("keeps a turn in progress as a checkpoint", async () => {
    const turn = await world.turn();
    expect((await finalize(turn)).stdout).toMatch(/^OK: draft \S+ checkpointed \(handoff_id=\d+\)\.\n$/);
    expect(documentOf(await finalize(turn, "--json"))).toMatchObject({
      status: "checkpointed",
      agent_state: "IN_PROGRESS",
      content_checks: null,
    });
    const { handoff } = documentOf(await world.writ(["contract", "show", turn.id, "--json"]));
    expect(handoff).toMatchObject({ agent_state: "IN_PROGRESS", cut_reason: "never_finalized", closed_at: null });
  });

  test("gives a draft that was never dispatched its row", async () => {
    const { draft_id } = documentOf(await world.writ(["contract", "init", "--json"]));
    const id = String(draft_id);
    await world.writ(["contract", "fill", "--json", JSON.stringify(closing("BLOCKED")), "--draft-id", id]);
    const ran = await world.writ([
      "contract",
      "finalize",
      "--draft-id",
      id,
      "--workspace",
      "w",
      "--session-id",
      "s",
      "--json",
    ]);
    expect(documentOf(ran)).toMatchObject({ status: "finalized", agent_state: "BLOCKED" });
    const { handoff } = documentOf(await world.writ(["contract", "show", id, "--json"]));
    expect(handoff).toMatchObject({ workspace: "w", session_id: "s" });
  });

  test("refuses a false claim in 1, writes nothing, and says what refutes it", async () => {
    const turn = await claiming("sh -c 'exit 2'", `writ run -- sh -c 'exit 2'`);
    const plain = await finalize(turn);
    expect(shown(plain)).toMatchInlineSnapshot(`
      "--- stderr
      Rejected: content_unverified -- the contract cites what the record refutes.
        exit_mismatch [evidence_report.verification.result]: Result "pass" is refuted: the last run of "sh -c 'exit 2'" ended in exit 2, expected exit 0
          Mend the work and run the command again; or say what is so, in a state that does not need a pass: writ contract fill --json '{"agent_status":{"agent_state":"BLOCKED","next_action":"..."},"conclusion":"...","evidence_report":{"verification":{"result":"fail"}}}'; or, where the command is meant to end in 2, set expect_exit
      --- exit 1
      "
    `);
    const ran = await finalize(turn, "--json");
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({
      exit: 1,
      status: "rejected",
      code: "content_unverified",
      errors: [{ code: "exit_mismatch", path: "evidence_report.verification.result" }],
    });
    const { handoff } = documentOf(await world.writ(["contract", "show", turn.id, "--json"]));
    expect(handoff).toMatchObject({ agent_state: "DISPATCHED", closed_at: null });
  });

  test("a refuted pass is mended by the call that stands under it: no pass is claimed", async () => {
    const turn = await claiming("false", "writ run -- false; true");
    const { stderr } = await finalize(turn);
    const call = /writ contract fill --json '[^']+'/.exec(stderr)?.[0] ?? "";
    expect(shown(await turn.shell(call))).toContain('"status":"ok"');
    const { exit, stdout } = await finalize(turn, "--json");
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "finalized", agent_state: "BLOCKED", unheld: null });
  });

  test("a result that is no pass, set under COMPLETE, is told to set the state first", async () => {
    const turn = await claiming("false");
    const set = ["contract", "set", "evidence_report.verification.result", "failed with exit 1"];
    const { exit, stderr } = await turn.writ(set);
    expect(exit).toBe(1);
    const [first = ""] = /writ contract fill --json '[^']+'/.exec(stderr) ?? [];
    expect(first).toContain('"agent_state":"BLOCKED"');
    expect((await turn.shell(first)).exit).toBe(0);
    expect((await turn.writ(set)).exit).toBe(0);
  });

  test.each([
    {
      how: "nothing was recorded",
      runs: [],
      verification: { type: "command", command: "true" },
      note: '[NOTE] "pass" was held against nothing that ran: nothing was recorded in this turn; writ run -- CMD records a command',
      unheld: "no_record",
    },
    {
      how: "no command is named",
      runs: ["writ run -- false; true"],
      verification: { type: "none" },
      note: '[NOTE] "pass" was held against nothing that ran: the verification names no command',
      unheld: "no_command",
    },
  ])("says that a pass was held against nothing where $how", async ({ runs, verification, note, unheld }) => {
    const turn = await world.turn();
    for (const run of runs) await turn.shell(run);
    await fill(turn, {
      ...closing("COMPLETE"),
      evidence_report: { verification: { ...verification, result: "pass" } },
    });
    const would = await turn.writ(["contract", "validate", "--close", "--json"]);
    expect(documentOf(would)).toMatchObject({ would: "finalize", unheld });
    const { exit, stderr } = await finalize(turn, "--strict");
    expect(exit).toBe(0);
    expect(stderr.split("\n")).toContain(note);
    expect(documentOf(await finalize(turn, "--json"))).toMatchObject({ unheld });
  });

  test.each([
    { command: "all tests pass", codes: ["command_is_verdict"] },
    { command: "npm test", codes: ["command_not_run"] },
  ])("refuses $command, which was not run", async ({ command, codes }) => {
    const turn = await claiming(command, "writ run -- true");
    const { errors } = documentOf(await finalize(turn, "--json"));
    expect((errors as { code: string }[]).map(({ code }) => code)).toEqual([...codes]);
  });

  test("takes a command quoted in another way for the same words, and an excerpt of what it printed", async () => {
    const turn = await claiming(`printf "%s pass\\\\n" 4`, "writ run -- printf '%s pass\\n' 4");
    await turn.writ([
      "contract",
      "add",
      "evidence_report.verbatim_outputs",
      '{"command":"printf \'%s pass\\\\n\' 4","excerpt":"4 pass"}',
    ]);
    expect(shown(await finalize(turn))).toContain("finalized");
  });

  test.each([
    { state: "NEEDS_VERIFICATION", code: "validation", exit: 1 },
    { state: "COMPLETE", conclusion: "", code: "conclusion_required", exit: 1 },
    { state: "COMPLETE", args: ["--plan-task-id", "77"], code: "plan_task_id_unresolved", exit: 3 },
    { state: "COMPLETE", args: ["--plan-task-id", "x"], code: "usage", exit: 2 },
    { state: "COMPLETE", args: ["--draft-id", "a0123456789abcdef.00"], code: "no_draft", exit: 3 },
  ])("refuses $state with $code in $exit", async ({ state, conclusion, args = [], code, exit }) => {
    const turn = await world.turn();
    const verification = { type: "self_review", reviewed: "the diff", result: "pass" };
    await fill(turn, { ...closing(state), evidence_report: { verification } });
    if (conclusion !== undefined) await turn.writ(["contract", "set", "conclusion", conclusion]);
    const ran = await finalize(turn, ...args, "--json");
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit, ok: false, code });
  });

  test("refuses a close that its dispatch wanted a consolidation for", async () => {
    const turn = await world.turn("--consolidation");
    await fill(turn, closing("BLOCKED"));
    const ran = await finalize(turn, "--json");
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 1, code: "consolidation_required" });
  });

  test("names the command to type where the conclusion is missing", async () => {
    const turn = await world.turn();
    await fill(turn, { agent_status: { agent_state: "BLOCKED", next_action: "wait" } });
    const { exit, stdout, stderr } = await finalize(turn);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: "" });
    expect(stderr).toContain(`writ contract set --draft-id ${turn.id} conclusion '...'`);
  });
});

describe("advice on a claim that holds", () => {
  const git = Bun.which("git") !== null;
  const PASSES = "printf '3 pass\\n'";
  const cases: readonly { code: string; command: string; runs: readonly string[]; needsGit?: true }[] = [
    {
      code: "masked",
      command: `${PASSES} | tail -1`,
      runs: [`writ run -c '${PASSES.replaceAll("'", `'"'"'`)} | tail -1'`],
    },
    { code: "masked", command: "false || true", runs: ["writ run -c 'false || true'"] },
    { code: "cached", command: "echo 'cache hit, 3 pass'", runs: ["writ run -c \"echo 'cache hit, 3 pass'\""] },
    { code: "no_tests", command: "echo No tests found", runs: ["writ run -- echo No tests found"] },
    { code: "stale", command: "true", runs: ["cd tree && writ run -- true"], needsGit: true },
  ];

  for (const { code, command, runs, needsGit } of cases) {
    test.skipIf(needsGit === true && !git)(
      `is given beside the close, and refuses with --strict alone: ${code} of ${command}`,
      async () => {
        const tree = join(world.folder, "tree");
        if (needsGit === true) {
          mkdirSync(tree);
          Bun.spawnSync(["git", "-C", tree, "init", "-q"]);
          writeFileSync(join(tree, "changed.ts"), "");
          const later = new Date(Date.now() + 3_600_000);
          utimesSync(join(tree, "changed.ts"), later, later);
        }
        const turn = await claiming(command, ...runs);
        const would = documentOf(await turn.writ(["contract", "validate", "--close", "--json"]));
        expect(would).toMatchObject({ would: "finalize", advice: [{ code }] });
        const strict = await turn.writ(["contract", "validate", "--close", "--strict", "--json"]);
        expect({ exit: strict.exit, ...documentOf(strict) }).toMatchObject({ exit: 1, code: "advised" });
        const refused = await finalize(turn, "--strict", "--json");
        expect({ exit: refused.exit, ...documentOf(refused) }).toMatchObject({
          exit: 1,
          status: "rejected",
          code: "advised",
          errors: [{ code, path: "evidence_report.verification.command" }],
        });
        const plain = await finalize(turn);
        expect(plain.exit).toBe(0);
        expect(plain.stderr).toMatch(
          new RegExp(`^\\[ADVICE ${code}\\] [^\\n]+\\n {4}[^\\n]+\\n1 claim held, 0 skipped, 1 advised\\n$`),
        );
        if (code === "stale") expect(plain.stderr).toContain("changed.ts");
        const { content_checks } = documentOf(await world.writ(["contract", "show", turn.id, "--json"]));
        expect(content_checks).toMatchObject({ advice: [{ code }] });
      },
    );
  }

  test("is not given for a command that ran again after the change", async () => {
    const turn = await world.turn();
    const bash = (command: string) => ({ tool: "bash", command, exit_code: 0, output: "3 pass\n" });
    const record = (payload: unknown) =>
      turn.writ(["record", "--harness", "generic"], { stdin: JSON.stringify(payload) });
    await record([bash("npm test"), { tool: "edit", path: "/src/a.ts" }]);
    const verification = { type: "command", command: "npm test", method: "ran it", result: "pass" };
    await fill(turn, { ...closing("COMPLETE"), evidence_report: { verification } });
    expect(documentOf(await turn.writ(["contract", "validate", "--close", "--json"]))).toMatchObject({
      advice: [{ code: "stale", hint: expect.stringContaining("/src/a.ts") }],
    });
    await record(bash("npm test"));
    expect(documentOf(await finalize(turn, "--strict", "--json"))).toMatchObject({ status: "finalized" });
  });
});
