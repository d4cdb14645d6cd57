/** The checks of what lies on disk: the data folder and the store. */
import { type Check, type Finding, findingsOf } from "./check.ts";
import type { World } from "./world.ts";

const OTHERS = 0o077;

export const dataFolder: Check = {
  name: "data folder",
  look(world) {
    const { pass, fail } = findingsOf("data folder");
    const { data } = world.places;
    const look = world.look(data);
    if (look === null) {
      return world.canMake(data)
        ? [pass(data, "It is not there yet; the first turn makes it")]
        : [fail(data, "It is not there and cannot be made", "Name another with WRIT_DATA_DIR")];
    }
    if (look.kind !== "folder")
      return [fail(data, "It is no folder", "Move it away, or name another with WRIT_DATA_DIR")];
    if (!look.isWritable)
      return [fail(data, "It cannot be written", "Make it writable, or name another with WRIT_DATA_DIR")];
    const findings = [data, world.places.drafts].flatMap((path) => openToOthers(world, path, "700", fail));
    return findings.length > 0 ? findings : [pass(data, "It can be written, and is its owner's alone")];
  },
};

export const store: Check = {
  name: "store",
  look(world) {
    const { pass, fail, warn } = findingsOf("store");
    const { data, database } = world.places;
    const facts = world.inspectStore(database);
    const findings: Finding[] = [];
    if (facts.kind === "absent") findings.push(pass(database, "It is not there yet; the first turn makes it"));
    else if (facts.kind === "shut") {
      const help = facts.isFile ? "Make it and its folder writable" : "Move it away";
      findings.push(fail(database, `It cannot be used: ${facts.reason}`, `${help}, or name another with WRIT_DB`));
    } else if (facts.kind === "failed") {
      findings.push(
        facts.isBroken
          ? fail(database, `It cannot be used: ${facts.reason}`, "Restore it from a copy, or name another with WRIT_DB")
          : warn(database, `It could not be looked at: ${facts.reason}`, "Try again"),
      );
    } else {
      findings.push(...openToOthers(world, database, "600", fail));
      if (facts.layout > facts.known) {
        const message = `It has layout ${facts.layout}; this writ knows ${facts.known}`;
        findings.push(fail(database, message, "Use the writ that wrote it, or a newer one"));
      }
      if (facts.complaints.length > 0) {
        const [first, ...more] = facts.complaints;
        const further = more.length > 0 ? ` (and ${more.length} more)` : "";
        findings.push(fail(database, `Its integrity check says: ${first}${further}`, "Restore it from a copy"));
      }
      if (findings.length === 0) {
        const later = facts.layout < facts.known ? `; the next write brings it to ${facts.known}` : "";
        findings.push(pass(database, `Layout ${facts.layout}${later}, ${facts.journal_mode} mode, integrity ok`));
      }
    }
    const folder = world.look(data);
    if (folder?.kind === "folder" && folder.isWritable) {
      const fault = world.walFault(data);
      if (fault !== null) {
        const hint = "Name a folder on a local disk with WRIT_DATA_DIR: WAL needs memory that processes share";
        findings.push(fail(data, `A WAL database does not work there: ${fault}`, hint));
      }
    }
    return findings;
  },
};

function openToOthers(
  world: World,
  path: string,
  wanted: "600" | "700",
  fail: (subject: string, message: string, hint: string) => Finding,
): readonly Finding[] {
  const look = world.look(path);
  if (look === null || look.mode === null) return [];
  if (!look.isMine) return [fail(path, "It belongs to another user", "Name a place of your own with WRIT_DATA_DIR")];
  if ((look.mode & OTHERS) === 0) return [];
  return [fail(path, `Others may use it (mode ${look.mode.toString(8)})`, `Type: chmod ${wanted} '${path}'`)];
}
