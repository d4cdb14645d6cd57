/** The real world of the fixture gate: a folder, or the set that this executable carries. */
import { join, resolve } from "node:path";
import type { WritError } from "../../core/error.ts";
import { renderSchemas } from "../../core/published-schemas.ts";
import type { FixtureWorld } from "../../gate/fixtures.ts";
import { listFiles, readFileText, shippedContracts } from "../../host/contracts.ts";

/** What a report calls the set of the executable. */
export const EMBEDDED = "(embedded)";

/** @param dir null: the shipped set */
export function fixtureWorld(dir: string | null): FixtureWorld {
  const root = dir === null ? shippedContracts() : resolve(dir);
  return {
    list: () => listFiles(root),
    read(path, maxBytes) {
      const file = unlessTooLarge(() => readFileText(join(root, path), maxBytes));
      if (file === null) return null;
      const { text, isUtf8, bytes } = file;
      return { text, isUtf8, sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex") };
    },
    pages: (folder) => pagesOf(join(root, folder)),
    schemas: new Map(Object.entries(renderSchemas()).map(([name, text]) => [`schemas/${name}`, text])),
  };
}

/** The largest page that is read; a larger one counts as a page whose text is not known. */
const PAGE_BYTES = 1024 * 1024;

function pagesOf(folder: string): ReadonlyMap<string, string> | null {
  let files: ReturnType<typeof listFiles>;
  try {
    files = listFiles(folder);
  } catch (error) {
    // Not on disk: the list of the manifest stands in.
    if (isWritError(error) && error.code === "file_unreadable") return null;
    throw error;
  }
  const pages = files.filter(({ kind }) => kind === "file");
  return new Map(
    pages.map(({ path }) => [path, unlessTooLarge(() => readFileText(join(folder, path), PAGE_BYTES))?.text ?? ""]),
  );
}

function unlessTooLarge<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isWritError(error) && error.code === "body_too_large") return null;
    throw error;
  }
}

function isWritError(error: unknown): error is WritError {
  return error instanceof Error && error.name === "WritError";
}
