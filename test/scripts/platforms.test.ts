/** How artefacts are recognised and started, and that the session which they play finds what is wrong. */
import { describe, expect, test } from "bun:test";
import { chmodSync, closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Header, readHeader } from "../../scripts/platforms/header.ts";
import { type Measured, renderTable, replaceTable } from "../../scripts/platforms/report.ts";
import { playSession } from "../../scripts/platforms/session.ts";
import { findStart, isHeaderOf, type Machine } from "../../scripts/platforms/start.ts";
import { artefactOf, TARGETS } from "../../scripts/targets.ts";
import { writCommand } from "../support/writ.ts";

const ELF = (arch: Header["arch"], loader: string): Header => ({ format: "elf", arch, loader });
const HEADERS: Readonly<Record<(typeof TARGETS)[number], Header>> = {
  "linux-x64": ELF("x64", "/lib64/ld-linux-x86-64.so.2"),
  "linux-arm64": ELF("arm64", "/lib/ld-linux-aarch64.so.1"),
  "linux-x64-musl": ELF("x64", "/lib/ld-musl-x86_64.so.1"),
  "linux-arm64-musl": ELF("arm64", "/lib/ld-musl-aarch64.so.1"),
  "darwin-x64": { format: "mach-o", arch: "x64", loader: null },
  "darwin-arm64": { format: "mach-o", arch: "arm64", loader: null },
  "windows-x64": { format: "pe", arch: "x64", loader: null },
};

/** A header of one format: the beginning of a file, with these numbers at these places. */
function made(length: number, places: Readonly<Record<number, readonly number[]>>): Uint8Array {
  const bytes = new Uint8Array(length);
  for (const [at, values] of Object.entries(places)) bytes.set(values, Number(at));
  return bytes;
}

const LOADER = new TextEncoder().encode("/lib/ld-musl-aarch64.so.1");
const MADE = {
  elf: made(300, {
    0: [0x7f, 0x45, 0x4c, 0x46],
    18: [183],
    32: [64],
    54: [56],
    56: [2],
    64: [6],
    120: [3],
    128: [240],
    152: [LOADER.length + 1],
    240: [...LOADER],
  }),
  macho: made(32, { 0: [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1] }),
  pe: made(200, { 0: [0x4d, 0x5a], 60: [128], 128: [0x50, 0x45, 0, 0, 0x64, 0x86] }),
};

describe("readHeader()", () => {
  test.each([
    { name: "an ELF", bytes: MADE.elf, header: HEADERS["linux-arm64-musl"] },
    { name: "a Mach-O", bytes: MADE.macho, header: HEADERS["darwin-arm64"] },
    { name: "a PE", bytes: MADE.pe, header: HEADERS["windows-x64"] },
    { name: "an ELF that is cut off", bytes: MADE.elf.subarray(0, 245), header: null },
    { name: "a PE that is cut off", bytes: MADE.pe.subarray(0, 130), header: null },
    { name: "a script", bytes: new TextEncoder().encode(`#!/bin/sh\n${"exit 0\n".repeat(40)}`), header: null },
    { name: "nothing", bytes: new Uint8Array(), header: null },
  ])("of $name", ({ bytes, header }) => {
    expect(readHeader(bytes)).toEqual(header);
  });

  test.skipIf(process.platform !== "linux")("of the program that runs this (Linux)", () => {
    const bytes = new Uint8Array(65_536);
    const handle = openSync(process.execPath, "r");
    readSync(handle, bytes);
    closeSync(handle);
    expect(readHeader(bytes)).toMatchObject({ format: "elf", arch: process.arch });
  });
});

test("isHeaderOf() takes for a target what is of that target and of no other", () => {
  for (const target of TARGETS) {
    expect(TARGETS.filter((other) => isHeaderOf(target, HEADERS[other]))).toEqual([target]);
  }
});

test("every target has an artefact of its own", () => {
  expect(new Set(TARGETS.map(artefactOf)).size).toBe(TARGETS.length);
  expect(artefactOf("windows-x64")).toEndWith(".exe");
});

describe("findStart()", () => {
  const has = (paths: readonly string[], programs: readonly string[] = [], more: Partial<Machine> = {}): Machine => ({
    platform: "linux",
    arch: "x64",
    roots: "/r",
    exists: (path) => paths.includes(path),
    which: (program) => (programs.includes(program) ? `/bin/${program}` : null),
    ...more,
  });
  const glibc = "/lib64/ld-linux-x86-64.so.2";
  const musl = "/lib/ld-musl-x86_64.so.1";
  const muslLibraries = "/r/linux-x64-musl/lib/libstdc++.so.6";

  test.each([
    { target: "linux-x64", machine: has([glibc]), before: [] },
    { target: "linux-x64-musl", machine: has([musl]), before: [] },
    {
      target: "linux-x64-musl",
      machine: has([musl, muslLibraries, "/usr/lib/x86_64-linux-musl"], ["bwrap"]),
      before: [
        ...["/bin/bwrap", "--die-with-parent", "--dev-bind", "/", "/"],
        ...["--ro-bind", "/r/linux-x64-musl/lib", "/usr/lib/x86_64-linux-musl", "--"],
      ],
    },
    {
      target: "linux-arm64",
      machine: has(["/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1"], ["qemu-aarch64-static"]),
      before: ["/bin/qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"],
    },
    {
      target: "linux-arm64-musl",
      machine: has(["/r/linux-arm64-musl/lib/ld-musl-aarch64.so.1"], ["qemu-aarch64"]),
      before: [
        ...["/bin/qemu-aarch64", "-L", "/r/linux-arm64-musl"],
        ...["-E", "LD_LIBRARY_PATH=/r/linux-arm64-musl/lib"],
      ],
    },
    { target: "darwin-arm64", machine: has([], [], { platform: "darwin", arch: "arm64" }), before: [] },
    { target: "windows-x64", machine: has([], [], { platform: "win32" }), before: [] },
  ] as const)("of $target is $before", ({ target, machine, before }) => {
    const start = findStart(target, HEADERS[target], machine);
    expect(start).toMatchObject({ ok: true, before, isEmulated: before[0]?.includes("qemu") ?? false });
  });

  test("of musl with libraries beside it is timed without the mount", () => {
    const machine = has([musl, muslLibraries, "/usr/lib/x86_64-linux-musl"], ["bwrap"]);
    expect(findStart("linux-x64-musl", HEADERS["linux-x64-musl"], machine)).toMatchObject({
      timed: { before: [], env: { LD_LIBRARY_PATH: "/r/linux-x64-musl/lib" } },
    });
  });

  test.each([
    { target: "linux-x64-musl", machine: has([glibc]), why: "there is no /lib/ld-musl-x86_64.so.1" },
    { target: "linux-x64-musl", machine: has([musl, muslLibraries], ["bwrap"]), why: "there is no bwrap, or no" },
    { target: "linux-arm64", machine: has([glibc]), why: "there is no qemu-aarch64-static" },
    { target: "linux-arm64", machine: has([], ["qemu-aarch64"]), why: "libc6-arm64-cross" },
    { target: "linux-arm64-musl", machine: has([], ["qemu-aarch64"]), why: "/r/linux-arm64-musl/lib/ld-musl" },
    { target: "darwin-x64", machine: has([glibc]), why: "never run: this machine is linux" },
    { target: "windows-x64", machine: has([glibc]), why: "never run: this machine is linux" },
    { target: "linux-x64", machine: has([], [], { platform: "darwin" }), why: "this machine is darwin" },
    { target: "darwin-x64", machine: has([], [], { platform: "darwin", arch: "arm64" }), why: "this machine is arm64" },
  ] as const)("of $target is none, because: $why", ({ target, machine, why }) => {
    expect(findStart(target, HEADERS[target], machine)).toEqual({ ok: false, why: expect.stringContaining(why) });
  });
});

describe.skipIf(process.platform === "win32")("playSession()", () => {
  test("goes through with the executable of this machine", async () => {
    const played = await playSession({ words: writCommand(), isEmulated: true });
    expect(played).toEqual({ steps: 17, fault: null, version: expect.stringContaining("writ ") });
  }, 120_000);

  test("names the first step that went another way", async () => {
    const folder = mkdtempSync(join(tmpdir(), "writ-false-"));
    try {
      const path = join(folder, "writ");
      writeFileSync(path, "#!/bin/sh\n[ \"$1\" = --version ] && exec echo 'writ 0 (Bun 0)'\necho no\n");
      chmodSync(path, 0o755);
      expect(await playSession({ words: [path], isEmulated: false })).toEqual({
        steps: 3,
        fault: expect.stringMatching(/^writ run -- sh .*: status 0, wanted status 3 and .*it printed: no\n$/),
        version: "writ 0 (Bun 0)",
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("names what does not start at all", async () => {
    const { steps, fault } = await playSession({ words: ["/nowhere/writ"], isEmulated: false });
    expect([steps, fault]).toEqual([1, expect.stringContaining("/nowhere/writ")]);
  });
});

test("the table says never where an artefact was not started, and takes the place of the one before", () => {
  const found: readonly Measured[] = [
    {
      ...{ target: "linux-x64", outcome: "PASS", how: "by itself", detail: "", size_bytes: 1_250_000 },
      ...{ start_ms: { median: 4, low: 3, high: 5 }, start_ratio: 1 },
    },
    {
      ...{ target: "darwin-x64", outcome: "SKIP", how: "never run", detail: "", size_bytes: null },
      ...{ start_ms: null, start_ratio: null },
    },
  ];
  const table = renderTable(found, "a machine");
  expect(table).toContain("| `linux-x64` | PASS | by itself | 1.3 MB | 1.00 | 4.0 ms [3.0–5.0] |");
  expect(table).toContain("| `darwin-x64` | SKIP | never run | none | – | – |");
  const marks = ["<!-- npm run platforms -- --write: from here -->", "<!-- npm run platforms -- --write: to here -->"];
  const page = `before\n${marks.join("\nold\n")}\nbehind\n`;
  const once = replaceTable(page, table);
  expect(once).toBe(`before\n${marks[0]}\n\n${table}\n\n${marks[1]}\nbehind\n`);
  expect(replaceTable(once, table)).toBe(once);
  expect(() => replaceTable("no marks", table)).toThrow("no place for a table");
});
