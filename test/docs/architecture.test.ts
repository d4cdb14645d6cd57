import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY, readPage } from "../../scripts/pages/pages.ts";

const SRC = join(REPOSITORY, "src");
const page = readPage("docs/architecture.md");
const agents = readPage("AGENTS.md");

/** The rooms of a folder, by their names. */
function roomsOf(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** What stands in the tables of a page, in the code marks of one. */
function named(text: string): ReadonlySet<string> {
  const rows = text.split("\n").filter((line) => line.startsWith("| "));
  return new Set([...rows.join("\n").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code));
}

test("docs/architecture.md has every room of src/, and AGENTS.md too", () => {
  const rooms = roomsOf(SRC);
  expect(rooms.length).toBeGreaterThan(0);
  expect(rooms.filter((room) => !named(page).has(`${room}/`))).toEqual([]);
  expect(rooms.filter((room) => !named(agents).has(`src/${room}/`))).toEqual([]);
});

test("it has every room of src/core/, in the table of that floor", () => {
  const [, table = ""] = page.split("`core/` has a room for each noun:");
  const [nouns = ""] = table.trim().split("\n\n");
  const rooms = roomsOf(join(SRC, "core"));
  expect(rooms.length).toBeGreaterThan(0);
  expect(rooms.filter((room) => !named(nouns).has(`${room}/`))).toEqual([]);
  const told = [...named(nouns)].filter((name) => name.endsWith("/"));
  expect(told.filter((name) => !rooms.includes(name.slice(0, -1)))).toEqual([]);
});

test("it names no file and no folder that is not there", () => {
  const files = [...page.matchAll(/`([\w./-]+\.(?:ts|sql))`/g)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThan(0);
  const isThere = (file: string) => [SRC, join(SRC, "core"), REPOSITORY].some((at) => existsSync(join(at, file)));
  expect(files.filter((file) => !isThere(file))).toEqual([]);
  const folders = [...named(page)].filter((name) => /^[a-z]+\/$/.test(name));
  expect(folders.filter((folder) => !isThere(folder))).toEqual([]);
});
