/** A gate with the folder that its legs lie in: a file of the user's, or one of the sets in this executable. */
import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { counted } from "../../core/counted.ts";
import { WritError } from "../../core/error.ts";
import { GATE_FILE_BYTES, type GateFile, type Leg, readGate } from "../../core/gate/gate-file.ts";
import type { FixtureFile, FixtureTree } from "../../core/gate/proof-place.ts";
import type { DocumentIssue } from "../../core/json/read-document.ts";
import { listFiles, readFileText, shippedContracts } from "../../host/contracts.ts";
import { findPlace } from "../../host/place.ts";

export type LegSet = {
  readonly gate: GateFile;
  /** What an author may want to know and is no fault. */
  readonly notes: readonly DocumentIssue[];
  readonly folder: string;
  readonly isEmbedded: boolean;
};

/** The largest file of a fixture, and how many there may be. */
const FIXTURE_BYTES = 8 * 1024 * 1024;
const MOST_FILES = 2_000;

/** The forms of the write-door set that writ ships. */
export const FORMS = { ts: "write-door", go: "write-door-go" } as const;
export type Form = keyof typeof FORMS;

export function embeddedSet(form: Form): LegSet {
  const folder = join(shippedContracts(), FORMS[form]);
  return { ...readSet(join(folder, "gate.json")), folder, isEmbedded: true };
}

/** Errors: `file_unreadable`; `bad_gate` with every issue */
export function setOfFile(path: string): LegSet {
  return { ...readSet(path), folder: dirname(resolve(path)), isEmbedded: false };
}

function readSet(path: string): Pick<LegSet, "gate" | "notes"> {
  const read = readGate(readFileText(path, GATE_FILE_BYTES + 1).bytes);
  if (read.ok) return { gate: read.gate, notes: read.notes };
  const count = counted(read.issues.length, "issue");
  throw new WritError("bad_gate", `The gate file "${path}" is not valid: ${count}`, {
    hint: `All that can be said of it: writ gate check ${path}`,
    lines: read.issues.map(({ path: place, message }) => `  ${place === "" ? "" : `[${place}] `}${message}`),
    details: { issues: read.issues.map((issue) => ({ ...issue })) },
  });
}

export type ReadFixture =
  | { readonly ok: true; readonly tree: FixtureTree; readonly contract: Uint8Array }
  | { readonly ok: false; readonly fault: string };

/** The files of a leg, byte for byte; a link, a device or a folder that is not there is a fault. */
export function readFixture({ folder, isEmbedded }: LegSet, leg: Leg): ReadFixture {
  const failed = (fault: string): ReadFixture => ({ ok: false, fault });
  if (!isEmbedded) {
    const place = findPlace(folder, leg.dir);
    if (!place.ok) return failed(place.message);
    if (place.stat?.isDirectory() !== true) return failed(`there is no folder ${leg.dir}`);
  }
  const dir = join(folder, leg.dir);
  try {
    const tree = new Map<string, FixtureFile>();
    const listed = listFiles(dir);
    if (listed.length > MOST_FILES)
      return failed(`${leg.dir} has ${listed.length} files, at most ${MOST_FILES} are allowed`);
    for (const { path, kind } of listed) {
      if (kind !== "file") return failed(`${path} is ${kind === "link" ? "a link" : "no regular file"}`);
      if (leg.copy.exclude.includes(path)) continue;
      const { bytes } = readFileText(join(dir, path), FIXTURE_BYTES);
      tree.set(path, { bytes, is_executable: leg.copy.executable.includes(path) });
    }
    const contract = readFileText(join(dir, leg.contract), FIXTURE_BYTES).bytes;
    return { ok: true, tree, contract };
  } catch (error) {
    if (error instanceof WritError) return failed(error.message);
    throw error;
  }
}

/** Whether a path is a folder, for `--dir`. */
export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
