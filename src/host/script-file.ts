/** The bytes of a script, or of standard input. What is in them is judged by `core/scripted/read-script.ts`. */
import { WritError } from "../core/error.ts";
import { readFault } from "../core/file-fault.ts";
import { type ReadScript, readScript, scriptTooLarge } from "../core/scripted/read-script.ts";
import { SCRIPT_LIMITS } from "../core/scripted/script.ts";
import { readAll } from "./file.ts";
import { readNamedFile } from "./named-file.ts";

/**
 * Reads a script whole, up to its limit.
 *
 * @param path `-` is standard input
 * Errors: `file_unreadable`
 */
export function readScriptFile(path: string): ReadScript {
  const what = path === "-" ? "standard input" : `"${path}"`;
  const most = SCRIPT_LIMITS.file_bytes;
  try {
    return readScript(path === "-" ? readAll(0, most, what) : readNamedFile(path, most, what));
  } catch (error) {
    if (error instanceof WritError && error.code === "body_too_large") return scriptTooLarge();
    throw new WritError("file_unreadable", `Cannot read ${what}: ${readFault(error)}`, {
      hint: "Name a readable file, or - for standard input",
      cause: error,
    });
  }
}
