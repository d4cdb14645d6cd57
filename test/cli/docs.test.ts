import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listPages, REPOSITORY, readPage } from "../../scripts/pages/pages.ts";
import { PAGES } from "../../src/cli/docs/pages.ts";
import { SCHEMAS } from "../../src/cli/docs/schema.ts";
import { documentOf, runWrit } from "../support/writ.ts";

/** Pages for those who work on writ, or have its repository: where the executable is alone they help nobody. */
const NOT_INSIDE = ["README", "architecture", "bench", "dependencies", "fuzzing", "memory", "platforms", "real-model"];

describe("writ docs", () => {
  test("lists the pages, each with one line of what somebody finds in it", async () => {
    const { exit, stdout } = await runWrit(["docs"]);
    expect(exit).toBe(0);
    for (const { name, title, about } of PAGES) {
      expect(stdout).toContain(`\n${name.padEnd(20)}  ${about}\n`);
      expect(about).toMatch(/^\S.{10,58}[^.]$/);
      expect(about.toLowerCase()).not.toBe(title.toLowerCase());
    }
    expect(documentOf(await runWrit(["docs", "--json"]))).toEqual({
      ok: true,
      pages: PAGES.map(({ name, title, about }) => ({ name, title, about })),
    });
  });

  test.each(["gates", "gates.md", "docs/gates.md"])(
    "prints the page %s, without what is said to its tests",
    async (name) => {
      const page = readPage("docs/gates.md");
      expect(page).toContain("<!--");
      const { exit, stdout } = await runWrit(["docs", name]);
      expect(exit).toBe(0);
      expect(stdout).not.toContain("<!--");
      expect(stdout.split("\n").filter((line) => !page.split("\n").includes(line))).toEqual([]);
      expect(stdout).toEndWith(page.slice(-200));
    },
  );

  test("says what was meant where there is no such page", async () => {
    expect(await runWrit(["docs", "gate"])).toEqual({
      exit: 2,
      stdout: "",
      stderr: 'Error: There is no page "gate"\nDid you mean gates?\nUsage: writ docs [NAME] [options]\n',
    });
    expect((await runWrit(["docs", "walrus"])).stderr).toContain("writ docs lists them");
  });
});

test("every page for a user is in the executable, and none that is not there", () => {
  const names = listPages().flatMap((page) => /^docs\/(?:reference\/)?([\w-]+)\.md$/.exec(page)?.[1] ?? []);
  const inside = PAGES.map(({ name }) => name);
  expect(names.filter((name) => !inside.includes(name) && !NOT_INSIDE.includes(name))).toEqual([]);
  expect(inside.filter((name) => !names.includes(name) || NOT_INSIDE.includes(name))).toEqual([]);
});

test("the code sends nobody to a page that the executable does not have", () => {
  const files = [...new Bun.Glob("src/**/*.ts").scanSync(REPOSITORY)].filter(
    (file) => !file.startsWith("src/cli/docs"),
  );
  const code = files.map((file) => [file, readFileSync(join(REPOSITORY, file), "utf8")] as const);
  const names = new Set(["schema", ...PAGES.map(({ name }) => name)]);
  const sent = code.flatMap(([file, text]) =>
    [...text.matchAll(/\bwrit docs ([\w-]+)/g)].map(([, name = ""]) => ({ file, name })),
  );
  expect(sent.length).toBeGreaterThan(5);
  expect(sent.filter(({ name }) => !names.has(name))).toEqual([]);
  const files_named = code.filter(([, text]) =>
    /["'`][^"'`\n]*\bdocs\/[\w-]+\.md[^"'`\n]*["'`]/.test(text.replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, "")),
  );
  expect(files_named.map(([file]) => file)).toEqual([]);
});

test("a link of a page leads to a page that the executable prints", () => {
  const names = new Set(PAGES.map(({ name }) => name));
  const links = PAGES.flatMap(({ name, text }) =>
    [...text.matchAll(/\]\(([^()\s#]+)(?:#[^()\s]*)?\)/g)].map(([, target = ""]) => ({ page: name, target })),
  ).filter(({ target }) => !/^[a-z]+:/.test(target));
  expect(links.length).toBeGreaterThan(30);
  const known = (target: string) => names.has(/^(?:\.\.\/)?(?:reference\/)?([\w-]+)\.md$/.exec(target)?.[1] ?? "");
  expect(links.filter(({ target }) => !known(target))).toEqual([]);
});

test("a file of the project that a page names is said to lie in the project's folder", () => {
  const named = PAGES.flatMap(({ name, text }) =>
    text
      .split(/\n\n/)
      .filter((paragraph) =>
        /(?<!`|[\w/])(?:docs|fixtures|contracts\/schemas)\/[\w./-]+/.test(paragraph.replaceAll("`", "")),
      )
      .map((paragraph) => ({ page: name, paragraph })),
  );
  expect(named.length).toBeGreaterThan(3);
  const prose = named.filter(
    ({ page, paragraph }) => !/^(?:security|commands)$/.test(page) && !/^```|\n```|^> |^\| /m.test(paragraph),
  );
  expect(prose.filter(({ paragraph }) => !/project's\s+folder/.test(paragraph))).toEqual([]);
});

describe("writ docs schema", () => {
  test("prints each published schema, byte for byte, with and without --json", async () => {
    const published = readdirSync(join(REPOSITORY, "contracts/schemas")).map((file) =>
      file.replace(".schema.json", ""),
    );
    expect(Object.keys(SCHEMAS)).toEqual(published.toSorted());
    const texts = await Promise.all(
      published.flatMap((name) => [
        runWrit(["docs", "schema", name]),
        runWrit(["docs", "schema", `${name}.schema.json`, "--json"]),
      ]),
    );
    expect(texts.map(({ exit, stdout }) => [exit, stdout])).toEqual(
      published.flatMap((name) => {
        const text = readFileSync(join(REPOSITORY, "contracts/schemas", `${name}.schema.json`), "utf8");
        return [
          [0, text],
          [0, text],
        ];
      }),
    );
  });

  test("lists them, and says what was meant where there is none", async () => {
    expect(documentOf(await runWrit(["docs", "schema", "--json"])).schemas).toEqual(
      Object.entries(SCHEMAS).map(([name, about]) => ({ name, about })),
    );
    expect((await runWrit(["docs", "schema"])).stdout).toContain("\ngate      A gate file (writ docs gates)\n");
    expect((await runWrit(["docs", "schema", "gates"])).stderr).toContain("Did you mean gate?");
  });

  test("the pages of what has a schema name the call", () => {
    for (const [page, name] of Object.entries({
      configuration: "config",
      gates: "gate",
      "scripted-seat": "script",
      "delegation-contracts": "contract",
    })) {
      expect(PAGES.find((each) => each.name === page)?.text).toContain(`writ docs schema ${name}`);
    }
  });
});

test("the session of briefs writes the pair of files that the tests of plan check use", () => {
  const page = readPage("docs/briefs.md");
  for (const [file, name] of [
    ["spec.md", "specs"],
    ["plan.md", "plans"],
  ] as const) {
    const [, typed = ""] =
      new RegExp(`> doc/${name}/2026-10-12-greeting-cache\\.md <<'END'\\n((?:>.*\\n)*?)> END\\n`).exec(page) ?? [];
    const text = typed.replaceAll(/^> ?/gm, "");
    expect(text).toBe(readFileSync(join(REPOSITORY, "fixtures/plan/passing", file), "utf8"));
  }
});
