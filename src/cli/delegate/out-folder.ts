/**
 * `--out DIR`: the result document, and for each leg a folder with the parts of it that a person opens by themselves.
 *
 * Source: delegation run, section 1.4
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalContract } from "../../core/delegation/contract.ts";
import type { CallLeg } from "../../core/delegation/legs.ts";
import type { LegResult } from "../../core/delegation/result.ts";
import { WritError } from "../../core/error.ts";
import { prettyJson } from "../../core/json/value.ts";
import { writeFileWhole } from "../../host/write-file.ts";

/** Errors: `file_unwritable` */
export function makeOutFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
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
 * @param document its text
 * Errors: `file_unwritable`, at the first file that cannot be written
 */
export function writeOutFolder(
  folder: string,
  document: string,
  legs: readonly { readonly leg: CallLeg; readonly result: LegResult }[],
): void {
  makeOutFolder(folder);
  writeFileWhole(join(folder, "result.json"), `${document}\n`);
  for (const { leg, result } of legs) {
    const own = join(folder, String(leg.index + 1).padStart(2, "0"));
    makeOutFolder(own);
    const files: Readonly<Record<string, string | undefined>> = {
      "output.txt": result.output,
      "structured.json": result.structured,
      "diff.patch": result.diff,
      "contract.json": `${prettyJson(canonicalContract(leg.contract))}\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      const path = join(own, name);
      if (text === undefined) rmSync(path, { force: true });
      else writeFileWhole(path, text);
    }
  }
}
