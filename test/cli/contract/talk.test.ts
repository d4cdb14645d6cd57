/** What the verbs say on standard error beside their answer, as a shell sees it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { documentOf, type LivingWorld, livingWorld, shown, type Turn } from "../../support/writ.ts";

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

async function fill(turn: Turn, patch: JsonObject): Promise<void> {
  const ran = await turn.writ(["contract", "fill", "-"], { stdin: JSON.stringify(patch) });
  if (ran.exit !== 0) throw new Error(shown(ran));
}

const BLOCKED = { agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "x" };

/** A closed turn, and the turn that continues it. */
async function continued(): Promise<{ readonly turn: Turn; readonly live: string }> {
  const turn = await world.turn();
  await fill(turn, BLOCKED);
  await turn.writ(["contract", "finalize"]);
  const { draft_id } = documentOf(await turn.writ(["contract", "set", "conclusion", "more", "--json"]));
  return { turn, live: String(draft_id) };
}

describe("a close", () => {
  const SKIPPED = `[SKIPPED unattributed] evidence_report.verbatim_outputs[0]
[SKIPPED unread_key] evidence_report.verbatim_outputs[1] (key "stdout")
2 claims held, 2 skipped, 0 advised
`;

  test("says for a person what was skipped, and the sum; validate --close says the same and has it in its document", async () => {
    const turn = await world.turn();
    await turn.writ(["run", "--", "echo", "4 pass"]);
    const quote = { command: "echo '4 pass'", excerpt: "4 pass", stdout: "4 pass" };
    const verification = { type: "command", command: "echo '4 pass'", result: "pass" };
    await fill(turn, {
      agent_status: { agent_state: "COMPLETE", next_action: "done" },
      conclusion: "x",
      evidence_report: { verification, verbatim_outputs: ["a text", quote] },
    });
    const would = await turn.writ(["contract", "validate", "--close"]);
    expect(would).toEqual({
      exit: 0,
      stdout: `OK: draft ${turn.id} is valid; finalize would close it.\n`,
      stderr: SKIPPED,
    });
    const document = await turn.writ(["contract", "validate", "--close", "--strict", "--json"]);
    expect(document.stderr).toBe("");
    const { skipped } = documentOf(document);
    expect(skipped).toEqual([
      { check: "verbatim", path: "evidence_report.verbatim_outputs[0]", reason: "unattributed" },
      { check: "verbatim", path: "evidence_report.verbatim_outputs[1]", reason: "unread_key", key: "stdout" },
    ]);
    const closed = await turn.writ(["contract", "finalize", "--strict"]);
    expect({ exit: closed.exit, stderr: closed.stderr }).toEqual({ exit: 0, stderr: SKIPPED });
    expect(closed.stdout).toMatch(/^OK: draft \S+ finalized \(handoff_id=\d+\)\.\n$/);
  });

  test("that is a checkpoint says why it is no close, and what makes it one", async () => {
    const turn = await world.turn();
    await fill(turn, { conclusion: "x", evidence_report: { verification: { type: "none", result: "pass" } } });
    for (const args of [["validate", "--close"], ["finalize"]]) {
      const { exit, stderr } = await turn.writ(["contract", ...args]);
      expect(exit).toBe(0);
      expect(stderr).toStartWith("Not closed: agent_status.agent_state is IN_PROGRESS. ");
      expect((await turn.writ(["contract", ...args, "--json"])).stderr).toBe("");
    }
    const { stderr } = await turn.writ(["contract", "finalize"]);
    const call = stderr.slice(stderr.indexOf("writ contract fill"));
    expect((await world.shell(call)).exit).toBe(0);
    expect((await turn.writ(["contract", "finalize"])).stdout).toContain(" finalized ");
  });

  test.each([
    {
      run: "false",
      command: "false",
      steps: [],
      why: 'Result "pass" is refuted: the last run of "false" ended in exit 1',
    },
    { run: "true", command: "true", steps: ["docs"], why: "COMPLETE needs pending_steps []" },
    { run: "true", command: null, steps: [], why: "COMPLETE needs a verification that passed" },
  ])("that is a checkpoint is not led to COMPLETE where $why", async ({ run, command, steps, why }) => {
    const turn = await world.turn();
    await turn.writ(["run", "--", run]);
    const report =
      command === null ? {} : { evidence_report: { verification: { type: "command", command, result: "pass" } } };
    await fill(turn, { conclusion: "x", agent_status: { pending_steps: steps }, ...report });
    const { exit, stderr } = await turn.writ(["contract", "finalize"]);
    expect(exit).toBe(0);
    expect(stderr).toStartWith(
      `Not closed: agent_status.agent_state is IN_PROGRESS, and COMPLETE would be refused: ${why}`,
    );
    const call = stderr.slice(stderr.indexOf("writ contract fill"));
    expect((await world.shell(call)).exit).toBe(0);
    const closed = documentOf(await turn.writ(["contract", "finalize", "--json"]));
    expect(closed).toMatchObject({ status: "finalized", agent_state: "BLOCKED" });
  });

  test.each([{ verb: "finalize" }, { verb: "validate" }])(
    "names in the help of $verb what --strict refuses on",
    async ({ verb }) => {
      const { stdout } = await world.writ(["contract", verb, "--help"]);
      expect(stdout.replaceAll(/\s+/g, " ")).toContain(
        "Refuse on advice too (stale, masked, cached, no_tests); what was skipped never refuses",
      );
    },
  );
});

describe("a closed contract that is continued", () => {
  test.each([
    { args: ["view", "--field", "conclusion"], stdout: '"x"\n' },
    { args: ["view", "--at", "CHANGE", "--field", "conclusion"], stdout: '"x"\n' },
    { args: ["log", "--limit", "1000"], stdout: null },
    { args: ["diff"], stdout: null },
    { args: ["validate"], stdout: null },
  ])("is shown as it is by $args, which names the live link and how to reach it", async ({ args, stdout }) => {
    const { turn, live } = await continued();
    const { changes } = documentOf(await turn.writ(["contract", "log", "--json"]));
    const newest = String((changes as { change_id: number }[])[0]?.change_id);
    const words = args.map((word) => (word === "CHANGE" ? newest : word));
    const line = `[CONTINUED] ${turn.id} is closed; ${live} continues it: --draft-id ${live}\n`;
    const ran = await turn.writ(["contract", ...words]);
    expect({ exit: ran.exit, stderr: ran.stderr }).toEqual({ exit: 0, stderr: line });
    if (stdout !== null) expect(ran.stdout).toBe(stdout);
    expect((await turn.writ(["contract", ...words, "--json"])).stderr).toBe(line);
    const near = await turn.writ(["contract", ...args.slice(0, 1), "--draft-id", live]);
    expect(near.stderr).toBe("");
  });

  test("is not undone, and the refusal names the live link and the option", async () => {
    const { turn, live } = await continued();
    const { exit, stderr } = await turn.writ(["contract", "undo"]);
    expect(exit).toBe(3);
    expect(stderr).toContain(`It is continued by ${live}: name that one with --draft-id\n`);
  });

  test("is not written: the write goes to the live link, and says so in one line", async () => {
    const { turn, live } = await continued();
    const line = `[CONTINUATION] ${turn.id} is closed and continued: the write went to ${live}, its live link\n`;
    const set = await turn.writ(["contract", "set", "conclusion", "again"]);
    expect(set).toEqual({ exit: 0, stdout: `OK: draft ${live} updated and validated.\n`, stderr: line });
    const patch = await turn.writ(["contract", "fill", "--json", JSON.stringify(BLOCKED)]);
    expect({ exit: patch.exit, stderr: patch.stderr }).toEqual({ exit: 0, stderr: line });
    expect((await turn.writ(["contract", "set", "conclusion", "y", "--draft-id", live])).stderr).toBe("");
    const finalized = await turn.writ(["contract", "finalize"]);
    expect({ exit: finalized.exit, stderr: finalized.stderr }).toEqual({ exit: 0, stderr: line });
  });

  test("that nothing continues is shown without a word", async () => {
    const turn = await world.turn();
    await fill(turn, BLOCKED);
    await turn.writ(["contract", "finalize"]);
    for (const args of [["view"], ["log"], ["diff"], ["validate"]]) {
      expect((await turn.writ(["contract", ...args])).stderr).toBe("");
    }
  });
});

describe("a write", () => {
  test.each([
    { args: ["set", "agent_state", "BLOCKED"] },
    { args: ["fill", "--json", '{"agent_state":"BLOCKED"}'] },
    { args: ["set", "agent_state", "BLOCKED", "--json"] },
  ])("of a root key of writ's own is accepted, and told in one line what an agent means: $args", async ({ args }) => {
    const turn = await world.turn();
    const ran = await turn.writ(["contract", ...args]);
    expect({ exit: ran.exit, stderr: ran.stderr }).toEqual({
      exit: 0,
      stderr: "[NOTE] agent_state at the root is a key of writ's own; an agent's state is agent_status.agent_state\n",
    });
    expect((await turn.writ(["contract", "view", "--field", "agent_state"])).stdout).toBe('"BLOCKED"\n');
  });

  test.each([
    { field: "conclusion", word: "true" },
    { field: "agent_status.next_action", word: "null" },
    { field: "agent_status.agent_id", word: "12" },
    { field: "evidence_report.verification.command", word: "false" },
  ])(
    "of $word into $field says that it was read as JSON, and the call that was meant is accepted",
    async ({ field, word }) => {
      const turn = await world.turn();
      await fill(turn, { evidence_report: { verification: { type: "command", command: "make" } } });
      const ran = await turn.writ(["contract", "set", field, word]);
      expect(ran.exit).toBe(1);
      expect(ran.stderr).toContain(`    ${word} was read as JSON`);
      const call = /writ contract set \S+ '"[a-z0-9]+"'/.exec(ran.stderr)?.[0] ?? "";
      const again = await turn.shell(call);
      if (field.endsWith("agent_id"))
        expect(again.stderr).toContain("AGENT_ID_FORMAT"); // a text, and no id
      else expect(shown(again)).toBe(`OK: draft ${turn.id} updated and validated.\n--- exit 0\n`);
    },
  );
});

describe("an address that names nothing", () => {
  test("is told that --agent-id takes an id, how to find turns by name, and what births one", async () => {
    const ran = await world.writ(["contract", "view", "--agent-id", "the fixer"]);
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toStartWith("Error: No draft found for agent 'the fixer'. Run 'writ contract init' first.\n");
    expect(ran.stderr).toContain("--agent-id takes an id");
    expect(ran.stderr).toContain("writ contract list --agent 'the fixer'");
    expect(ran.stderr).toContain("writ dispatch --agent NAME");
  });

  test.each([{ args: ["--agent-id", "a0123456789abcdef"] }, { args: ["--draft-id", "a0123456789abcdef.1"] }])(
    "of the right form is told what births a turn: $args",
    async ({ args }) => {
      const { stderr } = await world.writ(["contract", "view", ...args]);
      expect(stderr).toContain("writ dispatch --agent NAME");
      expect(stderr).not.toContain("takes an id");
    },
  );

  test.each([
    { field: "key_outputs", hint: "It belongs at evidence_report.key_outputs: --field evidence_report.key_outputs" },
    { field: "evidence_report.conclusion", hint: "It belongs at conclusion: --field conclusion" },
  ])("of a field at the wrong level is told the right one: $field", async ({ field, hint }) => {
    const turn = await world.turn();
    const ran = await turn.writ(["contract", "view", "--field", field, "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 1, code: "no_such_field", hint });
    const path = hint.split(" ").at(-1) ?? "";
    expect((await turn.writ(["contract", "view", "--field", path])).exit).toBe(0);
  });
});

describe("dispatch", () => {
  test.each([{ args: ["--goal-file", "-"] }, { args: ["-"] }, { args: ["--goal-file", "/dev/stdin"] }])(
    "reads the goal from standard input for $args",
    async ({ args }) => {
      const ran = await world.writ(["dispatch", "--agent", "x", "--json", ...args], { stdin: "Find it\nand fix it\n" });
      const { contract_id } = documentOf(ran);
      const { handoff } = documentOf(await world.writ(["contract", "show", String(contract_id), "--json"]));
      expect(handoff).toMatchObject({ goal: "Find it\nand fix it" });
    },
  );

  test("refuses a goal from two places, and makes nothing of either", async () => {
    const ran = await world.writ(["dispatch", "--agent", "x", "--goal-file", "-", "-", "--json"], { stdin: "x" });
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 2, code: "usage" });
  });
});

describe("run", () => {
  test("says of one word with blanks that -c takes a line, and only where it names no program", async () => {
    const turn = await world.turn();
    const one = await turn.writ(["run", "--", "python3 -m it's"]);
    expect(shown(one)).toBe(`--- stderr
writ run: python3 -m it's: not found
writ run: it is one word with blanks in it; -c takes one string: writ run -c 'python3 -m it'"'"'s'
--- exit 127
`);
    const there = await turn.shell("printf '#!/bin/sh\\nexit 127\\n' > 'a b'; chmod +x 'a b'; writ run -- './a b'");
    expect(shown(there)).toBe("--- exit 127\n");
    expect((await turn.writ(["run", "--", "no-such-program", "a b"])).stderr).not.toContain("-c takes");
    const { record } = documentOf(await world.writ(["contract", "show", turn.id, "--json"]));
    expect((record as { runs: JsonObject[] }).runs[0]).toMatchObject({
      output: "writ run: python3 -m it's: not found\n",
    });
  });

  test.each([
    { words: "python3 -m x", call: "writ run -- python3 -m x" },
    { words: "ls", call: "writ run -- ls" },
    { words: "--cwd . sh -c 'echo \"a b\"' --json", call: `writ run --cwd . -- sh -c 'echo "a b"' --json` },
  ])("of $words says exactly what to type", async ({ words, call }) => {
    const ran = await world.shell(`writ run ${words}`);
    expect(ran.exit).toBe(2);
    expect(ran.stderr.split("\n")[1]).toBe(`Type: ${call}`);
  });

  test("has no --json, and says so", async () => {
    const ran = await world.writ(["run", "--json", "--", "ls"]);
    expect(ran.stderr).toStartWith(
      'Error: Unknown option "--json"\n"writ run" prints what its command prints and has no --json; ',
    );
  });
});
