import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld } from "../support/writ.ts";

const CONTRACT = { goal: "g", output_schema: { properties: { a: { type: "string" } } }, acceptance: ["nonempty:a"] };

function stateOf(world: LivingWorld): string {
  const state = join(world.data, "run");
  mkdirSync(join(state, "runs"), { recursive: true });
  return state;
}

/** Something else in the place of a file of the state folder: its owner's doing, or a disk's. */
describe.skipIf(process.platform === "win32")("an odd file in the state folder", () => {
  test.each(["/etc/passwd", "/dev/zero", "record.json"])(
    "as a record, a link to %s, is passed over",
    async (target) => {
      using world = livingWorld();
      symlinkSync(target, join(stateOf(world), "runs", `run-${"b".repeat(24)}.json`));
      writeFileSync(join(stateOf(world), "runs", `run-${"c".repeat(24)}.json`), new Uint8Array([0xff, 0x7b]));
      const listed = await world.writ(["runs", "list", "--json"]);
      expect([listed.exit, documentOf(listed)]).toMatchObject([0, { runs: [] }]);
      expect(documentOf(await world.writ(["runs", "show", "run-b", "--json"]))).toMatchObject({ code: "no_run" });
      expect(documentOf(await world.writ(["runs", "show", "run-c", "--json"]))).toMatchObject({ code: "no_run" });
    },
  );

  test("as the ledger, a pipe, is told of by runs recover, and holds no delegation up", async () => {
    using world = livingWorld();
    const ledger = join(stateOf(world), "intents.jsonl");
    expect(Bun.spawnSync(["mkfifo", ledger]).exitCode).toBe(0);
    const recovered = await world.writ(["runs", "recover"]);
    expect(recovered).toEqual({
      exit: 4,
      stderr: "",
      stdout: `Cannot read the ledger of jobs, "${ledger}": it is a pipe, and no regular file. Move it away, or make it readable\n`,
    });
    expect(documentOf(await world.writ(["runs", "recover", "--json"]))).toMatchObject({
      ok: false,
      status: "unread",
      intents: [],
      unread: [{ path: ledger }],
    });
    writeFileSync(join(world.folder, "c.json"), JSON.stringify(CONTRACT));
    const place = ["--remote", "http://127.0.0.1:9", "--quiet"];
    const ran = await world.writ(["delegate", "--contract", "c.json", ...place, "--json"]);
    expect([ran.exit, documentOf(ran)]).toMatchObject([4, { summary: { deferred: 1 } }]);
  });

  test("as the folder of records, a link to itself, is an error and no defect", async () => {
    using world = livingWorld();
    mkdirSync(join(world.data, "run"), { recursive: true });
    symlinkSync("runs", join(world.data, "run", "runs"));
    const ran = await world.writ(["runs", "list", "--json"]);
    expect([ran.exit, documentOf(ran)]).toMatchObject([4, { code: "state_failed" }]);
  });
});
