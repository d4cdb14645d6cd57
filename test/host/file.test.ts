import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WritError } from "../../src/core/error.ts";
import { readBodyFile, readTextLines, streamTextFile } from "../../src/host/file.ts";
import { runInFreshWorld } from "../support/writ.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIMIT = 8 * 1024 * 1024;
const isRoot = process.getuid?.() === 0;

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A file of a size whose blocks are not there. */
function sparse(name: string, size: number): string {
  const path = join(folder, name);
  const handle = openSync(path, "w");
  ftruncateSync(handle, size);
  closeSync(handle);
  return path;
}

function fifo(name: string): string {
  const path = join(folder, name);
  expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
  return path;
}

async function refusal(path: string, limit = LIMIT): Promise<{ code: string; message: string; hint: string | null }> {
  try {
    await readBodyFile(path, limit);
  } catch (error) {
    if (error instanceof WritError) return { code: error.code, message: error.message, hint: error.hint };
    throw error;
  }
  throw new Error("it was not refused");
}

describe("readBodyFile()", () => {
  test("reads a file whole, as it is", async () => {
    const text = "\ufeffé🗸\r\n\0 end\n";
    expect(await readBodyFile(file("whole", text), LIMIT)).toBe(text);
    expect(await readBodyFile(file("empty", ""), LIMIT)).toBe("");
  });

  test("reads a file of exactly the limit, and refuses one byte more", async () => {
    expect((await readBodyFile(file("limit", "x".repeat(LIMIT)), LIMIT)).length).toBe(LIMIT);
    const path = file("over", "x".repeat(LIMIT + 1));
    expect(await refusal(path)).toEqual({
      code: "body_too_large",
      message: `The body from "${path}" has more than 8 MiB`,
      hint: "Keep long outputs in files and name them",
    });
  });

  test.skipIf(!existsSync("/dev/zero"))("refuses a device without an end (needs /dev/zero)", async () => {
    expect((await refusal("/dev/zero")).code).toBe("body_too_large");
  });

  test("refuses what is not there, a folder, and a name that no file can have", async () => {
    const hint = "Name a readable file, or - for standard input";
    const missing = join(folder, "missing");
    expect(await refusal(missing)).toEqual({
      code: "file_unreadable",
      message: `Cannot read "${missing}": there is no such file`,
      hint,
    });
    expect(await refusal(folder)).toEqual({
      code: "file_unreadable",
      message: `Cannot read "${folder}": it is a folder`,
      hint,
    });
    expect((await refusal("a\0b")).code).toBe("file_unreadable");
    expect((await refusal(join(file("plain", "x"), "below"))).code).toBe("file_unreadable");
  });

  test.skipIf(isRoot)("refuses a file that is not ours to read (needs a user who is not root)", async () => {
    const path = file("secret", "x");
    chmodSync(path, 0);
    expect((await refusal(path)).code).toBe("file_unreadable");
  });

  test.each([
    { what: "a wrong byte", bytes: [0x7b, 0xff, 0x7d], at: 2 },
    { what: "a character cut at the end", bytes: [0x7b, 0xe2, 0x82], at: 3 },
    { what: "a surrogate", bytes: [0x61, 0x62, 0xed, 0xa0, 0x80], at: 4 },
    { what: "an overlong form", bytes: [0xc0, 0xaf], at: 1 },
  ])("names the byte of what is no UTF-8: $what", async ({ bytes, at }) => {
    const path = file("no-text", Uint8Array.from(bytes));
    expect(await refusal(path)).toEqual({
      code: "bad_json",
      message: `The body from "${path}" is no UTF-8 text: byte ${at}`,
      hint: "Write it as UTF-8",
    });
  });

  test("finds a wrong byte far into a large file", async () => {
    const bytes = new Uint8Array(4_000_000).fill(0x61);
    bytes[3_999_990] = 0x80;
    expect((await refusal(file("far", bytes))).message).toEndWith("byte 3999991");
  });

  test("reads a pipe that a shell names as a file (needs bash)", async () => {
    const reader = `import { readBodyFile } from ${JSON.stringify(join(import.meta.dir, "../../src/host/file.ts"))};
      console.log((await readBodyFile(process.argv[2], 1e6)).length);`;
    const script = file("reader.ts", reader);
    const ran = await runInFreshWorld([
      "bash",
      "-c",
      'exec "$@" <(head -c 500000 /dev/zero; echo é)',
      "bash",
      process.execPath,
      script,
    ]);
    expect(ran).toEqual({ exit: 0, stdout: "500002\n", stderr: "" });
  });
});

describe("streamTextFile()", () => {
  const streamed = (path: string) => {
    let text = "";
    const isRead = streamTextFile(path, (piece) => {
      text += piece;
    });
    return { isRead, text };
  };

  test("gives the text of a file in pieces, characters whole, wrong bytes replaced", () => {
    const text = `x${"é🗸".repeat(100_000)}`;
    expect(streamed(file("stream", text))).toEqual({ isRead: true, text });
    expect(streamed(file("wrong", Uint8Array.of(0x61, 0xff)))).toEqual({ isRead: true, text: "a\ufffd" });
    expect(streamed(file("nothing", ""))).toEqual({ isRead: true, text: "" });
  });

  test("follows a link to a regular file", () => {
    symlinkSync(file("target", "text"), join(folder, "link"));
    expect(streamed(join(folder, "link"))).toEqual({ isRead: true, text: "text" });
  });

  test.each([
    { what: "nothing", path: () => join(folder, "gone") },
    { what: "a folder", path: () => folder },
    { what: "a pipe, without waiting for its writer", path: () => fifo("stream-fifo") },
    { what: "a device", path: () => "/dev/null" },
    { what: "a name with a NUL", path: () => "a\0b" },
    { what: "more than 1 GiB", path: () => sparse("huge", 1024 ** 3 + 1) },
  ])("says no to $what", ({ path }) => {
    expect(streamed(path())).toEqual({ isRead: false, text: "" });
  });
});

describe("readTextLines()", () => {
  test.each([
    { text: "", lines: [] },
    { text: "one", lines: ["one"] },
    { text: "one\n", lines: ["one"] },
    { text: "one\n\ntwo\r\n", lines: ["one", "", "two\r"] },
    { text: "\n", lines: [""] },
  ])("gives $lines", ({ text, lines }) => {
    expect(readTextLines(file("lines", text))).toEqual(lines);
  });

  test("keeps lines whole that are longer than what is read at once", () => {
    const lines = ["é".repeat(100_000), "x", "y".repeat(200_001)];
    expect(readTextLines(file("long", lines.join("\n")))).toEqual(lines);
  });

  test("leaves a line out that is too long, and none of its neighbours", () => {
    const long = "x".repeat(16 * 1024 * 1024);
    const lines = readTextLines(file("longest", `a\n${long}\nb\n${long.repeat(4)}\nc\n${long}x`));
    expect(lines?.map((line) => line.length)).toEqual([1, long.length, 1, 1]);
  });

  test("is null for what is no regular file, and for more than 256 MiB", () => {
    expect(readTextLines(join(folder, "gone"))).toBeNull();
    expect(readTextLines(folder)).toBeNull();
    expect(readTextLines(fifo("lines-fifo"))).toBeNull();
    expect(readTextLines(sparse("large", 256 * 1024 ** 2 + 1))).toBeNull();
  });
});
