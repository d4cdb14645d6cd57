import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileWhole, writeFileWhole } from "../../src/host/write-file.ts";
import { refusalOf } from "../support/turn.ts";

const top = mkdtempSync(join(tmpdir(), "writ-write-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(top, "case-"));
});

describe("writeFileWhole()", () => {
  test("writes and replaces, and leaves nothing beside", () => {
    const path = join(folder, "a.json");
    writeFileWhole(path, "one");
    writeFileWhole(path, "two €");
    expect(readFileSync(path, "utf8")).toBe("two €");
    expect(readdirSync(folder)).toEqual(["a.json"]);
  });

  test("replaces a link and leaves its target alone", () => {
    writeFileSync(join(folder, "target"), "old");
    symlinkSync("target", join(folder, "link"));
    writeFileWhole(join(folder, "link"), "new");
    expect(readFileSync(join(folder, "target"), "utf8")).toBe("old");
    expect(lstatSync(join(folder, "link")).isSymbolicLink()).toBe(false);
  });

  test.each([
    { what: "a folder", make: (path: string) => void mkdirSync(path), why: "it is a folder" },
    {
      what: "a named pipe",
      make: (path: string) => void Bun.spawnSync(["mkfifo", path]),
      why: "it is no regular file",
    },
  ])("does not replace $what", ({ make, why }) => {
    const path = join(folder, "there");
    make(path);
    const before = lstatSync(path).ino;
    const { code, message } = refusalOf(() => writeFileWhole(path, "x"));
    expect(code).toBe("file_unwritable");
    expect(message).toBe(`Cannot write "${path}": ${why}; nothing was written`);
    expect(lstatSync(path).ino).toBe(before);
  });

  test.each([["none/a"], ["file/a"]])("into %p is refused, and nothing is made", (name) => {
    writeFileSync(join(folder, "file"), "");
    expect(refusalOf(() => writeFileWhole(join(folder, name), "x")).code).toBe("file_unwritable");
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});

describe("createFileWhole()", () => {
  test("writes with the mode, once", () => {
    const path = join(folder, "key");
    expect(createFileWhole(path, "one", 0o600)).toBe(true);
    expect(createFileWhole(path, "two", 0o600)).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("one");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["key"]);
  });

  test("a dangling link counts as there, and nothing is made where it leads", () => {
    symlinkSync("elsewhere", join(folder, "key"));
    expect(createFileWhole(join(folder, "key"), "x", 0o600)).toBe(false);
    expect(readlinkSync(join(folder, "key"))).toBe("elsewhere");
    expect(readdirSync(folder)).toEqual(["key"]);
  });

  test("into a folder that is not there is refused", () => {
    expect(refusalOf(() => createFileWhole(join(folder, "none", "key"), "x", 0o600)).message).toContain(
      "its folder is not there",
    );
  });
});
