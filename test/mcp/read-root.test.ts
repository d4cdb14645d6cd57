import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRootOf } from "../../src/mcp/read-root.ts";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "writ-root-")));
  mkdirSync(join(folder, "root", "..sub", "deep"), { recursive: true });
  mkdirSync(join(folder, "root-evil"));
  writeFileSync(join(folder, "root", "file"), "");
  symlinkSync(join(folder, "root-evil"), join(folder, "root", "away"));
  symlinkSync(join(folder, "root"), join(folder, "link"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const given = () => ({ readRoot: join(folder, "root"), isReadRootGiven: true });

describe("readRootOf() of a server that was started with a read root", () => {
  test.each([
    { named: undefined, root: "root" },
    { named: ".", root: "root" },
    { named: "..sub/deep", root: "root/..sub/deep" },
    { named: "..sub/../..sub", root: "root/..sub" },
  ])("takes $named", ({ named, root }) => {
    expect(readRootOf(named, given())).toBe(join(folder, root));
  });

  test("takes an absolute path inside, and a root that is reached through a link", () => {
    expect(readRootOf(join(folder, "root", "..sub"), given())).toBe(join(folder, "root", "..sub"));
    expect(readRootOf(join(folder, "link", "..sub"), given())).toBe(join(folder, "root", "..sub"));
    expect(readRootOf("..sub", { ...given(), readRoot: join(folder, "link") })).toBe(join(folder, "root", "..sub"));
  });

  test.each(["..", "../root-evil", "away", "/", "file", "missing"])("refuses %s", (named) => {
    expect(() => readRootOf(named, given())).toThrow(
      expect.objectContaining({ code: "bad_input", path: "/read_root" }),
    );
  });
});

test("without one a call may name any folder, relative to where the server runs", () => {
  const free = { ...given(), isReadRootGiven: false };
  expect(readRootOf("../root-evil", free)).toBe(join(folder, "root-evil"));
  expect(() => readRootOf("missing", free)).toThrow(expect.objectContaining({ code: "bad_input" }));
});
