/** The real inputs that mutants are made of: the vectors, the fixtures, the contracts that are shipped, the pages. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
/** Longer ones say nothing that shorter ones do not, and take longer. */
const MOST_BYTES = 32 * 1024;

/** Every file below a folder of the project whose name ends so. */
export function filesBelow(folder: string, ...ends: readonly string[]): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ends.includes(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => readFileSync(path, "utf8"))
    .filter((text) => text.length <= MOST_BYTES);
}

export function fileAt(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The inputs of the vectors of some files. */
export function vectors<T>(...names: readonly string[]): readonly T[] {
  return names.flatMap((name) =>
    (JSON.parse(fileAt(`fixtures/vectors/${name}.json`)) as readonly { readonly input: T }[]).map(({ input }) => input),
  );
}

/** What holds a key, wherever it stands in a value, in their order. */
export function valuesAt(value: unknown, key: string): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name === key ? [member] : []),
    ...valuesAt(member, key),
  ]);
}

export function textsAt(value: unknown, key: string): readonly string[] {
  return short(valuesAt(value, key).filter((each) => typeof each === "string"));
}

/** Each once, without those that are too long. */
export function short(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].filter((text) => text.length <= MOST_BYTES);
}

/** Values as JSON, on one line and laid out by turns. */
export function asJson(values: readonly unknown[]): readonly string[] {
  return short(values.map((value, at) => JSON.stringify(value, null, at % 2 === 0 ? undefined : 2)));
}

/** The blocks of code of a page, by their language. */
export function blocksIn(page: string, language: string): readonly string[] {
  return fileAt(page)
    .split(/^```/m)
    .flatMap((block, at) =>
      at % 2 === 1 && block.startsWith(`${language}\n`) ? [block.slice(language.length + 1)] : [],
    );
}
