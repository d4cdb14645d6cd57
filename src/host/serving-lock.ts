/** One node serves a state folder at a time. */
import { join } from "node:path";
import { WritError } from "../core/error.ts";
import { writeFault } from "../core/file-fault.ts";
import { parseJson } from "../core/json/parse.ts";
import { isObject, valueAt } from "../core/json/value.ts";
import { lockFile } from "./lock.ts";
import { ownIdentity, type ProcessIdentity } from "./process-identity.ts";
import { makeStateFile, readStateFile } from "./state-file.ts";
import { STATE_FILE_MODE } from "./state-folder.ts";
import { writeFileWhole } from "./write-file.ts";

/** What says whose it is has one short line. */
const OWNER_BYTES = 4096;

export type ServingLock = {
  /** The process that served the folder before, and is gone; null where none did, or nobody can say. */
  readonly before: ProcessIdentity | null;
  /** Gives the folder back. */
  release(): void;
};

/**
 * Takes the folder for this process; the system gives it back when the process ends, however it ends.
 *
 * @param state `<data>/run`, from `openStateFolder`
 * Errors: `node_running` where another process serves it; `state_failed`
 */
export function takeServingLock(state: string): ServingLock {
  const path = join(state, "node.lock");
  const owner = join(state, "node.json");
  let release: (() => void) | null;
  try {
    makeStateFile(path);
    release = lockFile(path, 0);
  } catch (error) {
    throw failed(path, error);
  }
  if (release === null) {
    throw new WritError("node_running", `Another writ node serve uses the folder "${state}"`, {
      path,
      hint: "Stop that one first, or name another data folder with WRIT_DATA_DIR",
    });
  }
  try {
    const before = identityIn(owner);
    writeFileWhole(owner, `${JSON.stringify(ownIdentity())}\n`, STATE_FILE_MODE);
    return { before, release };
  } catch (error) {
    release();
    throw failed(owner, error);
  }
}

function identityIn(path: string): ProcessIdentity | null {
  try {
    const parsed = parseJson(readStateFile(path, OWNER_BYTES) ?? "");
    if (!parsed.ok || !isObject(parsed.value)) return null;
    const [pid, start] = [valueAt(parsed.value, "pid"), valueAt(parsed.value, "start")];
    return typeof pid === "number" ? { pid, start: typeof start === "string" ? start : null } : null;
  } catch {
    return null; // nobody served it before
  }
}

function failed(path: string, error: unknown): WritError {
  const why = writeFault(error);
  return new WritError("state_failed", `Cannot make "${path}": ${why}`, {
    hint: "Make room there, or name another place with WRIT_DATA_DIR",
    cause: error,
  });
}
