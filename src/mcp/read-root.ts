/** The read root of one call. */
import { realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { quote } from "../core/acceptance/quoting.ts";
import { badInput } from "./arguments.ts";
import type { ServerSetting } from "./tool.ts";

/**
 * The folder that confines `context_paths`: what the call names, relative to the server's, else the server's own.
 *
 * @returns an absolute path without links
 * Errors: `bad_input` for what is no folder, or lies outside of a read root that the server was started with
 * Source: delegation run, section 9.1
 */
export function readRootOf(
  named: string | undefined,
  { readRoot, isReadRootGiven }: Pick<ServerSetting, "readRoot" | "isReadRootGiven">,
): string {
  const root = folderAt(readRoot, readRoot);
  if (named === undefined) return root;
  const path = folderAt(resolve(root, named), named);
  const way = relative(root, path);
  const isInside = way !== ".." && !way.startsWith(`..${sep}`) && resolve(root, way) === path;
  if (isInside || !isReadRootGiven) return path;
  throw wrong(
    `${quote(named)} is outside of the read root of this server, ${quote(root)}`,
    "A call can only narrow it",
  );
}

function folderAt(path: string, named: string): string {
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split(", ", 1)[0] ?? error.message) : String(error);
    throw wrong(`Cannot use ${quote(named)} as the read root: ${reason}`, "Name a folder");
  }
  throw wrong(`Cannot use ${quote(named)} as the read root: it is no folder`, "Name a folder");
}

function wrong(message: string, hint: string) {
  return badInput([{ code: "bad_argument", path: "/read_root", message, hint }]);
}
