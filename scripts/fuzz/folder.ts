/** A folder of this run, for readers that take a file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let made: string | null = null;

/** One for all of them, gone when the program ends. */
export function ownFolder(): string {
  if (made !== null) return made;
  const folder = mkdtempSync(join(tmpdir(), "writ-fuzz-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  made = folder;
  return folder;
}
