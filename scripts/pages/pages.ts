/** The pages that somebody reads to use writ or to work on it, as paths from the repository's root. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, parseBlocks } from "./page.ts";

export const REPOSITORY = join(import.meta.dir, "..", "..");

/** Every page; not the changelog, which speaks of what there was, nor fixtures, which are inputs of tests. */
export function listPages(): readonly string[] {
  const found = ["docs/**/*.md", "skills/**/*.md"].flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync({ cwd: REPOSITORY }),
  ]);
  return ["README.md", "AGENTS.md", ...found.map((path) => path.replaceAll("\\", "/")).toSorted()];
}

export function readPage(path: string): string {
  return readFileSync(join(REPOSITORY, path), "utf8");
}

/** The text of a page with its fenced blocks left out, line for line. */
export function proseOf(page: string): string {
  const blank = (text: string) => text.replace(/[^\n]/g, "");
  return parseBlocks(page).reduceRight(
    (text, { start, end }) => text.slice(0, start) + blank(text.slice(start, end)) + text.slice(end),
    page,
  );
}

/** Blocks that are somebody's to type. */
export function shellBlocks(page: string): readonly Block[] {
  return parseBlocks(page).filter(({ kind }) => kind !== "text");
}
