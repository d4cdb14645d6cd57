/**
 * `--out DIR`: the result document, and for each leg a folder with the parts of it that a person opens by themselves.
 *
 * Source: delegation run, section 1.4
 */
import { mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalContract } from "../../core/delegation/contract.ts";
import type { CallLeg } from "../../core/delegation/legs.ts";
import { type LegResult, UNVERIFIED_PATCH } from "../../core/delegation/result.ts";
import { WritError } from "../../core/error.ts";
import { writeFault } from "../../core/file-fault.ts";
import { prettyJson } from "../../core/json/value.ts";
import { writeFileWhole, writePiecesWhole } from "../../host/write-file.ts";

/** Errors: `file_unwritable` */
export function makeOutFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const why = writeFault(error);
    throw new WritError("file_unwritable", `Cannot make the folder "${folder}": ${why}`, {
      hint: "Name a folder that can be made and written with --out",
      cause: error,
    });
  }
}

/**
 * Writes the files of a call. A file of one of their names that has nothing to hold is removed: what an older call left
 * there is no part of this one. Nothing else in the folder is touched.
 *
 * @param document its text, in pieces
 * Errors: `file_unwritable`, at the first file that cannot be written
 */
export function writeOutFolder(
  folder: string,
  document: Iterable<string>,
  legs: readonly { readonly leg: CallLeg; readonly result: LegResult }[],
): void {
  makeOutFolder(folder);
  removeOlder(folder, new Set(legs.map(({ leg }) => folderOf(leg))));
  writePiecesWhole(join(folder, "result.json"), lineOf(document));
  for (const { leg, result } of legs) {
    const own = join(folder, folderOf(leg));
    makeOutFolder(own);
    const files: Readonly<Record<string, string | undefined>> = {
      "output.txt": result.output,
      "structured.json": result.structured,
      // What failed, or was given up on the way, must not be taken for what its checks passed.
      "diff.patch": result.status === "succeeded" ? result.diff : undefined,
      [UNVERIFIED_PATCH]: result.status === "succeeded" ? undefined : result.diff,
      "contract.json": `${prettyJson(canonicalContract(leg.contract))}\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      const path = join(own, name);
      if (text === undefined) rmSync(path, { force: true });
      else writeFileWhole(path, text);
    }
  }
}

const NAMES = ["output.txt", "structured.json", "diff.patch", UNVERIFIED_PATCH, "contract.json"];

/** The folder of a leg in that of a call: two digits, from 1 for the first. */
export function folderOf({ index }: Pick<CallLeg, "index">): string {
  return String(index + 1).padStart(2, "0");
}

/** The files of legs that an older call had and this one has not: a diff of theirs would be taken for one of this call. */
function removeOlder(folder: string, own: ReadonlySet<string>): void {
  const older = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && /^\d{2}$/.test(entry.name) && !own.has(entry.name),
  );
  for (const { name } of older) {
    for (const file of NAMES) rmSync(join(folder, name, file), { force: true });
    try {
      rmdirSync(join(folder, name));
    } catch {
      // Something of somebody else's is in it, and stays.
    }
  }
}

function* lineOf(pieces: Iterable<string>): Generator<string> {
  yield* pieces;
  yield "\n";
}
