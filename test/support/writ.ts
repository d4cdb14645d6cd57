/**
 * Runs writ as a shell would: a real process, in a world of its own.
 *
 * The executable is `WRIT_BIN`, else `dist/writ` when it has been built, else the sources.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");

/** What a shell sees of a call. A process that was killed has 128 + n. */
export type Ran = { readonly exit: number; readonly stdout: string; readonly stderr: string };

export type Setting = {
  /** Added to the environment; undefined removes a name. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Nothing: standard input is empty. */
  readonly stdin?: string;
};

/** The words that start writ. */
export function writCommand(): readonly string[] {
  const built = join(ROOT, "dist", "writ");
  if ((process.env.WRIT_BIN ?? "") !== "") return [process.env.WRIT_BIN ?? ""];
  return existsSync(built) ? [built] : [process.execPath, join(ROOT, "src", "main.ts")];
}

/** Runs writ with a fresh HOME and a fresh data folder, both gone afterwards, and without any WRIT_* of the caller. */
export async function runWrit(args: readonly string[], setting: Setting = {}): Promise<Ran> {
  return await runInFreshWorld([...writCommand(), ...args], setting);
}

/** The same for another program, such as a shell that starts writ. */
export async function runInFreshWorld(argv: readonly string[], setting: Setting = {}): Promise<Ran> {
  const world = mkdtempSync(join(tmpdir(), "writ-test-"));
  try {
    const child = Bun.spawn([...argv], {
      cwd: setting.cwd ?? world,
      env: worldOf(world, setting.env ?? {}),
      stdin: new TextEncoder().encode(setting.stdin ?? ""),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, exit] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { exit, stdout, stderr };
  } finally {
    rmSync(world, { recursive: true, force: true });
  }
}

/** All of a call in one text, as a test shows it. */
export function shown(ran: Ran): string {
  const stderr = ran.stderr === "" ? "" : `--- stderr\n${ran.stderr}`;
  return `${ran.stdout}${stderr}--- exit ${ran.exit}\n`;
}

function worldOf(world: string, env: NonNullable<Setting["env"]>): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(WRIT_|BUN_OPTIONS$|NO_COLOR$|COLUMNS$)/.test(name),
  );
  const own = { HOME: join(world, "home"), WRIT_DATA_DIR: join(world, "data"), ...env };
  const all = Object.entries({ ...Object.fromEntries(inherited), ...own });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
