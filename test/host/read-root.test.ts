import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documentReader, readDocuments } from "../../src/host/read-root.ts";

const BASE = realpathSync(mkdtempSync(join(tmpdir(), "writ-read-root-")));
const ROOT = join(BASE, "root");
afterAll(() => rmSync(BASE, { recursive: true, force: true }));

mkdirSync(join(ROOT, "sub", "deep"), { recursive: true });
mkdirSync(join(BASE, "root-evil"));
writeFileSync(join(ROOT, "a.txt"), "a\r\n");
writeFileSync(join(ROOT, "sub", "b.txt"), "\ufeffb");
writeFileSync(join(ROOT, "empty"), "");
writeFileSync(join(ROOT, "back\\slash"), "x");
writeFileSync(join(ROOT, "latin1"), Uint8Array.from([0x61, 0xe9]));
writeFileSync(join(ROOT, "limit"), "x".repeat(131_072));
writeFileSync(join(ROOT, "over"), "x".repeat(131_073));
writeFileSync(join(BASE, "root-evil", "x"), "secret");
linkSync(join(BASE, "root-evil", "x"), join(ROOT, "hard"));
symlinkSync("a.txt", join(ROOT, "link"));
symlinkSync("sub", join(ROOT, "folder-link"));
symlinkSync("nowhere", join(ROOT, "dangling"));
symlinkSync(".", join(ROOT, "loop"));
symlinkSync("root", join(BASE, "root-link"));
const HAS_FIFO = Bun.spawnSync(["mkfifo", join(ROOT, "pipe")]).exitCode === 0;

/** The name and text of the one document, or the code of the one fault. */
function read(entry: string, root = ROOT): string | { name: string; text: string } {
  const { documents, faults } = readDocuments(root, [entry]);
  expect(documents.length + faults.length).toBe(1);
  return documents[0]?.document ?? faults[0]?.code ?? "";
}

test.each<{ entry: string; name: string; text: string }>([
  { entry: "a.txt", name: "a.txt", text: "a\r\n" },
  { entry: "./sub//b.txt", name: "sub/b.txt", text: "\ufeffb" },
  { entry: "sub/./b.txt", name: "sub/b.txt", text: "\ufeffb" },
  { entry: "sub/deep/../b.txt", name: "sub/b.txt", text: "\ufeffb" },
  { entry: `${ROOT}/sub/b.txt`, name: "sub/b.txt", text: "\ufeffb" },
  { entry: `${ROOT}/../root/./a.txt`, name: "a.txt", text: "a\r\n" },
  { entry: `${ROOT}/gone/../a.txt`, name: "a.txt", text: "a\r\n" }, // by words alone: gone is not looked for
  { entry: "back\\slash", name: "back\\slash", text: "x" },
  { entry: "empty", name: "empty", text: "" },
  { entry: "hard", name: "hard", text: "secret" },
  { entry: "limit", name: "limit", text: "x".repeat(131_072) },
])("$entry is read as $name", ({ entry, name, text }) => {
  expect(read(entry)).toEqual({ name, text });
});

test.each<{ entry: string; code: string }>([
  { entry: "", code: "path_empty" },
  { entry: "a.txt\0", code: "path_nul" },
  { entry: "..", code: "path_outside" },
  { entry: "../root/a.txt", code: "path_outside" },
  { entry: "sub/../../root/a.txt", code: "path_outside" },
  { entry: "/etc/passwd", code: "path_outside" },
  { entry: `${BASE}/root-evil/x`, code: "path_outside" },
  { entry: BASE, code: "path_outside" },
  { entry: `${BASE}/root-link/a.txt`, code: "path_outside" },
  { entry: "gone", code: "path_missing" },
  { entry: "gone/../a.txt", code: "path_missing" },
  { entry: "A.TXT", code: "path_missing" },
  { entry: "sub\\b.txt", code: "path_missing" },
  { entry: "~/a.txt", code: "path_missing" },
  { entry: "*.txt", code: "path_missing" },
  { entry: "file:a.txt", code: "path_missing" },
  { entry: " a.txt", code: "path_missing" },
  { entry: "x".repeat(5000), code: "path_missing" },
  { entry: "link", code: "path_link" },
  { entry: "link/", code: "path_link" },
  { entry: "dangling", code: "path_link" },
  { entry: "folder-link/b.txt", code: "path_link" },
  { entry: "folder-link/../a.txt", code: "path_link" },
  { entry: "loop/loop/a.txt", code: "path_link" },
  { entry: "a.txt/", code: "path_not_a_directory" },
  { entry: `${ROOT}/a.txt/`, code: "path_not_a_directory" },
  { entry: "a.txt/.", code: "path_not_a_directory" },
  { entry: "a.txt/../a.txt", code: "path_not_a_directory" },
  { entry: "a.txt/b", code: "path_not_a_directory" },
  { entry: ".", code: "path_is_a_directory" },
  { entry: ROOT, code: "path_is_a_directory" },
  { entry: `${ROOT}/`, code: "path_is_a_directory" },
  { entry: "sub", code: "path_is_a_directory" },
  { entry: "sub/", code: "path_is_a_directory" },
  { entry: "sub/deep/..", code: "path_is_a_directory" },
  { entry: "over", code: "file_too_large" },
  { entry: "latin1", code: "not_text" },
])("$entry is refused: $code", ({ entry, code }) => {
  expect(read(entry)).toBe(code);
});

test.skipIf(!HAS_FIFO)("a pipe is refused without being opened, which would wait for its writer", () => {
  expect(read("pipe")).toBe("path_not_a_file");
});

test("a device is refused", () => {
  expect(read("null", "/dev")).toBe("path_not_a_file");
});

test("a socket is refused", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(ROOT, "socket"), resolve));
  try {
    expect(read("socket")).toBe("path_not_a_file");
  } finally {
    server.close();
  }
});

test("a file whose size is said to be 0 is judged by what is read", () => {
  expect(read("self/cmdline", "/proc")).toBe("path_link");
  const found = read("version", "/proc");
  expect(found).toMatchObject({ name: "version" });
});

test.skipIf(process.getuid?.() === 0)("a file that may not be read is file_unreadable", () => {
  writeFileSync(join(ROOT, "closed"), "x");
  chmodSync(join(ROOT, "closed"), 0o000);
  expect(read("closed")).toBe("file_unreadable");
});

test("the root itself may be reached through a link", () => {
  expect(read("a.txt", join(BASE, "root-link"))).toEqual({ name: "a.txt", text: "a\r\n" });
});

test("a root that reads the whole file system has everything inside of it", () => {
  expect(read(join(ROOT, "a.txt"), "/")).toEqual({ name: join(ROOT, "a.txt").slice(1), text: "a\r\n" });
});

test.each([
  { root: join(BASE, "gone"), says: "it does not exist" },
  { root: join(ROOT, "a.txt"), says: "it is no folder" },
])("a root that is none is one fault of no entry: $says", ({ root, says }) => {
  const { documents, faults } = readDocuments(root, ["a", "b"]);
  expect(documents).toEqual([]);
  expect(faults).toMatchObject([{ code: "read_root", index: null }]);
  expect(faults[0]?.message).toContain(root);
  expect(faults[0]?.message).toContain(says);
});

test("the root is resolved once", () => {
  const moved = join(BASE, "moved-link");
  symlinkSync("root", moved);
  const reader = documentReader(moved);
  expect(reader(["a.txt"]).faults).toEqual([]);
  rmSync(moved);
  symlinkSync("root-evil", moved);
  expect(reader(["x"]).faults).toMatchObject([{ code: "path_missing" }]);
});

test("every entry gives a document or a fault, each with its place", () => {
  const { documents, faults } = readDocuments(ROOT, ["a.txt", "gone", "empty", "sub"]);
  expect(documents.map(({ index }) => index)).toEqual([0, 2]);
  expect(faults.map(({ index, code }) => [index, code])).toEqual([
    [1, "path_missing"],
    [3, "path_is_a_directory"],
  ]);
});

test("messages name the entry as written and the reason, the root where it counts, and never what is in the file", () => {
  const message = (entry: string) => readDocuments(ROOT, [entry]).faults[0]?.message ?? "";
  expect(message("../x")).toBe(`Cannot read context path "../x": it is outside of the read root "${ROOT}"`);
  expect(message("./sub/../link")).toBe('Cannot read context path "./sub/../link": "link" is a link');
  expect(message("latin1")).toBe('Cannot read context path "latin1": byte 1 is no UTF-8');
  expect(message("over")).toBe('Cannot read context path "over": it is larger than 128 KiB');
});

/** What is told of `entry` when something happens between the look at it and its opening. */
function readWhile(entry: string, happens: () => void): string | undefined {
  const reader = documentReader(ROOT, (path, flags) => {
    happens();
    return openSync(path, flags);
  });
  return reader([entry]).faults[0]?.code;
}

test("a file that another took the place of is path_changed", () => {
  const place = join(ROOT, "swapped");
  const spare = join(BASE, "spare");
  writeFileSync(place, "mine");
  writeFileSync(spare, "other");
  expect(readWhile("swapped", () => renameSync(spare, place))).toBe("path_changed");
});

test("a file that is gone when it is opened is path_changed", () => {
  const place = join(ROOT, "short-lived");
  writeFileSync(place, "mine");
  expect(readWhile("short-lived", () => rmSync(place))).toBe("path_changed");
});

test("a link that took the place of a file is not followed", () => {
  const place = join(ROOT, "relinked");
  const spare = join(BASE, "spare-link");
  writeFileSync(place, "mine");
  // A link to the very file: device and inode would be the same.
  symlinkSync("relinked-kept", spare);
  linkSync(place, join(ROOT, "relinked-kept"));
  expect(readWhile("relinked", () => renameSync(spare, place))).toBe("path_changed");
});

test("a folder on the way that a link took the place of is not followed", () => {
  mkdirSync(join(ROOT, "way"));
  writeFileSync(join(ROOT, "way", "file"), "mine");
  const happens = () => {
    renameSync(join(ROOT, "way"), join(BASE, "way-kept"));
    symlinkSync(join(BASE, "way-kept"), join(ROOT, "way"));
  };
  expect(readWhile("way/file", happens)).toBe("path_changed");
});

test.skipIf(!HAS_FIFO)("a pipe that took the place of a file is not waited for", () => {
  const place = join(ROOT, "piped");
  writeFileSync(place, "mine");
  expect(readWhile("piped", () => renameSync(join(ROOT, "pipe"), place))).toBe("path_changed");
});

test.each([
  { what: "another file", make: (spare: string) => writeFileSync(spare, "other") },
  { what: "a link to the same file", make: (spare: string) => symlinkSync("visited-kept", spare) },
])("$what that took the place for the opening alone is path_changed", ({ make }) => {
  const place = join(ROOT, "visited");
  const kept = join(ROOT, "visited-kept");
  const spare = join(ROOT, "visited-spare");
  writeFileSync(place, "mine");
  make(spare);
  const reader = documentReader(ROOT, (path, flags) => {
    renameSync(place, kept);
    renameSync(spare, place);
    try {
      return openSync(path, flags);
    } finally {
      renameSync(place, spare);
      renameSync(kept, place);
    }
  });
  expect(reader(["visited"]).faults.map(({ code }) => code)).toEqual(["path_changed"]);
  rmSync(spare);
});
