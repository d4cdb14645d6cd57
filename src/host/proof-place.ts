/**
 * Where the proofs of a gate run: one private temporary folder with a fresh copy for each proof, and a scratch home that
 * is as new as the copy. What runs there is code that a model wrote, and it is treated so: an empty environment, walls
 * where the machine has them, bounds on time and output, and nothing of it lives on.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { WritError } from "../core/error.ts";
import type { FixtureTree, ProofEnd, ProofFolder, ProofPlace, ProofRun } from "../core/gate/proof-place.ts";
import { runCaptured } from "./captured.ts";
import { findSandbox, installationOf, type Sandbox } from "./sandbox.ts";
import { openTemporary, type Temporary } from "./temporary.ts";

/** The first and the last of the output that is kept, in characters. */
const KEPT_CHARS = 128 * 1024;
/** Entries below a copy that are looked at, and the largest file that is read, in bytes. */
const MAX_ENTRIES = 20_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_REPORT_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 64;
const PIECE_BYTES = 1024 * 1024;

export type ProofPlaceOptions = {
  /** Keeps the copies at the end. */
  readonly keep: boolean;
  /** For PATH alone; nothing else of it reaches a proof. */
  readonly path: string;
  /** Left out: what this machine has. Null: none. */
  readonly sandbox?: Sandbox | null;
};

/**
 * Opens a place.
 *
 * Errors: `copy_failed` where no folder can be made
 */
export function openProofPlace({ keep, path, sandbox = findSandbox() }: ProofPlaceOptions): ProofPlace {
  const { folder: root, remove } = attempt(() => (keep ? openKept() : openTemporary("gate")));
  let made = 0;
  return {
    protections: { sandbox: sandbox !== null, network: sandbox === null, group_kill: true },
    folder: root,
    makeCopy(tree) {
      made += 1;
      const home = join(root, String(made));
      return openCopy(home, tree);
    },
    run: (folder, run) => runProof({ folder, run, path, sandbox }),
    close() {
      if (!keep) remove();
    },
  };
}

/** Under a name that nobody sweeps. */
function openKept(): Temporary {
  return { folder: mkdtempSync(join(realpathSync(tmpdir()), "writ-gate-kept-")), remove: () => false };
}

function openCopy(home: string, tree: FixtureTree): ProofFolder {
  const folder = join(home, "copy");
  attempt(() => {
    for (const each of [home, folder, join(home, "reports"), join(home, "scratch"), join(home, "scratch", "tmp")]) {
      mkdirSync(each, { mode: 0o700 });
    }
    writeFileSync(join(home, "scratch", "bunfig.toml"), "");
  });
  const copy: ProofFolder = {
    folder,
    scratch: join(home, "scratch"),
    reports: join(home, "reports"),
    write(path, bytes, isExecutable = false) {
      const file = join(folder, path);
      attempt(() => {
        mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
        writeFileSync(file, bytes, { flag: "wx" });
        chmodSync(file, isExecutable ? 0o755 : 0o644);
      });
    },
    replace(path, bytes) {
      attempt(() => {
        rmSync(join(folder, path), { force: true });
      });
      if (bytes !== null) copy.write(path, bytes);
    },
    read: (path) => readPlain(join(folder, path), MAX_FILE_BYTES),
    readReport(name) {
      const bytes = readPlain(join(home, "reports", name), MAX_REPORT_BYTES);
      return bytes === null ? null : new TextDecoder().decode(bytes);
    },
    list: () => listTree(folder),
    stamp(path) {
      const stat = lstatSync(join(folder, path), { bigint: true, throwIfNoEntry: false });
      // The time of the last change of the inode: nobody but the clock sets it.
      return stat === undefined ? null : `${stat.ino} ${stat.ctimeNs}`;
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
  for (const [path, { bytes, is_executable }] of tree) copy.write(path, bytes, is_executable);
  return copy;
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WritError("copy_failed", `Cannot make a fresh copy for a proof: ${why}`, { cause: error });
  }
}

/** Null for what is no regular file, is not there, or is too large. */
function readPlain(file: string, mostBytes: number): Uint8Array | null {
  let opened: number;
  try {
    opened = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch {
    return null; // not there, or a link
  }
  try {
    const stat = fstatSync(opened);
    return stat.isFile() && stat.size <= mostBytes ? readOpen(opened, stat.size) : null;
  } finally {
    closeSync(opened);
  }
}

function readOpen(opened: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const count = readSync(opened, bytes, at, Math.min(PIECE_BYTES, size - at), at);
    if (count === 0) break;
    at += count;
  }
  return bytes.subarray(0, at);
}

/** Everything below a folder that is no folder: its digest, or what else it is. */
function listTree(root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const open = [{ below: "", depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name of readdirSync(join(root, next.below)).sort()) {
      const path = next.below + name;
      const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
      if (stat === undefined) continue;
      if (found.size >= MAX_ENTRIES || next.depth > MAX_DEPTH) {
        throw new WritError("copy_failed", `"${root}" holds more than a proof may leave behind`);
      }
      if (stat.isDirectory()) open.push({ below: `${path}/`, depth: next.depth + 1 });
      else found.set(path, digestOf(join(root, path), stat.isFile()));
    }
  }
  return found;
}

function digestOf(file: string, isFile: boolean): string {
  const bytes = isFile ? readPlain(file, MAX_FILE_BYTES) : null;
  if (bytes === null) return isFile ? "a file too large to read" : "no regular file";
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

async function runProof(asked: {
  readonly folder: ProofFolder;
  readonly run: ProofRun;
  readonly path: string;
  readonly sandbox: Sandbox | null;
}): Promise<ProofEnd> {
  const { folder, run, path, sandbox } = asked;
  const cwd = join(folder.folder, run.cwd);
  const temporary = join(folder.scratch, "tmp");
  const [word = "", ...rest] = run.argv;
  const program = word.includes("/") ? word : Bun.which(word, { PATH: path });
  const output = keptEnds(KEPT_CHARS);
  const end = await runCaptured(wrapped(program ?? word, rest), {
    cwd,
    env: { PATH: path, HOME: folder.scratch, TMPDIR: temporary, ...run.env },
    timeout_ms: run.timeout_ms,
    signal: run.signal,
    mark: `TMPDIR=${temporary}`,
    keep: output.add,
  });
  return { ...end, output: output.text(), output_chars: output.total() };

  function wrapped(file: string, words: readonly string[]): readonly string[] {
    if (sandbox === null || program === null) return [file, ...words];
    const writable = [folder.folder, folder.scratch, folder.reports];
    const locked = run.locked.map((path) => join(folder.folder, path));
    return sandbox([file, ...words], { writable, locked, readable: installationOf(file), cwd });
  }
}

/** The first and the last characters of a text that comes in pieces, with a line between them that counts the rest. */
function keptEnds(most: number) {
  let head = "";
  let tail = "";
  let total = 0;
  return {
    add: (text: string) => {
      total += text.length;
      const room = most - head.length;
      head += text.slice(0, room);
      tail = (tail + text.slice(room)).slice(-most);
    },
    total: () => total,
    text: () => {
      const cut = total - head.length - tail.length;
      return cut > 0 ? `${head}\n[… ${cut} characters cut …]\n${tail}` : head + tail;
    },
  };
}
