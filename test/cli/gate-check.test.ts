import { expect, test } from "bun:test";
import { join } from "node:path";
import { runInFreshWorld, runWrit, writCommand } from "../support/writ.ts";

const SET = join(import.meta.dir, "../../contracts/write-door/gate.json");

test("writ gate check takes the shipped gate", async () => {
  const ran = await runWrit(["gate", "check", "--json", SET]);
  expect([ran.exit, JSON.parse(ran.stdout)]).toEqual([0, { ok: true, status: "ok", file: SET, issues: [], notes: [] }]);
});

test("writ gate check tells every issue with its place and ends in 1", async () => {
  const shell =
    'printf %s \'{"schema_version":1,"name":"x","mode":"write","legz":[]}\' > g.json; exec "$0" gate check g.json';
  const ran = await runWrit(["gate", "check", "gate.json"], { cwd: import.meta.dir });
  expect(ran).toMatchObject({ exit: 2, stdout: "" });
  const checked = await runInFreshWorld(["bash", "-c", shell, ...writCommand()]);
  expect(checked).toEqual({
    exit: 1,
    stderr: "",
    stdout: [
      "g.json  invalid  2 issues",
      '  missing_key [/legs]: The key "legs" is missing',
      '  unknown_key [/legz]: There is no key "legz" here',
      "    Did you mean legs?",
      "",
    ].join("\n"),
  });
});
