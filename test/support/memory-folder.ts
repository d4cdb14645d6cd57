/** A folder where a flush costs nothing, if the system has such a place: a process that is killed loses nothing of it either. */
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";

export function memoryFolder(prefix: string): string {
  return mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), prefix));
}
