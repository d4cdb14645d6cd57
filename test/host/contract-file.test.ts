import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readContractFile } from "../../src/host/contract-file.ts";

const BASE = mkdtempSync(join(tmpdir(), "writ-contract-file-"));
afterAll(() => rmSync(BASE, { recursive: true, force: true }));

test("a file is read whole, byte for byte", () => {
  const path = join(BASE, "a.json");
  const bytes = Uint8Array.from([0xef, 0xbb, 0xbf, 0xff, 0x0d, 0x0a]);
  writeFileSync(path, bytes);
  const read = readContractFile(path);
  if (!read.ok) throw new Error(read.issue.message);
  expect([...read.bytes]).toEqual([...bytes]);
});

test("16 MiB are read, one byte more is not", () => {
  const path = join(BASE, "large.json");
  writeFileSync(path, "");
  truncateSync(path, 16 * 1024 * 1024);
  expect(readContractFile(path).ok).toBe(true);
  truncateSync(path, 16 * 1024 * 1024 + 1);
  const read = readContractFile(path);
  if (read.ok) throw new Error("it was read");
  expect(read.issue).toMatchObject({ code: "file_too_large", path: "" });
  expect(read.issue.message).toContain(`"${path}" is larger than 16384 KiB`);
});

test.each([
  { name: "a file that is not there", path: join(BASE, "gone.json"), says: "there is no such file" },
  { name: "below a file", path: join(import.meta.path, "x.json"), says: "there is no such file" },
  { name: "a folder", path: BASE, says: "it is a folder" },
])("$name is file_unreadable, with the reason", ({ path, says }) => {
  const read = readContractFile(path);
  if (read.ok) throw new Error("it was read");
  expect(read.issue.code).toBe("file_unreadable");
  expect(read.issue.message).toContain(path);
  expect(read.issue.message).toContain(says);
});

test("- is standard input", () => {
  const script = `const { readContractFile } = await import(${JSON.stringify(join(import.meta.dir, "../../src/host/contract-file.ts"))});
    const read = readContractFile("-"); console.log(read.ok ? new TextDecoder().decode(read.bytes) : read.issue.code);`;
  const child = Bun.spawnSync([process.execPath, "-e", script], { stdin: new TextEncoder().encode('{"goal":"x"}') });
  expect(child.stdout.toString()).toBe('{"goal":"x"}\n');
});
