import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readPages } from "../../scripts/digests.ts";

const ROOT = join(import.meta.dir, "..", "..");
const PAGES = [...readPages()].map(([name, text]) => ({ name, text }));

/** Everything that a page may name: the text of the code, and the paths of its files. */
const CODE = ["src", "scripts", "test"]
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  )
  .filter((path) => /\.(?:ts|mjs|sql)$/.test(path) && !path.endsWith("decisions.test.ts"))
  .map((path) => `${path.replaceAll("\\", "/")}\n${readFileSync(join(ROOT, path), "utf8")}`)
  .join("\n");

/** A name of the code: one word with an underscore, a capital inside, a point inside, or in capitals. */
const NAME = /^(?=.*(?:_|[a-z][A-Z]|\w\.\w|^[A-Z]{4,}$))[A-Za-z_$][\w.$/:]*$/;

test("there are at least 32 pages, numbered from 1 on without a gap", () => {
  expect(PAGES.length).toBeGreaterThanOrEqual(32);
  expect(PAGES.map(({ name }) => Number(name.slice(0, 4)))).toEqual(PAGES.map((_, index) => index + 1));
});

test("the index lists every page with its title, in order", () => {
  const index = readFileSync(join(ROOT, "docs", "decisions", "README.md"), "utf8");
  const rows = PAGES.map(({ name, text }) => {
    const [, number, title] = /^# (\d+)\. (.*)$/m.exec(text) ?? [];
    return `| ${number} | [${title}](${name}) |`;
  });
  expect(index.split("\n").filter((line) => /^\| \d/.test(line))).toEqual(rows);
});

describe.each(PAGES)("docs/decisions/$name", ({ name, text }) => {
  test("says what was faced, chosen and paid, in 2,000 to 3,500 characters", () => {
    expect(text).toStartWith(`# ${Number(name.slice(0, 4))}. `);
    expect([...text.matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, word]) => word)).toEqual(["Faced", "Chosen", "Paid"]);
    expect([text.length >= 2000, text.length <= 3500]).toEqual([true, true]);
  });

  test("names nothing that the code does not have", () => {
    const named = [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span ?? "").filter((span) => NAME.test(span));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((span) => !CODE.includes(span))).toEqual([]);
  });
});
