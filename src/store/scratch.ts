/** `scratch/`: files on their way to becoming evidence, named after the contract they belong to. */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ScratchFolder } from "../core/contract/repository.ts";

export function scratchFolder(folder: string): ScratchFolder {
  return {
    list(): readonly { readonly name: string; readonly modified_ms: number }[] {
      return namesIn(folder).flatMap((name) => {
        const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
        return stat === undefined ? [] : [{ name, modified_ms: stat.mtimeMs }];
      });
    },
    remove: (name: string): void => rmSync(join(folder, name), { force: true, recursive: true }),
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was ever staged
  }
}
