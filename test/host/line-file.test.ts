import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLineFile } from "../../src/host/line-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-lines-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("openLineFile() begins anew, and each line is there when it was written", () => {
  const path = join(folder, "a.log");
  writeFileSync(path, "what was there before\n");
  const file = openLineFile(path, 1000);
  expect(readFileSync(path, "utf8")).toBe("");
  expect([file.write("one"), file.write("zwei: ü")]).toEqual([true, true]);
  expect(readFileSync(path, "utf8")).toBe("one\nzwei: ü\n");
  file.close();
});

test("openLineFile() takes lines up to its limit, and none behind the first that does not fit", () => {
  const path = join(folder, "a.log");
  const file = openLineFile(path, 8);
  expect([file.write("abc"), file.write("abcd"), file.write("a")]).toEqual([true, false, false]);
  file.close();
  expect(readFileSync(path, "utf8")).toBe("abc\n");
});

test("openLineFile() says why a file cannot be written", () => {
  expect(() => openLineFile(join(folder, "none", "a.log"), 8)).toThrow("Cannot write");
  expect(() => openLineFile(folder, 8)).toThrow(expect.objectContaining({ code: "file_unwritable" }));
});
