/** Who else has an account on this machine. */
import { readFileSync } from "node:fs";

/** Accounts of people begin here; what is below belongs to the system. */
const FIRST_PERSON = 1000;
const NOBODY = 65_534;

/**
 * The people besides this user who may log in, by what `/etc/passwd` says: accounts of a directory service are not in it.
 *
 * @returns null where there is no such file, or it tells nothing
 * Errors: none
 */
export function otherUsers(passwd = "/etc/passwd", self = process.getuid?.() ?? null): readonly string[] | null {
  // On macOS the file lists the system's own accounts alone.
  if (self === null || process.platform === "darwin") return null;
  try {
    return readFileSync(passwd, "utf8")
      .split("\n")
      .flatMap((line) => {
        const [name = "", , uid = "", , , , shell = ""] = line.split(":");
        const id = /^\d+$/.test(uid) ? Number(uid) : 0;
        const isPerson = id >= FIRST_PERSON && id !== NOBODY && id !== self;
        return isPerson && !/(?:^|\/)(?:nologin|false)$/.test(shell.trim()) ? [name] : [];
      });
  } catch {
    return null; // not there, or not ours to read
  }
}
