/** How a brief is read from where it was named. */
import { statSync } from "node:fs";
import { stop } from "../../core/brief/stop.ts";
import { readStdinText } from "../../host/stdin.ts";
import { readFile } from "../plan/world.ts";

export const LARGEST_BRIEF = 8 * 1024 * 1024;

/** The text of a file, or of standard input for `-`. Errors: `not_found`, `unreadable`, `body_too_large`, `bad_json` */
export async function readBriefText(operand: string): Promise<string> {
  if (operand === "-") return await readStdinText(LARGEST_BRIEF);
  const read = readFile(operand);
  if (read !== null) return read.text;
  const isThere = statSync(operand, { throwIfNoEntry: false }) !== undefined;
  throw isThere
    ? stop("unreadable", `unreadable: ${operand}`, { path: operand })
    : stop("not_found", `not found: ${operand}`, { path: operand });
}
