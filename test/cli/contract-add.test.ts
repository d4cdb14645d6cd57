import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonValue } from "../../src/core/json/value.ts";
import { documentOf, type LivingWorld, livingWorld, shown, type Turn } from "../support/writ.ts";

let world: LivingWorld;
let turn: Turn;
beforeAll(async () => {
  world = livingWorld();
  turn = await world.turn();
});
afterAll(() => world[Symbol.dispose]());

const LIST = "evidence_report.key_outputs";

async function list(path = LIST): Promise<JsonValue> {
  return JSON.parse((await turn.writ(["contract", "view", "--field", path])).stdout) as JsonValue;
}

describe("writ contract add", () => {
  test("extends a list by one entry, in plain words and as a document", async () => {
    expect(shown(await turn.writ(["contract", "add", LIST, "one"]))).toBe(
      `OK: draft ${turn.id} updated and validated.\n--- exit 0\n`,
    );
    const ran = await turn.writ(["contract", "add", LIST, "-", "--json"], { stdin: "two\n" });
    expect(documentOf(ran)).toMatchObject({ ok: true, status: "ok", mirrored: true });
    expect(await list()).toEqual(["one", "two"]);
  });

  test("appends a list as one entry, and an object from a file as one", async () => {
    await turn.writ(["contract", "add", "memory_delta.notes", '["a","b"]']);
    await turn.writ(["contract", "add", "memory_delta.notes", "--json-file", "-"], { stdin: '{"k":null}' });
    expect(await list("memory_delta.notes")).toEqual([["a", "b"], { k: null }]);
  });

  test("refuses in 3 what is no list", async () => {
    await turn.writ(["contract", "set", "conclusion", "text"]);
    const plain = await turn.writ(["contract", "add", "conclusion", "x"]);
    expect({ exit: plain.exit, stdout: plain.stdout }).toEqual({ exit: 3, stdout: "" });
    expect(plain.stderr).toStartWith("Error: field 'conclusion' is not a list (got string)\n");
    const ran = await turn.writ(["contract", "add", "conclusion", "x", "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({ exit: 3, code: "not_a_list", path: "conclusion" });
  });

  test("rejects in 1 a list that nobody declared", async () => {
    const ran = await turn.writ(["contract", "add", "evidence_report.key_output", "x", "--json"]);
    expect({ exit: ran.exit, ...documentOf(ran) }).toMatchObject({
      exit: 1,
      code: "validation",
      codes: ["UNKNOWN_FIELD"],
      errors: [{ hint: expect.stringContaining("evidence_report.key_outputs") }],
    });
  });

  test("loses none of twelve that come at once", async () => {
    const other = await world.turn();
    await other.shell(`for n in 1 2 3 4 5 6 7 8 9 10 11 12; do writ contract add ${LIST} "$n" & done; wait`);
    const { stdout } = await other.writ(["contract", "view", "--field", LIST]);
    expect((JSON.parse(stdout) as number[]).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
});
