import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  changedSet,
  contractOf,
  digest,
  type Files,
  pretty,
  SET_FILE,
  soundSet,
  withContract,
  writeSet,
} from "../support/fixture-set.ts";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

let world: LivingWorld;
const made: string[] = [];
beforeAll(() => {
  world = livingWorld();
});
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});
afterAll(() => world[Symbol.dispose]());

function folderOf(files: Files): string {
  const folder = writeSet(files);
  made.push(folder);
  return folder;
}

const GAVE_AWAY = { [SET_FILE]: withContract(3, { goal: "Say what QX-3 is" }) };
const REWORDED = { [SET_FILE]: withContract(3, { goal: "Say what the page rules" }) };

describe("writ gate fixtures", () => {
  test("passes the set that writ ships, and has read it", async () => {
    const ran = await world.writ(["gate", "fixtures", "--json"]);
    const { ok, gate, verdict, dir, findings, schemas_read, checks_read, sets } = documentOf(ran);
    expect({ ok, gate, verdict, dir, findings }).toEqual({
      ok: true,
      gate: "fixtures",
      verdict: "PASS",
      dir: "(embedded)",
      findings: [],
    });
    expect(Number(schemas_read)).toBeGreaterThan(0);
    expect(Number(checks_read)).toBeGreaterThan(64);
    expect(sets).toHaveLength(3);
    expect(ran.exit).toBe(0);
  });

  test("tells a person each file, each set, and the verdict last", async () => {
    const files = soundSet();
    const folder = folderOf(files);
    const sum = digest(files[SET_FILE] ?? "").slice(0, 12);
    expect(shown(await world.writ(["gate", "fixtures", "--dir", folder]))).toBe(`digests/eight.json  8 lists, 16 checks
templates/nodes.json  no acceptance
templates/plain.json  1 list, 2 checks
digests/eight.json  ok  8 subtasks, sha256 ${sum} as pinned
PASS fixtures ${folder}: 3 files, 18 checks
--- exit 0
`);
  });

  test("ends in 1 with every finding", async () => {
    const folder = folderOf(changedSet({ ...GAVE_AWAY, "templates/nodes.json": "{]" }, false));
    const ran = await world.writ(["gate", "fixtures", "--dir", folder, "--json"]);
    expect(ran.exit).toBe(1);
    const { ok, verdict, findings, sets } = documentOf(ran);
    expect({ ok, verdict, sets }).toMatchObject({ ok: false, verdict: "FAIL", sets: [{ ok: false }] });
    expect(findings).toMatchObject([
      { code: "not_json", file: "templates/nodes.json", path: "" },
      { code: "wrong_sum", file: SET_FILE, path: "" },
      { code: "alternative_in_goal", file: SET_FILE, path: "/3/acceptance/1" },
    ]);
    const { stdout } = await world.writ(["gate", "fixtures", "--dir", folder]);
    expect(stdout).toContain("  alternative_in_goal [digests/eight.json /3/acceptance/1]: ");
    expect(stdout).toEndWith(`FAIL fixtures ${folder}: 3 files, 18 checks, 3 findings\n`);
  });

  test.each([
    { args: ["--dir", "."], code: "manifest_unusable" },
    { args: ["--dir", "nowhere"], code: "manifest_unusable" },
    { args: ["somewhere"], code: "usage" },
    { args: ["--name-only", "a.json"], code: "usage" },
    { args: ["--name-only", "a.json", "b.json"], code: "file_unreadable" },
  ])("ends in 2 for $args", async ({ args, code }) => {
    const ran = await world.writ(["gate", "fixtures", ...args, "--json"]);
    expect(ran.exit).toBe(2);
    expect(documentOf(ran)).toMatchObject({ ok: false, code });
  });
});

describe("writ gate fixtures --name-only", () => {
  const set = [contractOf(1), contractOf(2)];
  const renamed = JSON.parse(JSON.stringify(set).replaceAll("p1.md", "q1.md")) as unknown;

  test("ends in 0 with the mapping where names alone differ", async () => {
    writeFileSync(join(world.folder, "old.json"), pretty(set));
    writeFileSync(join(world.folder, "new.json"), pretty(renamed));
    const args = ["gate", "fixtures", "--name-only", "old.json", "new.json"];
    expect(shown(await world.writ(args))).toBe("p1.md -> q1.md\nEXEMPT: 1 word replaced, nothing else\n--- exit 0\n");
    expect(documentOf(await world.writ([...args, "--json"]))).toEqual({
      ok: true,
      gate: "name-only",
      exempt: true,
      mapping: [{ old: "p1.md", new: "q1.md" }],
      difference: null,
    });
    expect((await world.writ([...args.slice(0, 3), "old.json", "old.json"])).stdout).toBe(
      "EXEMPT: the sets do not differ\n",
    );
  });

  test("ends in 1 with the first difference elsewhere", async () => {
    writeFileSync(join(world.folder, "old.json"), pretty(set));
    writeFileSync(join(world.folder, "more.json"), pretty([set[0], { ...set[1], acceptance: ["contains:x"] }]));
    const args = ["gate", "fixtures", "--name-only", "old.json", "more.json"];
    const ran = await world.writ(args);
    expect(ran.exit).toBe(1);
    expect(ran.stdout).toStartWith("NOT EXEMPT: /1/acceptance: ");
    const document = documentOf(await world.writ([...args, "--json"]));
    expect(document).toMatchObject({ ok: false, exempt: false, mapping: [], difference: { path: "/1/acceptance" } });
  });

  test("ends in 2 for a file that is no JSON", async () => {
    writeFileSync(join(world.folder, "prose.json"), "old");
    const ran = await world.writ(["gate", "fixtures", "--name-only", "prose.json", "prose.json", "--json"]);
    expect(ran.exit).toBe(2);
    expect(documentOf(ran)).toMatchObject({ code: "bad_json" });
  });
});

describe("writ gate pin", () => {
  const manifest = (folder: string) => readFileSync(join(folder, "manifest.json"), "utf8");

  test("writes a new sum into ./contracts or --dir, prints both, and is done then", async () => {
    const files = changedSet(REWORDED, false);
    const folder = folderOf(files);
    const before = digest(soundSet()[SET_FILE] ?? "");
    const after = digest(files[SET_FILE] ?? "");
    const args = ["gate", "pin", "--dir", folder];
    expect(shown(await world.writ([...args, "--check"]))).toBe(`${SET_FILE}  ${before} -> ${after}\n--- exit 1\n`);
    expect(manifest(folder)).toBe(files["manifest.json"] ?? "");
    expect(shown(await world.writ(args))).toBe(`${SET_FILE}  ${before} -> ${after}\n--- exit 0\n`);
    expect(manifest(folder)).toBe((files["manifest.json"] ?? "").replace(before, after));
    expect(shown(await world.writ(args))).toBe(`${SET_FILE}  unchanged\n--- exit 0\n`);
    expect(documentOf(await world.writ([...args, "--check", "--json"]))).toEqual({
      ok: true,
      status: "ok",
      dir: folder,
      written: false,
      sets: [{ file: SET_FILE, old: after, new: after, changed: false }],
    });
    expect((await world.writ(["gate", "fixtures", "--dir", folder])).exit).toBe(0);
  });

  test("refuses with 3 while something else is wrong, and writes nothing", async () => {
    const files = changedSet(GAVE_AWAY, false);
    const folder = folderOf(files);
    for (const more of [[], ["--check"]]) {
      const ran = await world.writ(["gate", "pin", "--dir", folder, "--json", ...more]);
      expect(ran.exit).toBe(3);
      expect(documentOf(ran)).toMatchObject({
        status: "refused",
        code: "fixtures_wanting",
        findings: [{ code: "alternative_in_goal" }],
      });
    }
    expect(manifest(folder)).toBe(files["manifest.json"] ?? "");
  });

  test("ends in 2 without a manifest", async () => {
    expect((await world.writ(["gate", "pin"])).exit).toBe(2);
  });
});

test("a file name poses as no line of the report", async () => {
  const dir = folderOf({ ...soundSet(), "a.json\nPASS fixtures here: all well.json": '{"acceptance":["contains:x"]}' });
  const ran = await world.writ(["gate", "fixtures", "--dir", dir]);
  expect(ran.exit).toBe(1);
  expect(ran.stdout.split("\n").filter((line) => line.startsWith("PASS"))).toEqual([]);
});
