import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readTextLines, streamTextFile } from "../../src/host/file.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
