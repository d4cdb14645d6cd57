import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";
import { openScreen } from "../support/screen.ts";
import { documentOf, type LivingWorld, livingWorld, shown, writCommand } from "../support/writ.ts";

const SOUND = {
  goal: "how many pallets does Rotterdam hold?",
  context: [{ name: "d.md", text: "Rotterdam holds 412 pallets in bay QX-9" }],
  output_schema: { properties: { count: { type: "integer" } } },
  acceptance: ["contains:412"],
};
const WARNED = { ...SOUND, acceptance: ["contains:zebra"] };
const FILES = {
  "sound.json": SOUND,
  "warned.json": WARNED,
  "list.json": [SOUND, { goal: " ", acceptance: ["contans:x"] }, WARNED],
  "paths.json": { ...SOUND, context: [], context_paths: ["REPLACE/d.md"], acceptance: ["contains:@grounded:412"] },
  "read.json": { ...SOUND, context: [], context_paths: ["docs/d.md"], acceptance: ["contains:@grounded:zebra"] },
};

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
  for (const [name, value] of Object.entries(FILES)) writeFileSync(join(world.folder, name), JSON.stringify(value));
  writeFileSync(join(world.folder, "yaml.json"), "goal: x\n");
  mkdirSync(join(world.folder, "docs"));
  writeFileSync(join(world.folder, "docs", "d.md"), "412");
});
afterAll(() => world[Symbol.dispose]());

const lint = (...args: string[]) => world.writ(["lint", ...args]);
const filesOf = (document: JsonObject) => document.files as readonly JsonObject[];

describe("writ lint", () => {
  test("says that a sound contract is one", async () => {
    expect(shown(await lint("sound.json"))).toBe("sound.json[0]  ok\n--- exit 0\n");
  });

  test("tells a person every subtask, its issues, warnings and notes", async () => {
    expect(shown(await lint("list.json"))).toBe(`list.json[0]  ok
list.json[1]  invalid  goal_required acceptance
  goal_required [/1/goal]: A contract needs a goal that is not blank
    Say what is wanted, and what would be wrong
  acceptance [/1/acceptance/0]: Check 0: "contans:x" has the verb "contans", which is none of contains, not_contains, regex, min_items, nonempty, diff_touches, diff_max_files; did you mean contains?
list.json[2]  ok  UNGROUNDED
  UNGROUNDED [/2/acceptance/0] "contains:zebra": it matches nothing in the documents, so that a right answer may fail it
    Anchor on text that the documents carry, for example contains:QX-9
--- exit 1
`);
  });

  test("gives a program one document", async () => {
    const ran = await lint("--json", "warned.json");
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toStartWith(
      '{"ok":true,"status":"ok","files":[{"file":"warned.json","subtasks":[{"index":0,"valid":true,"issues":[],"warnings":[{"code":"UNGROUNDED","path":"/acceptance/0","check":"contains:zebra","message":',
    );
    const list = documentOf(await lint("--json", "list.json"));
    expect(list).toMatchObject({ ok: false, status: "no" });
    expect(filesOf(list)[0]).toMatchObject({
      subtasks: [
        { valid: true },
        { valid: false, warnings: [], issues: [{ code: "goal_required" }, { cause: "unknown_verb" }] },
        { valid: true },
      ],
    });
  });

  test("counts a warning only when it is asked to", async () => {
    expect((await lint("warned.json")).exit).toBe(0);
    expect((await lint("--strict", "warned.json")).exit).toBe(1);
    expect((await lint("--strict", "sound.json")).exit).toBe(0);
    expect(documentOf(await lint("--strict", "--json", "warned.json"))).toMatchObject({ ok: false, status: "no" });
  });

  test("has issues and no subtasks for a file that does not read", async () => {
    const ran = await lint("--json", "yaml.json");
    expect(ran.exit).toBe(1);
    expect(filesOf(documentOf(ran))).toEqual([
      { file: "yaml.json", subtasks: [], issues: [expect.objectContaining({ code: "not_json", path: "" })] },
    ]);
    expect((await lint("yaml.json")).stdout).toStartWith("yaml.json  invalid  not_json\n  not_json: ");
  });

  test("judges the other files where one does not open, and names each issue's file", async () => {
    const ran = await lint("--json", "none.json", "list.json", ".");
    expect(ran.exit).toBe(2);
    const document = documentOf(ran);
    expect(document).toMatchObject({ ok: false, status: "error", code: "bad_contract", path: null });
    expect(document.issues).toMatchObject([
      { code: "file_unreadable", file: "none.json" },
      { code: "file_unreadable", file: "." },
    ]);
    expect(filesOf(document).map(({ file }) => file)).toEqual(["none.json", "list.json", "."]);
    expect(filesOf(document)[1]).toMatchObject({ subtasks: [{}, { issues: [{ file: "list.json" }, {}] }, {}] });
    expect((await lint("none.json", "sound.json")).stdout).toEndWith("sound.json[0]  ok\n");
  });

  test("says nothing of documents that it did not read, and reads them where it is told where they are", async () => {
    const [file] = filesOf(documentOf(await lint("--json", "paths.json")));
    expect(file).toMatchObject({ subtasks: [{ warnings: [] }] });
    expect(JSON.stringify(file)).toContain("documents not read");
    expect(JSON.stringify(file)).toContain("placeholder");
    const read = documentOf(await lint("--json", "read.json", "--read-root", "."));
    expect(filesOf(read)[0]).toMatchObject({ subtasks: [{ warnings: [{ code: "UNGROUNDED" }], notes: [] }] });
    const missing = await lint("paths.json", "--read-root", ".");
    expect(missing.exit).toBe(1);
    expect(missing.stdout).toContain("path_missing [/context_paths/0]");
    expect(missing.stdout).toContain(`there is no such file in "${world.folder}"`);
    const refused = await world.writ(["delegate", "--contract", "paths.json"]);
    expect(refused.stderr).toContain(`there is no such file in "${world.folder}"\n    Name another --read-root\n`);
    expect(refused.stderr).toContain("writ lint paths.json --read-root DIR\n");
  });

  test("reads standard input, once", async () => {
    const ran = await world.writ(["lint", "-"], { stdin: JSON.stringify(SOUND) });
    expect(shown(ran)).toBe("-[0]  ok\n--- exit 0\n");
    expect((await lint("-", "-")).exit).toBe(2);
  });

  test.each([[[]], [["--strickt", "sound.json"]]])("ends in 2 for %p", async (args) => {
    expect((await lint(...args)).exit).toBe(2);
  });

  test("strips control sequences of a check for a person, and keeps them in JSON", async () => {
    const stdin = JSON.stringify({ ...SOUND, acceptance: ["contains:\u001b[31mred"] });
    expect((await world.writ(["lint", "-"], { stdin })).stdout).not.toContain("\u001b");
    expect(JSON.stringify(documentOf(await world.writ(["lint", "--json", "-"], { stdin })))).toContain(
      "\\u001b[31mred",
    );
  });

  test.skipIf(process.platform === "win32")("fits a narrow terminal", async () => {
    const screen = openScreen([...writCommand(), "lint", "list.json"], {
      env: world.env({ TERM: "xterm" }),
      cwd: world.folder,
      columns: 50,
    });
    expect(await screen.ended).toBe(1);
    const lines = Bun.stripANSI(screen.text()).replaceAll("\r", "").trimEnd().split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(50);
  });
});
