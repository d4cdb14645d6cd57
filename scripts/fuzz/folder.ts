/** A folder for readers that take a file; it lies in that of the trier, which takes it away. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let made: string | null = null;

/** One for all of them. */
export function ownFolder(): string {
  made ??= mkdtempSync(join(tmpdir(), "files-"));
  return made;
}
