/** The real world of `writ lint` and `writ grade`: files, standard input, and the read root where one is named. */

import type { AuthorWorld } from "../author/read.ts";
import { WritError } from "../core/error.ts";
import { readContractFile } from "../host/contract-file.ts";
import { documentReader } from "../host/read-root.ts";

export function authorWorld(readRoot: string | undefined): AuthorWorld {
  return {
    read: readContractFile,
    readDocuments: readRoot === undefined ? null : documentReader(readRoot),
  };
}

/** Standard input can be read once. Errors: `usage` */
export function assertOneStdin(files: readonly string[]): void {
  if (files.filter((file) => file === "-").length > 1) {
    throw new WritError("usage", 'Standard input is named twice: "-" can be given once');
  }
}
