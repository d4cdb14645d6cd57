/**
 * Makes a clone ready on a machine that has only Node 20 and npm: the packages of package-lock.json, a Bun that
 * runs, and a dist/writ that is as new as its sources. Every npm script calls this first; where all is in place
 * it says nothing and takes no lock. Progress goes to standard error.
 *
 * Plain Node, no package: it runs before there is any. Two at once are safe: one works, the other waits.
 *
 * Usage: node scripts/setup.mjs [--no-build | --build]
 *   --no-build  leave dist/writ as it is
 *   --build     build dist/writ even where it is fresh
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const WINDOWS = process.platform === "win32";
const MODULES = join(ROOT, "node_modules");
const BUN = WINDOWS ? join(MODULES, "bun", "bin", "bun.exe") : join(MODULES, ".bin", "bun");
const EXECUTABLE = join(ROOT, "dist", WINDOWS ? "writ.exe" : "writ");
/** Inside node_modules, so that an install which was broken off leaves none. */
const INSTALL_STAMP = join(MODULES, ".setup.json");
const BUILD_STAMP = join(ROOT, "dist", ".setup.json");
/** Outside of both folders that are made anew. */
const LOCK = join(ROOT, "tmp", "setup.lock");
/** What dist/writ is made of. */
const SOURCES = [
  "src",
  "contracts",
  "skills",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "scripts/build.ts",
  "scripts/executable.ts",
  "scripts/signature.ts",
  "scripts/targets.ts",
];
const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"];
const HEARTBEAT_MS = 1000;
/** A lock whose heartbeat stood still for as long as this belongs to a process that was killed. */
const ABANDONED_MS = 15_000;

class SetupError extends Error {}

const options = process.argv.slice(2);
const unknown = options.find((option) => option !== "--no-build" && option !== "--build");
if (unknown !== undefined || options.length > 1) {
  say(`Unknown option "${unknown ?? options[1]}"; usage: node scripts/setup.mjs [--no-build | --build]`);
  process.exit(2);
}

try {
  await setup(options[0] ?? "");
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}

/** @param {string} option "", "--no-build" or "--build" */
async function setup(option) {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new SetupError(`Node 20 or newer is needed; this is ${process.version}`);
  }
  if (isInstalled() && bunRuns() && (option === "--no-build" || (option === "" && isBuilt(sourcesDigest())))) return;

  const release = await lock();
  try {
    if (!isInstalled()) await install();
    if (!bunRuns()) await mendBun();
    if (option === "--no-build") return;
    const sources = sourcesDigest();
    if (option === "--build" || !isBuilt(sources)) await build(sources);
  } finally {
    release();
  }
}

// Packages

/** True when node_modules is what package-lock.json asks for. An install that somebody made by hand counts as well. */
function isInstalled() {
  const wanted = lockedPackages().filter(([, entry]) => !entry.optional);
  if (!wanted.every(([place]) => fs.existsSync(join(ROOT, place, "package.json")))) return false;
  if (readJson(INSTALL_STAMP)?.lock === lockDigest()) return true;
  if (!npmSaysInstalled()) return false;
  writeStamp(INSTALL_STAMP, { lock: lockDigest() });
  return true;
}

/** Holds the lock file against the account that npm keeps of an install it has completed. */
function npmSaysInstalled() {
  const account = readJson(join(MODULES, ".package-lock.json"))?.packages;
  if (account === undefined) return false;
  const locked = lockedPackages();
  const places = new Set(locked.map(([place]) => place));
  if (!Object.keys(account).every((place) => places.has(place))) return false;
  return locked.every(([place, entry]) => {
    const found = account[place];
    return found === undefined ? entry.optional === true : found.integrity === entry.integrity;
  });
}

/** @returns {[string, {optional?: boolean, version: string, integrity: string}][]} place below the root, entry */
function lockedPackages() {
  const packages = readJson(join(ROOT, "package-lock.json"))?.packages;
  if (packages === undefined) throw new SetupError("package-lock.json cannot be read");
  return Object.entries(packages).filter(([place]) => place !== "");
}

/** The wishes of package.json are part of it: where they and the lock file differ, `npm ci` is to say so. */
function lockDigest() {
  const { dependencies, devDependencies } = readJson(join(ROOT, "package.json")) ?? {};
  return createHash("sha256")
    .update(fs.readFileSync(join(ROOT, "package-lock.json")))
    .update(JSON.stringify([dependencies, devDependencies]))
    .digest("hex");
}

async function install() {
  say(`Installing ${lockedPackages().filter(([, entry]) => !entry.optional).length} packages and Bun (npm ci)`);
  // The tools are development packages and Bun's binary is an optional one: settings may leave out neither.
  const words = ["ci", "--include=dev", "--include=optional"];
  // The second try is for a cache folder that is broken or cannot be written.
  const done =
    (await npm(words)) === 0 || (await npm([...words, "--cache", join(ROOT, "tmp", "npm-cache")], "once more")) === 0;
  if (!done) throw new SetupError("npm ci failed; its messages stand above");
  writeStamp(INSTALL_STAMP, { lock: lockDigest() });
}

/** Runs the npm that runs this script, else the one on PATH. */
function npm(words, note) {
  if (note !== undefined) say(`npm ${words[0]}, ${note}`);
  const path = process.env.npm_execpath;
  if (path !== undefined && basename(path) === "npm-cli.js") return run(process.execPath, [path, ...words]);
  // On Windows npm is a batch file, which only a shell starts; the words hold nothing that a shell would read.
  return WINDOWS ? run("npm.cmd", words, { shell: true }) : run("npm", words);
}

// Bun

/** True when `bun --version` answers with the locked version. */
function bunRuns(bun = BUN) {
  const wanted = readJson(join(ROOT, "package-lock.json"))?.packages?.["node_modules/bun"]?.version;
  const { status, stdout } = spawnSync(bun, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return status === 0 && wanted !== undefined && stdout.trim() === wanted;
}

/** The package of Bun is a stub until its install script has run, and settings may forbid install scripts. */
async function mendBun() {
  say("Completing the install of Bun");
  if ((await npm(["rebuild", "bun", "--ignore-scripts=false"])) === 0 && bunRuns()) return;
  const home = join(MODULES, "bun");
  if ((await run(process.execPath, [join(home, "install.js")], { cwd: home })) === 0 && bunRuns()) return;

  for (const binary of platformBinaries().filter(bunRuns)) {
    const place = join(home, "bin", "bun.exe");
    const beside = `${place}.${process.pid}`;
    fs.copyFileSync(binary, beside);
    fs.chmodSync(beside, 0o755);
    fs.renameSync(beside, place);
    if (!WINDOWS && !fs.existsSync(BUN)) {
      fs.mkdirSync(dirname(BUN), { recursive: true });
      fs.symlinkSync(join("..", "bun", "bin", "bun.exe"), BUN);
    }
    if (bunRuns()) return;
  }
  throw new SetupError(`"${BUN} --version" does not answer with the version of package-lock.json`);
}

/** The binaries of the packages for this platform; on Linux there may be one for each C library. */
function platformBinaries() {
  const scope = join(MODULES, "@oven");
  if (!fs.existsSync(scope)) return [];
  const names = fs.readdirSync(scope).map((name) => join(scope, name, "bin", WINDOWS ? "bun.exe" : "bun"));
  return names.filter((path) => fs.existsSync(path));
}

// dist/writ

/** The stamp names the very file that was built: one that another hand has replaced since is not trusted. */
function isBuilt(sources) {
  const stamp = readJson(BUILD_STAMP);
  const built = fs.statSync(EXECUTABLE, { throwIfNoEntry: false });
  if (stamp === undefined || built === undefined) return false;
  return stamp.sources === sources && stamp.size_bytes === built.size && stamp.modified_ms === built.mtimeMs;
}

async function build(sources) {
  say(`Building ${join("dist", basename(EXECUTABLE))}`);
  if ((await run(BUN, [join("scripts", "build.ts")])) !== 0) throw new SetupError("The build failed");
  const built = fs.statSync(EXECUTABLE, { throwIfNoEntry: false });
  if (built === undefined) throw new SetupError(`The build left no ${EXECUTABLE}`);
  writeStamp(BUILD_STAMP, { sources, size_bytes: built.size, modified_ms: built.mtimeMs });
}

/** SHA-256 over the names and the contents of all sources. */
function sourcesDigest() {
  const hash = createHash("sha256");
  for (const path of SOURCES.flatMap(filesBelow)) {
    const content = fs.readFileSync(join(ROOT, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/** @returns {string[]} files, relative to the root, in an order that is the same on every machine */
function filesBelow(path) {
  const entry = fs.statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (entry === undefined) return [];
  if (!entry.isDirectory()) return [path];
  return fs
    .readdirSync(join(ROOT, path))
    .sort()
    .flatMap((name) => filesBelow(`${path}/${name}`));
}

// One at a time

/**
 * Waits for the lock and takes it. The owner touches the file every second: a process id would mean nothing to
 * another container, and may have been given anew since.
 *
 * @returns {Promise<() => void>} gives the lock back
 */
async function lock() {
  fs.mkdirSync(dirname(LOCK), { recursive: true });
  const owner = randomUUID();
  let seen = { text: "", at: performance.now(), told: false };
  for (;;) {
    try {
      fs.writeFileSync(LOCK, owner, { flag: "wx" });
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (!seen.told) say("Another setup is at work here; waiting for it");
    const text = heartbeat();
    if (text === seen.text && performance.now() - seen.at > ABANDONED_MS) breakLock(text);
    seen = { text, at: text === seen.text ? seen.at : performance.now(), told: true };
    await sleep(200);
  }

  const beat = setInterval(() => {
    const now = new Date();
    if (readText(LOCK) === owner) fs.utimesSync(LOCK, now, now);
  }, HEARTBEAT_MS);
  const release = () => {
    clearInterval(beat);
    process.removeListener("exit", release);
    if (readText(LOCK) === owner) fs.rmSync(LOCK, { force: true });
  };
  process.on("exit", release);
  return release;
}

function heartbeat() {
  const entry = fs.statSync(LOCK, { throwIfNoEntry: false });
  return entry === undefined ? "" : `${readText(LOCK)} ${entry.mtimeMs}`;
}

/** Takes an abandoned lock away; of several that try, the one whose rename succeeds does it. */
function breakLock(text) {
  const aside = `${LOCK}.${randomUUID()}`;
  try {
    if (heartbeat() !== text) return;
    fs.renameSync(LOCK, aside);
    fs.rmSync(aside);
  } catch (error) {
    if (error.code !== "ENOENT") throw error; // another one was faster
  }
}

// Small things

/** Runs a program with its output on standard error, and answers with its exit status; null when it did not run. */
function run(program, words, more = {}) {
  const child = spawn(program, words, { cwd: ROOT, stdio: ["ignore", 2, 2], ...more });
  const stop = (signal, number) => {
    child.kill(signal);
    process.exit(128 + number);
  };
  for (const signal of SIGNALS) process.once(signal, stop);
  return new Promise((resolve) => {
    const end = (status) => {
      for (const signal of SIGNALS) process.removeListener(signal, stop);
      resolve(status);
    };
    child.once("error", (error) => {
      say(`Cannot run "${program}": ${error.message}`);
      end(null);
    });
    child.once("close", end);
  });
}

/** The parsed file, or `undefined` when there is none or it is no JSON. */
function readJson(path) {
  try {
    return JSON.parse(fs.readFileSync(path, "utf8"));
  } catch {
    return undefined; // a stamp that cannot be read is no stamp
  }
}

function readText(path) {
  try {
    return fs.readFileSync(path, "utf8");
  } catch {
    return ""; // gone since it was seen
  }
}

function writeStamp(path, stamp) {
  const beside = `${path}.${process.pid}`;
  fs.writeFileSync(beside, JSON.stringify(stamp));
  fs.renameSync(beside, path);
}

function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}
