/** `writ contract log`, `diff` and `undo`: what was written, between which states, and taken back. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { documentOf, livingWorld, shown, type Turn } from "../support/writ.ts";

const world = livingWorld();
afterAll(() => world[Symbol.dispose]());

let turn: Turn;
/** The ids of three changes: a text, another text, an entry of a list. */
let changes: readonly number[];

beforeEach(async () => {
  turn = await world.turn();
  const change = async (...args: string[]) =>
    Number(documentOf(await turn.writ(["contract", ...args, "--json"])).change_id);
  changes = [
    await change("set", "conclusion", "one"),
    await change("set", "conclusion", "two"),
    await change("add", "evidence_report.key_outputs", "x"),
  ];
});

const json = async (...args: string[]) => {
  const ran = await turn.writ(["contract", ...args, "--json"]);
  return { exit: ran.exit, ...documentOf(ran) } as Record<string, JsonValue>;
};
const field = async (path: string) =>
  JSON.parse((await turn.writ(["contract", "view", "--field", path])).stdout) as JsonValue;

describe("writ contract log", () => {
  test("lists every change, newest first, with what it changed", async () => {
    const { stdout, exit } = await turn.writ(["contract", "log"]);
    expect(exit).toBe(0);
    const even = stdout.replaceAll(/^\d+ {2}\S+Z {2}(\w+) {2}\(pid \d+\)$/gm, "$1");
    const lines = even.split("\n");
    expect(lines.slice(0, 7)).toEqual([
      "add",
      '    + evidence_report.key_outputs[0]: "x"',
      "set",
      '    ~ conclusion: "one" -> "two"',
      "set",
      '    ~ conclusion: null -> "one"',
      "dispatch",
    ]);
    expect(lines[7]).toStartWith('    + (whole envelope): {"agent_status":');
  });

  test("is one document under --json, with both sides of each path", async () => {
    const answer = await json("log", "--path", "conclusion", "--limit", "1");
    expect(answer).toMatchObject({ exit: 0, ok: true, draft_id: turn.id, count: 1 });
    expect(answer.changes).toMatchObject([
      { change_id: changes[1], verb: "set", entries: [{ path: "conclusion", before: "one", after: "two" }] },
    ]);
    const all = (await json("log")).changes as { entries: JsonObject[] }[];
    expect(Object.keys(all.at(-1)?.entries[0] ?? {})).toEqual(["path", "after"]); // a birth has no before
  });

  test("says how many --limit left out, and how to see them", async () => {
    const cut = await turn.writ(["contract", "log", "--limit", "1"]);
    expect(cut.stderr).toBe("3 more; all of them: --limit 4\n");
    expect((await turn.writ(["contract", "log", "--limit", "4"])).stderr).toBe("");
    const path = await turn.writ(["contract", "log", "--limit", "1", "--path", "conclusion"]);
    expect(path.stderr).toBe("2 more; all of them: --limit 3\n"); // the birth touched it too
    expect((await turn.writ(["contract", "log", "--limit", "1", "--json"])).stderr).toBe("");
  });

  test("lists of a path that nothing touched the birth of the whole", async () => {
    expect((await json("log", "--path", "failure_report")).changes).toMatchObject([{ verb: "dispatch" }]);
  });
});

describe("writ contract diff", () => {
  test("shows what the newest change did, and the net of several", async () => {
    expect((await turn.writ(["contract", "diff"])).stdout).toBe('+ evidence_report.key_outputs[0]: "x"\n');
    const net = ["contract", "diff", "--from", String(changes[0]), "--to", String(changes[2])];
    expect((await turn.writ(net)).stdout).toBe('+ evidence_report.key_outputs[0]: "x"\n~ conclusion: "one" -> "two"\n');
    expect(await json("diff", "--from", String(changes[1]), "--to", String(changes[1]))).toMatchObject({ count: 0 });
    const none = ["contract", "diff", "--from", String(changes[1]), "--to", String(changes[1])];
    expect((await turn.writ(none)).stdout).toBe("No difference.\n");
  });

  test.each([
    { args: ["--from", "999999"], exit: 3, code: "no_such_change" },
    { args: ["--to", "999999"], exit: 3, code: "no_such_change" },
    { args: ["--to", "x"], exit: 2, code: "usage" },
  ])("refuses $args with $code in $exit", async ({ args, exit, code }) => {
    expect(await json("diff", ...args)).toMatchObject({ exit, ok: false, code });
  });
});

describe("writ contract undo", () => {
  test("takes the newest change back, then the one before it", async () => {
    const first = await turn.writ(["contract", "undo"]);
    expect(shown(first)).toBe(`OK: change ${changes[2]} of draft ${turn.id} taken back.\n--- exit 0\n`);
    expect(await field("evidence_report.key_outputs")).toEqual([]);
    expect(await json("undo")).toMatchObject({ exit: 0, ok: true, status: "ok", undoes: changes[1] ?? 0 });
    expect(await field("conclusion")).toBe("one");
    expect((await turn.writ(["contract", "log", "--limit", "1"])).stdout).toMatch(
      new RegExp(`  undo of ${changes[1]}  \\(pid \\d+\\)\n`),
    );
  });

  test("takes an undo back by its id", async () => {
    const { change_id } = await json("undo");
    expect(await json("undo", "--change", String(change_id))).toMatchObject({ exit: 0, undoes: change_id ?? null });
    expect(await field("evidence_report.key_outputs")).toEqual(["x"]);
  });

  test("refuses in 3 what a later change rests on, what is not there, and a birth", async () => {
    expect(await json("undo", "--change", String(changes[0]))).toMatchObject({ exit: 3, code: "undo_conflict" });
    expect(await json("undo", "--change", "999999")).toMatchObject({ exit: 3, code: "no_such_change" });
    for (let step = 0; step < 3; step++) await turn.writ(["contract", "undo"]);
    expect(await json("undo")).toMatchObject({ exit: 3, ok: false, code: "nothing_to_undo" });
  });

  test("refuses in 3 on a closed contract", async () => {
    const patch = { agent_status: { agent_state: "BLOCKED", next_action: "wait" } };
    await turn.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
    await turn.writ(["contract", "finalize"]);
    expect(await json("undo")).toMatchObject({ exit: 3, code: "closed" });
  });

  test("keeps what a hand wrote into the draft: it is a change of its own", async () => {
    const path = `${world.data}/contract_drafts/${turn.id}.json`;
    const draft = (await Bun.file(path).json()) as { conclusion: string };
    await Bun.write(path, JSON.stringify({ ...draft, conclusion: "by hand" }));
    await turn.writ(["contract", "set", "report_prose", "later"]);
    const { changes: log } = await json("log");
    expect((log as JsonObject[]).slice(0, 2).map(({ verb }) => verb ?? null)).toEqual(["set", "found"]);
    expect(await field("conclusion")).toBe("by hand");
  });
});
