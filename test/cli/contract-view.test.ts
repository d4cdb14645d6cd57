import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, shown, type Turn } from "../support/writ.ts";

let world: LivingWorld;
let turn: Turn;
beforeAll(async () => {
  world = livingWorld();
  turn = await world.turn("--harness-id", "harness-1", "--session-id", "s1");
});
afterAll(() => world[Symbol.dispose]());

const draftOf = (id: string) => join(world.data, "contract_drafts", `${id}.json`);

async function closedTurn(): Promise<Turn> {
  const closed = await world.turn();
  const patch = { agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "closed" };
  await closed.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
  expect((await closed.writ(["contract", "finalize"])).exit).toBe(0);
  return closed;
}

describe("writ contract view", () => {
  test("prints the envelope as JSON in both modes", async () => {
    const plain = await turn.writ(["contract", "view"]);
    const json = await turn.writ(["contract", "view", "--json"]);
    expect(json).toEqual(plain);
    expect(plain.stdout).toStartWith(`{\n  "draft_id": "${turn.id}",\n  "envelope": {\n    "agent_status": {\n`);
    expect({ exit: plain.exit, stderr: plain.stderr }).toEqual({ exit: 0, stderr: "" });
  });

  test.each([
    { path: "agent_status.agent_state", text: '"IN_PROGRESS"' },
    { path: "evidence_report.open_gaps", text: "[]" },
    { path: ".agent_status..next_action.", text: '"pending"' },
    { path: "conclusion", text: "null" },
    { path: "evidence_report.key_outputs", text: '[\n  "a \\"b\\" é"\n]' },
  ])("prints one field: $path", async ({ path, text }) => {
    await turn.writ(["contract", "set", "evidence_report.key_outputs", '["a \\"b\\" é"]']);
    expect(shown(await turn.writ(["contract", "view", "--field", path]))).toBe(`${text}\n--- exit 0\n`);
  });

  test.each([
    { path: "agent_status.gone", exit: 1, code: "no_such_field" },
    { path: "gone.deep", exit: 1, code: "no_such_field" },
    { path: "evidence_report.key_outputs.0", exit: 1, code: "no_such_field" },
    { path: "...", exit: 2, code: "empty_path" },
  ])("tells absent from empty: $path is $code", async ({ path, exit, code }) => {
    const ran = await turn.writ(["contract", "view", "--field", path, "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit, ok: false, code });
    const plain = await turn.writ(["contract", "view", "--field", path]);
    expect({ exit: plain.exit, stdout: plain.stdout }).toEqual({ exit, stdout: "" });
    if (code === "no_such_field") expect(plain.stderr).toStartWith(`Error: no such field '${path}': no key `);
  });

  test("prints an envelope as it stood after a change", async () => {
    const { change_id } = documentOf(await turn.writ(["contract", "set", "conclusion", "then", "--json"]));
    await turn.writ(["contract", "set", "conclusion", "now"]);
    const at = (change: string, ...more: string[]) =>
      turn.writ(["contract", "view", "--field", "conclusion", "--at", change, ...more]);
    expect((await at(String(change_id))).stdout).toBe('"then"\n');
    const none = await at("999999", "--json");
    expect({ exit: none.exit, ...documentOf(none) }).toMatchObject({ exit: 3, code: "no_such_change" });
    const odd = await at("1.5", "--json");
    expect({ exit: odd.exit, ...documentOf(odd) }).toMatchObject({ exit: 2, code: "usage" });
  });

  test("finds a turn by the harness's own id", async () => {
    const { stdout } = await world.writ(["contract", "view", "--harness-id", "harness-1"]);
    expect(JSON.parse(stdout)).toMatchObject({
      harness_agent_id: "harness-1",
      contract_id: turn.id,
      session_id: "s1",
      agent_state: "DISPATCHED",
      envelope: { agent_status: { agent_state: "IN_PROGRESS" } },
    });
    const none = await world.writ(["contract", "view", "--harness-id", "nobody", "--json"]);
    expect({ exit: none.exit, ...documentOf(none) }).toMatchObject({ exit: 3, code: "no_row" });
    const both = await world.writ(["contract", "view", "--harness-id", "h", "--draft-id", turn.id, "--json"]);
    expect({ exit: both.exit, ...documentOf(both) }).toMatchObject({ exit: 2, code: "usage" });
  });

  test("makes the lost draft of an open turn again, from what its row holds", async () => {
    const lost = await world.turn();
    await lost.writ(["contract", "set", "conclusion", "kept in the row"]);
    rmSync(draftOf(lost.id));
    expect((await lost.writ(["contract", "view", "--field", "conclusion"])).stdout).toBe('"kept in the row"\n');
    expect(existsSync(draftOf(lost.id))).toBe(true);
  });

  test("prints the row of a closed turn whose draft is gone, and makes nothing", async () => {
    const closed = await closedTurn();
    rmSync(draftOf(closed.id));
    const { stdout } = await closed.writ(["contract", "view"]);
    expect(JSON.parse(stdout)).toMatchObject({
      draft_id: closed.id,
      envelope_source: "db_row",
      agent_state: "BLOCKED",
      cut_reason: null,
      envelope: { conclusion: "closed" },
    });
    expect(existsSync(draftOf(closed.id))).toBe(false);
  });

  test("is never a blank envelope: nothing_recoverable where row and draft hold nothing", async () => {
    const closed = await closedTurn();
    rmSync(draftOf(closed.id));
    const db = new Database(join(world.data, "writ.db"), { readwrite: true });
    db.run("UPDATE handoffs SET raw_handoff_json = '{broken' WHERE contract_id = ?", [closed.id]);
    db.close();
    const ran = await closed.writ(["contract", "view", "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 3, code: "nothing_recoverable" });
  });

  test.each([
    { content: "{ not JSON", what: "no JSON" },
    { content: Uint8Array.of(0x7b, 0xff), what: "no UTF-8" },
    { content: "[]", what: "no object" },
  ])("does not touch a draft that cannot be read: $what", async ({ content }) => {
    const broken = await world.turn();
    writeFileSync(draftOf(broken.id), content);
    for (const args of [["view"], ["set", "conclusion", "x"], ["finalize"]]) {
      const ran = await broken.writ(["contract", ...args, "--json"]);
      expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 3, code: "draft_unreadable" });
    }
  });

  test.each([
    { args: ["--draft-id", "a0123456789abcdef.000000000000"] },
    { args: ["--agent-id", "a0123456789abcdef"] },
  ])("is refused in 3 where there is no draft: $args", async ({ args }) => {
    const ran = await world.writ(["contract", "view", ...args, "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 3, code: "no_draft" });
  });

  test("names the drafts that could be meant: five where a person reads, all in the document", async () => {
    const env = { WRIT_DATA_DIR: join(world.folder, "many") };
    await world.shell("for n in 1 2 3 4 5 6 7; do writ dispatch --agent x >/dev/null; done", { env });
    const plain = await world.writ(["contract", "view"], { env });
    expect({ exit: plain.exit, stdout: plain.stdout }).toEqual({ exit: 3, stdout: "" });
    expect(plain.stderr.match(/^ {2}--draft-id a[0-9a-f]{16}\.[0-9a-f]{12} {2}\S+Z {2}DISPATCHED$/gm)).toHaveLength(5);
    expect(plain.stderr).toContain("and 2 more");
    const ran = await world.writ(["contract", "view", "--json"], { env });
    const { candidates, ...answer } = documentOf(ran);
    expect(answer).toMatchObject({ ok: false, status: "error", code: "ambiguous_draft" });
    expect(candidates).toHaveLength(7);
  });
});
