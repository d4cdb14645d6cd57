/**
 * Walls around a command that runs code of a stranger: bubblewrap, where it is installed and works. Inside there is no
 * network, nothing can be written but the folders that are named, and nothing can be read but those, the system's own
 * folders and the command itself: no home, no data of writ.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";

export type Walls = {
  /** Folders that may be written; everything else is read-only or not there. */
  readonly writable: readonly string[];
  /** Files in them that may be read only. */
  readonly locked: readonly string[];
  /** Files and folders that may be read beside the system's. */
  readonly readable: readonly string[];
  readonly cwd: string;
};

/** Puts walls around a command: the words to run instead of it. */
export type Sandbox = (argv: readonly string[], walls: Walls) => readonly string[];

/** What a program of the system is made of; a home is not among it. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/** What of the system's settings a program needs; passwords and keys lie beside it. */
const SETTINGS = [
  "alternatives",
  "group",
  "hosts",
  "ld-musl-aarch64.path",
  "ld-musl-x86_64.path",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "nsswitch.conf",
  "passwd",
  "ssl/certs",
  "ssl/openssl.cnf",
].map((name) => `/etc/${name}`);
const TRIAL_MS = 5_000;

let known: Sandbox | null | undefined;

/**
 * The sandbox of this machine; null where there is none that works. It is tried once, with a command that does nothing.
 */
export function findSandbox(environment: NodeJS.ProcessEnv = process.env): Sandbox | null {
  known ??= trySandbox(environment);
  return known;
}

function trySandbox(environment: NodeJS.ProcessEnv): Sandbox | null {
  if (process.platform !== "linux") return null;
  const program = Bun.which("bwrap", { PATH: environment.PATH ?? "" });
  if (program === null) return null;
  const sandbox: Sandbox = (argv, walls) => [program, ...wallsOf(walls), "--", ...argv];
  const trial = Bun.spawnSync(
    [...sandbox(["/bin/sh", "-c", "exit 7"], { writable: [], locked: [], readable: [], cwd: "/" })],
    {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      timeout: TRIAL_MS,
    },
  );
  return trial.exitCode === 7 ? sandbox : null;
}

function wallsOf({ writable, locked, readable, cwd }: Walls): readonly string[] {
  const readOnly = [...SYSTEM, ...SETTINGS, ...readable].filter((path) => existsSync(path));
  return [
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL"],
    ...["--tmpfs", "/tmp"],
    ...readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...writable.flatMap((path) => ["--bind", path, path]),
    ...locked.flatMap((path) => ["--ro-bind", path, path]),
    ...["--remount-ro", "/"],
    ...["--chdir", cwd],
  ];
}

/**
 * What of a program must be readable so that it runs: its own file, and for Go its whole installation. Nothing for what
 * lies in the system's folders.
 */
export function installationOf(program: string): readonly string[] {
  const files = [program, realPath(program)].filter((file) => !isOfSystem(file));
  const root = /^go(?:\.exe)?$/.test(program.split(sep).at(-1) ?? "") ? dirname(dirname(realPath(program))) : null;
  const isGo = root !== null && existsSync(join(root, "src", "runtime"));
  return [...new Set([...files, ...(isGo && !isOfSystem(root) ? [root] : [])])];
}

function isOfSystem(path: string): boolean {
  return SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // not there: starting it will say so
  }
}
