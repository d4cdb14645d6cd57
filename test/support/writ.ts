/**
 * Runs writ as a shell would: a real process, in a world of its own.
 *
 * The executable is `WRIT_BIN`, else `dist/writ` when it has been built, else the sources.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "../../src/core/json/value.ts";

const ROOT = join(import.meta.dir, "..", "..");

/** What a shell sees of a call. A process that was killed has 128 + n. */
export type Ran = { readonly exit: number; readonly stdout: string; readonly stderr: string };

export type Setting = {
  /** Added to the environment; undefined removes a name. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Nothing: standard input is empty. */
  readonly stdin?: string | Uint8Array;
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
    return await runInFolder(world, argv, setting);
  } finally {
    rmSync(world, { recursive: true, force: true });
  }
}

/** A world that lives over several calls: one HOME and one data folder, which is also where the calls happen. */
export type LivingWorld = {
  /** Where HOME, the data folder and whatever a test makes lie; calls happen in it. */
  readonly folder: string;
  readonly data: string;
  /** The environment of a call, for a process that a test starts by itself. */
  env(more?: Setting["env"]): Record<string, string>;
  writ(args: readonly string[], setting?: Setting): Promise<Ran>;
  /** A script of bash, in which `writ` is on PATH; words behind it are $1 and so on. */
  shell(script: string, setting?: Setting, ...words: string[]): Promise<Ran>;
  /** Dispatches a turn and answers its contract id. */
  born(...args: string[]): Promise<string>;
  /** Dispatches a turn whose calls have its id in their environment. */
  turn(...args: string[]): Promise<Turn>;
  [Symbol.dispose](): void;
};

export type Turn = Pick<LivingWorld, "writ" | "shell"> & {
  readonly id: string;
  /** Its environment, for a process that a test starts by itself. */
  readonly env: { readonly WRIT_CONTRACT_ID: string };
};

/** @param env of every call in this world */
export function livingWorld(env: NonNullable<Setting["env"]> = {}): LivingWorld {
  const folder = mkdtempSync(join(tmpdir(), "writ-world-"));
  const programs = join(folder, "bin");
  mkdirSync(programs);
  const quoted = writCommand().map((word) => `'${word.replaceAll("'", `'"'"'`)}'`);
  writeFileSync(join(programs, "writ"), `#!/bin/sh\nexec ${quoted.join(" ")} "$@"\n`, { mode: 0o755 });
  const path = { PATH: `${programs}:${process.env.PATH ?? ""}` };
  const around = (setting: Setting = {}): Setting => ({ ...setting, env: { ...path, ...env, ...setting.env } });
  const writ = (args: readonly string[], setting?: Setting) =>
    runInFolder(folder, [...writCommand(), ...args], around(setting));
  const shell: LivingWorld["shell"] = (script, setting, ...words) =>
    runInFolder(folder, ["bash", "-c", script, "bash", ...words], around(setting));
  const born: LivingWorld["born"] = async (...args) => {
    const ran = await writ(["dispatch", "--agent", "tester", "--json", ...args]);
    return (JSON.parse(ran.stdout) as { contract_id: string }).contract_id;
  };
  return {
    folder,
    data: join(folder, "data"),
    env: (more = {}) => worldOf(folder, { ...path, ...env, ...more }),
    writ,
    shell,
    born,
    async turn(...args) {
      const id = await born(...args);
      const own = { WRIT_CONTRACT_ID: id };
      const within = (setting: Setting = {}): Setting => ({ ...setting, env: { ...own, ...setting.env } });
      return {
        id,
        env: own,
        writ: (words, setting) => writ(words, within(setting)),
        shell: (script, setting, ...words) => shell(script, within(setting), ...words),
      };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function runInFolder(folder: string, argv: readonly string[], setting: Setting): Promise<Ran> {
  const { stdin = "" } = setting;
  const child = Bun.spawn([...argv], {
    cwd: setting.cwd ?? folder,
    env: worldOf(folder, setting.env ?? {}),
    stdin: typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exit, stdout, stderr };
}

/** The document on standard output, which must hold exactly one, on one line, and nothing else. */
export function documentOf(ran: Ran): Record<string, JsonValue> {
  if (!/^\{[^\n]*\}\n$/.test(ran.stdout)) throw new Error(`this is not one document: ${shown(ran)}`);
  return JSON.parse(ran.stdout) as Record<string, JsonValue>;
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
