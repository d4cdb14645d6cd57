import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

const SHIPPED = join(import.meta.dir, "..", "..", "contracts", "templates");
const NAMES = readdirSync(SHIPPED)
  .map((file) => file.replace(/\.json$/, ""))
  .sort();
const textOf = (name: string) => readFileSync(join(SHIPPED, `${name}.json`), "utf8");

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

describe("writ template", () => {
  test("list names every template and what lint says of it", async () => {
    const { ok, count, templates } = documentOf(await world.writ(["template", "list", "--json"]));
    const listed = templates as readonly { name: string; lint: readonly string[]; placeholders: readonly unknown[] }[];
    expect({ ok, count, names: listed.map(({ name }) => name) }).toEqual({
      ok: true,
      count: NAMES.length,
      names: NAMES,
    });
    expect(listed.every(({ placeholders }) => placeholders.length > 0)).toBe(true);
    const { stdout, exit } = await world.writ(["template", "list"]);
    expect(exit).toBe(0);
    for (const name of NAMES) expect(stdout).toContain(name);
    expect(stdout).toEndWith(`${NAMES.length} templates.\n`);
  });

  test.each(NAMES)("show prints %s byte for byte, also with --json", async (name) => {
    const ran = await world.writ(["template", "show", name]);
    expect(ran).toEqual({ exit: 0, stdout: textOf(name), stderr: "" });
    expect((await world.writ(["template", "show", name, "--json"])).stdout).toBe(textOf(name));
  });

  test("new writes a copy, and says what has to be replaced", async () => {
    const ran = await world.writ(["template", "new", "schema-extraction"]);
    expect(shown(ran)).toBe(`OK: schema-extraction.json written from template schema-extraction.
  replace /context_paths/0: REPLACE/reference.md
  sharpen /goal, then: writ lint schema-extraction.json --read-root .
--- exit 0
`);
    expect(readFileSync(join(world.folder, "schema-extraction.json"), "utf8")).toBe(textOf("schema-extraction"));
  });

  test("new refuses a file that is there, and replaces it when forced to", async () => {
    const file = join(world.folder, "there.json");
    writeFileSync(file, "mine");
    const args = ["template", "new", "bench-log-digest", "--out", "there.json", "--json"];
    const refused = await world.writ(args);
    expect(refused.exit).toBe(3);
    expect(documentOf(refused)).toMatchObject({ ok: false, status: "refused", code: "file_exists" });
    expect(readFileSync(file, "utf8")).toBe("mine");
    const forced = await world.writ([...args, "--force"]);
    expect(forced.exit).toBe(0);
    expect(documentOf(forced)).toMatchObject({
      ok: true,
      file: "there.json",
      placeholders: [{ path: "/context_paths/0" }],
    });
    expect(readFileSync(file, "utf8")).toBe(textOf("bench-log-digest"));
  });

  test("new ends in 4 where nothing can be written", async () => {
    mkdirSync(join(world.folder, "folder"));
    const args = ["template", "new", "bench-log-digest", "--out"];
    expect((await world.writ([...args, "missing/x.json"])).exit).toBe(4);
    expect((await world.writ([...args, "folder", "--force"])).exit).toBe(4);
  });

  test.each([
    { name: "research-digset", hint: 'Did you mean "research-digest"?' },
    { name: "reserch", hint: 'Did you mean "research-digest"?' },
    { name: "bench", hint: 'Did you mean "bench-log-digest"?' },
    { name: "../manifest", hint: null },
  ])("ends in 2 for the name $name, with a near miss", async ({ name, hint }) => {
    for (const verb of ["show", "new"]) {
      const ran = await world.writ(["template", verb, name, "--json"]);
      expect(ran.exit).toBe(2);
      expect(documentOf(ran)).toMatchObject({
        code: "template_unknown",
        hint: hint ?? expect.stringContaining("There are "),
      });
    }
    expect(existsSync(join(world.folder, `${name}.json`))).toBe(false);
  });
});
