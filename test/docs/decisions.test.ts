import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { proseOf, REPOSITORY, readPage } from "../../scripts/pages/pages.ts";

const FOLDER = "docs/decisions";
const files = readdirSync(join(REPOSITORY, FOLDER)).filter((file) => file !== "README.md");
const pages = files.sort().map((file) => ({ file, text: readPage(`${FOLDER}/${file}`) }));

test("the index of the decisions has each of them once, in order, under its title", () => {
  const rows = [...readPage(`${FOLDER}/README.md`).matchAll(/^\| (\d+) \| \[(.+)\]\((.+)\) \|$/gm)];
  const titles = pages.map(({ file, text }, at) => {
    const [, number, title] = /^# (\d+)\. (.+)\n/.exec(text) ?? [];
    expect(file.startsWith(`${String(at + 1).padStart(4, "0")}-`)).toBe(true);
    return [number, title, file];
  });
  expect(rows.map(([, ...row]) => row)).toEqual(titles as string[][]);
});

test.each(pages)("$file says what was faced, chosen and paid, in that order", ({ text }) => {
  const parts = [...text.matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, part]) => part);
  expect(parts).toEqual(["Faced", "Chosen", "Paid"]);
});

test("they name nothing that the code has given up", () => {
  const sources = ["src", "scripts", "test"].flatMap((at) =>
    [...new Bun.Glob(`${at}/**/*.{ts,sql}`).scanSync(REPOSITORY)].map((file) =>
      readFileSync(join(REPOSITORY, file), "utf8"),
    ),
  );
  const words = new Set(sources.join("\n").match(/\w+/g));
  const isIdentifier = (code: string) => /^(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Za-z]+[a-z][A-Z]\w*)$/.test(code);
  const named = pages.flatMap(({ file, text }) =>
    [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => ({ file, code })),
  );
  const identifiers = named.filter(({ code }) => isIdentifier(code));
  expect(identifiers.length).toBeGreaterThan(0);
  expect(identifiers.filter(({ code }) => !words.has(code))).toEqual([]);
});
