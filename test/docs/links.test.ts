/** Every link of every page leads somewhere, and every page can be reached from README.md. */
import { describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join, normalize } from "node:path/posix";
import { listPages, proseOf, REPOSITORY, readPage } from "../../scripts/pages/pages.ts";

const pages = listPages();

/** Where the links of a page lead: a path from the repository's root, and the anchor, or "". */
function linksOf(page: string): readonly { readonly path: string; readonly anchor: string }[] {
  const prose = proseOf(readPage(page)).replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, " "));
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = "", anchor = ""] = target.split("#");
      return { path: file === "" ? page : normalize(join(page, "..", decodeURI(file))), anchor };
    });
}

/** The anchors that a forge gives to the headings of a page; of two alike the second has -1 behind it. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of proseOf(readPage(page)).matchAll(/^#{1,6} +(.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = plain
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .trim()
      .replaceAll(" ", "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

describe.each(pages)("%s", (page) => {
  test("links to files that are there", () => {
    const dead = linksOf(page).filter(({ path }) => !existsSync(join(REPOSITORY, path)));
    expect(dead).toEqual([]);
  });

  test("links to headings that are there", () => {
    const dead = linksOf(page).filter(
      ({ path, anchor }) => anchor !== "" && !(pages.includes(path) && anchorsOf(path).has(anchor)),
    );
    expect(dead).toEqual([]);
  });
});

test("every page can be reached from README.md by links", () => {
  const reached = new Set<string>();
  const waiting = ["README.md"];
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    if (reached.has(page)) continue;
    reached.add(page);
    // A folder shows its README.
    const targets = linksOf(page).map(({ path }) =>
      existsSync(join(REPOSITORY, path)) && statSync(join(REPOSITORY, path)).isDirectory()
        ? join(path, "README.md")
        : path,
    );
    waiting.push(...targets.filter((path) => pages.includes(path)));
  }
  expect(pages.filter((page) => !reached.has(page))).toEqual([]);
});

test("docs/README.md is the map: it links to each page of docs/ and docs/reference/, and to the skill", () => {
  const linked = linksOf("docs/README.md").map(({ path }) => path);
  const due = pages.filter((page) => /^(?:docs|docs\/reference|skills\/\w+)\/[^/]+\.md$/.test(page));
  expect(due.filter((page) => page !== "docs/README.md" && !linked.includes(page))).toEqual([]);
});
