/** `scripts/setup.mjs` in a made-up clone: npm and the build are stand-ins that write down how they were called. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const SETUP = join(import.meta.dir, "..", "..", "scripts", "setup.mjs");
/** As npm runs it; Bun stands in where there is no Node. */
const NODE = Bun.which("node") ?? process.execPath;

let root = "";

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "writ setup ")));
  write("scripts/setup.mjs", fs.readFileSync(SETUP, "utf8"));
  write("package.json", JSON.stringify({ devDependencies: { bun: Bun.version } }));
  write("package-lock.json", lockFile("one"));
  write("src/main.ts", "one");
  // The build: it takes a moment, so that two at once would meet.
  write(
    "scripts/build.ts",
    `import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
     mkdirSync("dist", { recursive: true });
     await Bun.sleep(60);
     writeFileSync("dist/writ", "built");
     appendFileSync("calls", "build\\n");`,
  );
  // npm: "ci" makes the folder of the lock file anew, "rebuild" puts Bun into its place.
  write(
    "npm/npm-cli.js",
    `const fs = require("node:fs");
     fs.appendFileSync("calls", process.argv.slice(2).join(" ") + "\\n");
     if (fs.existsSync("npm/fails")) process.exit(1);
     fs.mkdirSync("node_modules/.bin", { recursive: true });
     fs.mkdirSync("node_modules/bun/bin", { recursive: true });
     fs.writeFileSync("node_modules/bun/package.json", "{}");
     const bun = ${JSON.stringify(process.execPath)};
     fs.rmSync("node_modules/.bin/bun", { force: true });
     if (process.argv[2] === "rebuild" || !fs.existsSync("npm/no-scripts")) fs.symlinkSync(bun, "node_modules/.bin/bun");`,
  );
});

afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

function write(path: string, content: string): void {
  fs.mkdirSync(dirname(join(root, path)), { recursive: true });
  fs.writeFileSync(join(root, path), content);
}

function lockFile(integrity: string): string {
  return JSON.stringify({ packages: { "": {}, "node_modules/bun": { version: Bun.version, integrity } } });
}

/** What npm keeps in node_modules of a completed install: the same entries, without the root. */
function accountOf(integrity: string): string {
  return JSON.stringify({ packages: { "node_modules/bun": { version: Bun.version, integrity } } });
}

function start(...options: readonly string[]) {
  const { HOME: _home, ...env } = process.env;
  return Bun.spawn([NODE, join(root, "scripts", "setup.mjs"), ...options], {
    cwd: "/",
    env: { ...env, npm_execpath: join(root, "npm", "npm-cli.js") },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs the setup; its status and standard error, and what npm and the build were called with since the last time. */
async function setup(...options: readonly string[]) {
  const child = start(...options);
  const stderr = await new Response(child.stderr).text();
  return { status: await child.exited, stderr, calls: takeCalls() };
}

function takeCalls(): readonly string[] {
  const path = join(root, "calls");
  if (!fs.existsSync(path)) return [];
  const calls = fs.readFileSync(path, "utf8").trim().split("\n");
  fs.rmSync(path);
  return calls;
}

const CI = "ci --include=dev --include=optional";

test("a clean clone gets its packages and a build, and the second time nothing, without a word", async () => {
  expect(await setup()).toMatchObject({ status: 0, calls: [CI, "build"] });
  expect(await setup()).toEqual({ status: 0, stderr: "", calls: [] });
});

test.each([
  { what: "a changed source", change: () => write("src/main.ts", "two"), calls: ["build"] },
  { what: "a new source", change: () => write("src/more/new.ts", ""), calls: ["build"] },
  { what: "a changed contract", change: () => write("contracts/a.json", "{}"), calls: ["build"] },
  { what: "an executable by another hand", change: () => write("dist/writ", "by hand"), calls: ["build"] },
  { what: "a missing executable", change: () => fs.rmSync(join(root, "dist"), { recursive: true }), calls: ["build"] },
  { what: "a changed lock file", change: () => write("package-lock.json", lockFile("two")), calls: [CI, "build"] },
  {
    what: "a missing package",
    change: () => fs.rmSync(join(root, "node_modules", "bun"), { recursive: true }),
    calls: [CI],
  },
  {
    what: "a Bun that does not run",
    change: () => fs.rmSync(join(root, "node_modules/.bin/bun")),
    calls: ["rebuild bun --ignore-scripts=false"],
  },
  { what: "a file that is no source", change: () => write("README.md", "two"), calls: [] },
])("$what leads to $calls", async ({ change, calls }) => {
  await setup();
  change();
  expect(await setup()).toMatchObject({ status: 0, calls: [...calls] });
  expect(await setup()).toMatchObject({ status: 0, calls: [] });
});

test("a package whose install script did not run is rebuilt", async () => {
  write("npm/no-scripts", "");
  expect(await setup("--no-build")).toMatchObject({ status: 0, calls: [CI, "rebuild bun --ignore-scripts=false"] });
});

test("--no-build builds nothing, --build builds also what is fresh", async () => {
  expect((await setup("--no-build")).calls).toEqual([CI]);
  expect((await setup("--build")).calls).toEqual(["build"]);
  expect((await setup("--build")).calls).toEqual(["build"]);
});

test("an install that was made by hand is taken as it is when npm's own account fits", async () => {
  await setup();
  fs.rmSync(join(root, "node_modules", ".setup.json"));
  write("node_modules/.package-lock.json", accountOf("one"));
  expect((await setup()).calls).toEqual([]);
  fs.rmSync(join(root, "node_modules", ".setup.json"));
  write("node_modules/.package-lock.json", accountOf("two"));
  expect((await setup()).calls).toEqual([CI]);
});

test("of two at once, one works and the other waits for it", async () => {
  const children = [start(), start()];
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0]);
  expect(takeCalls()).toEqual([CI, "build"]);
  expect(fs.readdirSync(join(root, "tmp"))).toEqual([]);
});

test("an npm that fails is tried once more, with a cache folder of its own, and then said", async () => {
  write("npm/fails", "");
  const { status, stderr, calls } = await setup();
  expect(status).toBe(1);
  expect(stderr).toEndWith("setup: npm ci failed; its messages stand above\n");
  expect(calls).toEqual([CI, `${CI} --cache ${join(root, "tmp", "npm-cache")}`]);
  expect(fs.readdirSync(join(root, "tmp"))).toEqual([]);
});

test("a build that fails ends in 1 and is tried again the next time", async () => {
  write("scripts/build.ts", "process.exit(1)");
  expect(await setup()).toMatchObject({ status: 1, stderr: expect.stringContaining("setup: The build failed") });
  expect(await setup()).toMatchObject({ status: 1 });
});

test.each([
  { options: ["--bild"], what: "an unknown option" },
  { options: ["--build", "--no-build"], what: "both options" },
])("$what: a usage error", async ({ options }) => {
  expect(await setup(...options)).toMatchObject({ status: 2, calls: [] });
});
