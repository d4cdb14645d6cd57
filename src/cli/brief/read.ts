/** How a brief is read from where it was named. */
import { statSync } from "node:fs";
import { stop } from "../../core/brief/stop.ts";
import { readStdinText } from "../../host/stdin.ts";
import { readFile, whyUnreadable } from "../plan/world.ts";

export const LARGEST_BRIEF = 8 * 1024 * 1024;

/** The text of a file, or of standard input for `-`. Errors: `not_found`, `unreadable`, `body_too_large`, `bad_json` */
export async function readBriefText(operand: string): Promise<string> {
  if (operand === "-") return await readStdinText(LARGEST_BRIEF);
  const read = readFile(operand);
  if (read !== null) return read.text;
  throw isThere(operand)
    ? stop("unreadable", `unreadable: ${operand}`, { path: operand, details: [whyUnreadable(operand)] })
    : stop("not_found", `not found: ${operand}`, { path: operand });
}

/** A path that leads nowhere is not there; one that may not be followed is. */
function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    return code !== "ENOENT" && code !== "ENOTDIR";
  }
}
