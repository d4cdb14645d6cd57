/**
 * Text from a stranger (a goal, a name, a conclusion, a command, what a file is called) on its way to a person: nothing
 * in it moves a cursor, hides or turns text. In JSON it stays what it was, and a terminal gets it as escapes.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openScreen } from "../support/screen.ts";
import { documentOf, type LivingWorld, livingWorld, type Turn, writCommand } from "../support/writ.ts";

const ESCAPES = "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J\r\b\x9b1m";
const BIDI = "\u202eturned\u2066\u2028\u200bend\ufeff";
const HOSTILE = `start ${ESCAPES} ${BIDI}`;
/** What a terminal may get: no control but line feed and tab, and nothing invisible. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

let world: LivingWorld;
let turn: Turn;

beforeAll(async () => {
  world = livingWorld();
  const args = ["dispatch", "--agent", `agent ${HOSTILE}`, "--goal", `goal ${HOSTILE}`, "--role", HOSTILE, "--json"];
  const { contract_id } = documentOf(await world.writ([...args, "--can-read", HOSTILE, "--session-id", HOSTILE]));
  const env = { WRIT_CONTRACT_ID: String(contract_id) };
  turn = {
    id: env.WRIT_CONTRACT_ID,
    env,
    writ: (words, setting = {}) => world.writ(words, { ...setting, env: { ...env, ...setting.env } }),
    shell: (script, setting = {}) => world.shell(script, { ...setting, env }),
  };
  await turn.writ(["contract", "set", "conclusion", HOSTILE]);
  await turn.writ(["contract", "add", "evidence_report.key_outputs", HOSTILE]);
  await turn.writ(["run", "--", "printf", "%s", HOSTILE]);
  await turn.writ(["record", "--harness", "generic"], {
    stdin: JSON.stringify({ tool: "bash", command: `cmd ${HOSTILE}`, exit_code: 1, output: HOSTILE }),
  });
});
afterAll(() => world[Symbol.dispose]());

describe("hostile text", () => {
  // A name of a test is printed as well.
  const lines: readonly { readonly words: readonly string[] }[] = [
    { words: ["contract", "list"] },
    { words: ["contract", "show", "1"] },
    { words: ["contract", "chain"] },
    { words: ["contract", "log"] },
    { words: ["contract", "diff"] },
    { words: ["dispatch", "--agent", HOSTILE, "--goal", HOSTILE, "--role", HOSTILE, "--surface", HOSTILE] },
    { words: ["contract", "set", `field ${HOSTILE}`, "x"] },
    { words: ["contract", "set", "agent_status.agent_state", HOSTILE] },
    { words: ["contract", "view", "--field", HOSTILE] },
    { words: ["contract", "view", "--agent-id", HOSTILE] },
    { words: ["contract", "view", "--harness-id", HOSTILE] },
    { words: ["contract", "show", HOSTILE] },
    { words: ["contract", "set", "conclusion", "--json-file", HOSTILE] },
    { words: ["contract", "list", "--state", HOSTILE] },
    { words: ["contract", HOSTILE] },
    { words: ["run", "--cwd", HOSTILE, "--", "true"] },
    { words: ["run", "--", `program ${HOSTILE}`] },
    { words: ["record", "verify", HOSTILE] },
    { words: ["record", "--contract-id", HOSTILE] },
    { words: ["record", `--${HOSTILE}`] },
  ];
  test.each(lines.map(({ words }) => ({ words, line: words.join(" ").replaceAll(HOSTILE, "HOSTILE") })))(
    "never reaches a person as it came: writ $line",
    async ({ words }) => {
      const ran = await turn.writ(words, { stdin: '{"tool":"bash","command":"x"}' });
      expect(`${ran.stdout}${ran.stderr}`).not.toMatch(UNSAFE);
      expect(`${ran.stdout}${ran.stderr}`).not.toBe("");
    },
  );

  test("never reaches a person from a claim that finalize refuses, or from its advice", async () => {
    const patch = {
      agent_status: { agent_state: "COMPLETE", next_action: "done" },
      evidence_report: {
        verification: { type: "command", command: `cmd ${HOSTILE}`, method: HOSTILE, result: "pass" },
        verbatim_outputs: [{ command: HOSTILE, excerpt: HOSTILE }],
      },
    };
    await turn.writ(["contract", "fill", "-"], { stdin: JSON.stringify(patch) });
    const ran = await turn.writ(["contract", "finalize"]);
    expect(ran.exit).toBe(1);
    expect(ran.stderr).toContain("exit_mismatch");
    expect(ran.stderr).not.toMatch(UNSAFE);
  });

  test("stays what it was in JSON", async () => {
    const answer = documentOf(await world.writ(["contract", "show", "1", "--json"]));
    expect(answer).toMatchObject({
      handoff: { agent_name: `agent ${HOSTILE}`.trim(), goal: `goal ${HOSTILE}`.trimEnd() },
      envelope: { conclusion: HOSTILE, evidence_report: { key_outputs: [HOSTILE] } },
    });
    const { stdout } = await turn.writ(["contract", "view", "--field", "conclusion"]);
    expect(JSON.parse(stdout)).toBe(HOSTILE);
  });

  test("is escaped where JSON goes to a terminal, and parses to the same", async () => {
    const screen = openScreen([...writCommand(), "contract", "view", "--field", "conclusion"], {
      env: world.env(turn.env),
      cwd: world.folder,
      columns: 500,
    });
    expect(await screen.ended).toBe(0);
    const text = screen.text().trimEnd();
    expect(text).not.toMatch(UNSAFE);
    expect(JSON.parse(text)).toBe(HOSTILE);
  });

  test("passes through writ run unchanged: it is the command's own", async () => {
    const ran = await turn.writ(["run", "--", "printf", "%s", HOSTILE]);
    expect(ran.stdout).toBe(HOSTILE);
  });
});
