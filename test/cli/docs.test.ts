import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listPages, REPOSITORY, readPage } from "../../scripts/pages/pages.ts";
import { PAGES } from "../../src/cli/docs/pages.ts";
import { documentOf, runWrit } from "../support/writ.ts";

/** Pages for those who work on writ, or have its repository: where the executable is alone they help nobody. */
const NOT_INSIDE = ["README", "architecture", "bench", "dependencies", "fuzzing", "memory", "platforms", "real-model"];

describe("writ docs", () => {
  test("lists the pages with their titles", async () => {
    const { exit, stdout } = await runWrit(["docs"]);
    expect(exit).toBe(0);
    for (const { name, title } of PAGES) expect(stdout).toMatch(new RegExp(`^${name} +${title}$`, "m"));
    expect(documentOf(await runWrit(["docs", "--json"]))).toEqual({
      ok: true,
      pages: PAGES.map(({ name, title }) => ({ name, title })),
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
  const names = new Set(PAGES.map(({ name }) => name));
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
