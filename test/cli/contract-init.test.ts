import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

const AGENT = "a0123456789abcdef";

describe("writ contract init", () => {
  test("prints both ids of a new draft, in four lines", async () => {
    const ran = await world.writ(["contract", "init"]);
    const id = /draft_id: (.*)/.exec(ran.stdout)?.[1] ?? "";
    expect(id).toMatch(/^a[0-9a-f]{16}\.[0-9a-f]{12}$/);
    expect(shown(ran)).toBe(
      `OK: draft ${id} updated and validated.\nagent_id: ${id.split(".")[0]}\ndraft_id: ${id}\n` +
        "Reuse BOTH verbatim for the rest of this turn: agent_id in agent_status.agent_id, draft_id as --draft-id.\n--- exit 0\n",
    );
    expect((await world.writ(["contract", "validate", "--draft-id", id])).exit).toBe(0);
  });

  test.each([
    { args: [], minted: true },
    { args: ["--agent-id", AGENT], minted: false },
    { args: ["--draft-id", `${AGENT}.mine`], minted: false },
    { args: ["--contract-id", `${AGENT}.same`, "--agent-id", AGENT], minted: false },
  ])("answers with one document under --json: $args", async ({ args, minted }) => {
    const { draft_id, agent_id, ...rest } = documentOf(await world.writ(["contract", "init", ...args, "--json"]));
    expect(rest).toEqual({ ok: true, status: "ok", agent_id_minted: minted });
    expect(draft_id).toStartWith(`${agent_id}.`);
  });

  test("makes no row", async () => {
    await world.writ(["contract", "init"]);
    expect(documentOf(await world.writ(["contract", "list", "--json"]))).toMatchObject({ count: 0 });
  });

  test.each([
    { args: ["--agent-id", "backend-dev"], exit: 1, code: "validation" },
    { args: ["--agent-id", `${AGENT}\n`], exit: 1, code: "validation" },
    { args: ["--agent-id", AGENT, "--draft-id", "afedcba9876543210.x"], exit: 2, code: "usage" },
    { args: ["operand"], exit: 2, code: "usage" },
  ])("refuses $args in $exit and makes no draft", async ({ args, exit, code }) => {
    const fresh = { env: { WRIT_DATA_DIR: `fresh-${exit}` } };
    const ran = await world.writ(["contract", "init", ...args, "--json"], fresh);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit, ok: false, code });
    expect(documentOf(await world.writ(["contract", "view", "--json"], fresh))).toMatchObject({ code: "no_draft" });
  });

  test("does not blank a draft that is there: refused in 3", async () => {
    const id = `${AGENT}.there`;
    await world.writ(["contract", "init", "--draft-id", id]);
    await world.writ(["contract", "set", "conclusion", "kept", "--draft-id", id]);
    const ran = await world.writ(["contract", "init", "--draft-id", id, "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 3, code: "draft_exists" });
    const kept = await world.writ(["contract", "view", "--field", "conclusion", "--draft-id", id]);
    expect(kept.stdout).toBe('"kept"\n');
  });
});
