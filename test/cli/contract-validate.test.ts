import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

const BLOCKED = JSON.stringify({ agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "x" });

describe("writ contract validate", () => {
  test("says that a draft is valid, in both modes", async () => {
    const turn = await world.turn();
    expect(shown(await turn.writ(["contract", "validate"]))).toBe(`OK: draft ${turn.id} is valid.\n--- exit 0\n`);
    expect(documentOf(await turn.writ(["contract", "validate", "--json"]))).toEqual({
      ok: true,
      status: "ok",
      draft_id: turn.id,
    });
  });

  test("rejects in 1 a draft that somebody spoiled by hand, and leaves it", async () => {
    const turn = await world.turn();
    const path = join(world.data, "contract_drafts", `${turn.id}.json`);
    const draft = (await Bun.file(path).json()) as { agent_status: { agent_state: string } };
    draft.agent_status.agent_state = "FINISHED";
    await Bun.write(path, JSON.stringify(draft));
    const ran = await turn.writ(["contract", "validate", "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 1, status: "rejected", code: "validation" });
    const plain = await turn.writ(["contract", "validate"]);
    expect({ exit: plain.exit, stdout: plain.stdout }).toEqual({ exit: 1, stdout: "" });
    expect(plain.stderr).toMatch(/^Rejected: [^\n]+\n {2}[A-Z_]+ \[agent_status\.agent_state\]: /);
    expect(await Bun.file(path).json()).toEqual(draft);
  });

  test("makes no missing draft: refused in 3", async () => {
    const turn = await world.turn();
    rmSync(join(world.data, "contract_drafts", `${turn.id}.json`));
    for (const close of [[], ["--close"]]) {
      const ran = await turn.writ(["contract", "validate", ...close, "--json"]);
      expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 3, code: "no_draft" });
    }
  });

  test("says with --close what finalize would do, and does nothing", async () => {
    const turn = await world.turn();
    const validate = (...more: string[]) => turn.writ(["contract", "validate", "--close", ...more]);
    expect(documentOf(await validate("--json"))).toEqual({
      ok: true,
      status: "ok",
      draft_id: turn.id,
      would: "checkpoint",
      advice: [],
      skipped: [],
      unheld: null,
      refused: [],
    });
    expect((await validate()).stdout).toBe(`OK: draft ${turn.id} is valid; finalize would keep it as a checkpoint.\n`);
    await turn.writ(["contract", "fill", "--json", BLOCKED]);
    expect(documentOf(await validate("--json"))).toMatchObject({ would: "finalize" });
    expect((await validate()).stdout).toBe(`OK: draft ${turn.id} is valid; finalize would close it.\n`);
    const { handoff } = documentOf(await world.writ(["contract", "show", turn.id, "--json"]));
    expect(handoff).toMatchObject({ agent_state: "DISPATCHED", closed_at: null });
    await turn.writ(["contract", "set", "conclusion", " "]);
    const refused = await validate("--json");
    expect({ exit: refused.exit, ...documentOf(refused) }).toMatchObject({ exit: 1, code: "conclusion_required" });
  });

  test("says with --close which proposals a close would refuse, and that it would close", async () => {
    const turn = await world.turn();
    await turn.writ(["contract", "fill", "--json", BLOCKED]);
    await turn.writ(["contract", "set", "update_contracts", '[{"section":"stack"}]']);
    const ran = await turn.writ(["contract", "validate", "--close"]);
    expect(ran.stdout).toContain("finalize would close it");
    expect(ran.stderr).toMatch(/^refused: update_contracts\[0\]: contract_missing -- .*\n {4}.*"contract"/m);
    const { refused } = documentOf(await turn.writ(["contract", "validate", "--close", "--json"]));
    expect(refused).toMatchObject([{ index: 0, code: "contract_missing" }]);
  });

  test("takes --strict with --close alone", async () => {
    const ran = await world.writ(["contract", "validate", "--strict", "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 2, code: "usage" });
  });
});
