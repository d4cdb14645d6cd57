import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listFiles, readFileText, shippedContracts } from "../../src/host/contracts.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-contracts-"));
  mkdirSync(join(folder, "b", "empty"), { recursive: true });
  writeFileSync(join(folder, "b", "c.json"), "\ufeff{}");
  writeFileSync(join(folder, "a.json"), Buffer.from([0x41, 0xff]));
  symlinkSync(folder, join(folder, "link"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("listFiles() lists what is no folder, sorted, and follows no link", () => {
  expect(listFiles(folder)).toEqual([
    { path: "a.json", kind: "file" },
    { path: "b/c.json", kind: "file" },
    { path: "link", kind: "link" },
  ]);
  expect(() => listFiles(join(folder, "none"))).toThrow(expect.objectContaining({ code: "file_unreadable" }));
});

test.skipIf(process.platform !== "linux")("listFiles() says of a name that is no UTF-8 that it is none", () => {
  const odd = mkdtempSync(join(tmpdir(), "writ-names-"));
  try {
    writeFileSync(join(odd, "\ufffd"), "a name like any other");
    expect(listFiles(odd)).toEqual([{ path: "\ufffd", kind: "file" }]);
    writeFileSync(Buffer.concat([Buffer.from(`${odd}/`), Buffer.from([0xff, 0xfe])]), "");
    expect(() => listFiles(odd)).toThrow("its name is no UTF-8");
  } finally {
    Bun.spawnSync(["rm", "-rf", odd]);
  }
});

test("readFileText() keeps a byte order mark, says what is no UTF-8, and reads neither links nor what is too large", () => {
  expect(readFileText(join(folder, "b", "c.json"), 5)).toMatchObject({ text: "\ufeff{}", isUtf8: true });
  expect(readFileText(join(folder, "a.json"), 10)).toMatchObject({ text: "A\ufffd", isUtf8: false });
  writeFileSync(join(folder, "mark.json"), "\ufffd");
  expect(readFileText(join(folder, "mark.json"), 10).isUtf8).toBe(true);
  for (const [path, bytes, code] of [
    ["link", 10, "file_unreadable"],
    ["b", 10, "file_unreadable"],
    ["none", 10, "file_unreadable"],
    ["b/c.json", 4, "body_too_large"],
  ] as const) {
    expect(() => readFileText(join(folder, path), bytes)).toThrow(expect.objectContaining({ code }));
  }
});

test("shippedContracts() is the folder of the source tree, where writ runs from it", () => {
  expect(listFiles(shippedContracts()).map(({ path }) => path)).toContain("manifest.json");
});
