import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONFIG_BYTES } from "../../src/core/config/read.ts";
import { configPath, readConfigFile } from "../../src/host/config-file.ts";
import { openStateFolder, stateFault, stateFolder } from "../../src/host/state-folder.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const place = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const codes = (named: string | undefined, environment: Record<string, string> = {}, data = join(folder, "data")) => {
  const { read } = readConfigFile(named, environment, data);
  return read === null ? null : read.issues.map(({ code }) => code);
};

describe("which file it is", () => {
  test.each([
    ["/a/named.json", "/b/variable.json", "/a/named.json", true],
    [undefined, "/b/variable.json", "/b/variable.json", true],
    [undefined, undefined, "/data/config.json", false],
    [undefined, " ", "/data/config.json", false],
  ] as const)("--config %p, WRIT_CONFIG %p: %s", (named, variable, file, isNamed) => {
    expect(configPath(named, { WRIT_CONFIG: variable }, "/data")).toEqual({ file, isNamed });
  });
});

test("a default file that is not there is none, and a named one is an issue", () => {
  expect(codes(undefined)).toBe(null);
  expect(codes(join(folder, "none.json"))).toEqual(["file_missing"]);
  expect(codes(undefined, { WRIT_CONFIG: join(folder, "none.json") })).toEqual(["file_missing"]);
  expect(codes("")).toEqual(["file_unreadable"]); // the present folder itself
});

test("a data folder that is a file has no config in it", () => {
  expect(codes(undefined, {}, place("data-file", ""))).toBe(null);
});

test("a file of the limit is read, a larger one and a device are not", () => {
  expect(codes(place("limit.json", `{}${" ".repeat(CONFIG_BYTES - 2)}`))).toEqual([]);
  expect(codes(place("large.json", `{}${" ".repeat(CONFIG_BYTES)}`))).toEqual(["file_too_large"]);
  if (process.platform === "linux") expect(codes("/dev/zero")).toEqual(["file_unreadable"]);
});

test("a folder and a file that is not ours to read are issues", () => {
  expect(codes(folder)).toEqual(["file_unreadable"]);
  const path = place("closed.json", "{}");
  chmodSync(path, 0);
  // Root reads everything.
  expect(codes(path)).toEqual(process.getuid?.() === 0 ? [] : ["file_unreadable"]);
});

test("links that lead in a circle, and a file where a folder is due, are told in words", () => {
  const loop = join(folder, "loop.json");
  symlinkSync("loop.json", loop);
  expect(readConfigFile(loop, {}, folder).read?.issues).toMatchObject([
    { code: "file_unreadable", message: "Its links lead in a circle" },
  ]);
  const file = place("plain-file", "");
  expect(() => openStateFolder(join(file, "data"))).toThrow(
    `Cannot make the folder "${stateFolder(join(file, "data"))}": a file stands where a folder is due`,
  );
});

test("the state folder is its owner's alone, also where it was made by hand", () => {
  const data = join(folder, "fresh");
  expect(openStateFolder(data)).toBe(stateFolder(data));
  expect(statSync(stateFolder(data)).mode & 0o777).toBe(0o700);
  chmodSync(stateFolder(data), 0o755);
  openStateFolder(data);
  expect(statSync(stateFolder(data)).mode & 0o777).toBe(0o700);
});

test("where something else is in its place, it cannot be made", () => {
  const data = join(folder, "taken");
  mkdirSync(data);
  writeFileSync(join(data, "run"), "");
  expect(() => openStateFolder(data)).toThrow("Cannot make the folder");
});

test("trying the state folder leaves what was there, and nothing else", () => {
  const data = join(folder, "tried");
  expect(stateFault(data)).toBe(null);
  expect(existsSync(data)).toBe(false);
  mkdirSync(data);
  writeFileSync(join(data, "mine"), "");
  expect(stateFault(data)).toBe(null);
  expect(readdirSync(data)).toEqual(["mine"]);
  openStateFolder(data);
  writeFileSync(join(stateFolder(data), "rates.json"), "{}");
  expect(stateFault(data)).toBe(null);
  expect(readdirSync(stateFolder(data))).toEqual(["rates.json"]);
});

test("a state folder that does not work says why", () => {
  const data = join(folder, "blocked");
  mkdirSync(data);
  writeFileSync(join(data, "run"), "");
  expect(stateFault(data)).toContain("Cannot make the folder");
  expect(readdirSync(data)).toEqual(["run"]);
});
