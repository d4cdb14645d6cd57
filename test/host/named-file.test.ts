import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WritError } from "../../src/core/error.ts";
import { readBodyFile, readNamedFile } from "../../src/host/named-file.ts";
import { livingWorld, runInFreshWorld } from "../support/writ.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-named-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIMIT = 8 * 1024 * 1024;
const isRoot = process.getuid?.() === 0;

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
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

  test.skipIf(!existsSync("/dev/zero"))("refuses a device, also behind a link (needs /dev/zero)", async () => {
    symlinkSync("/dev/zero", join(folder, "linked"));
    for (const path of ["/dev/zero", "/dev/tty", join(folder, "linked")]) {
      expect((await refusal(path)).message).toBe(`Cannot read "${path}": it is a device`);
    }
  });

  test("refuses a socket", async () => {
    const path = join(folder, "socket");
    using _ = Bun.listen({ unix: path, socket: { data() {} } });
    expect((await refusal(path)).message).toBe(`Cannot read "${path}": it is a socket`);
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
    const reader = `import { readBodyFile } from ${JSON.stringify(join(import.meta.dir, "../../src/host/named-file.ts"))};
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

describe("a named pipe", () => {
  const textOf = (path: string, writerMs?: number) =>
    new TextDecoder().decode(readNamedFile(path, LIMIT, "it", writerMs));

  test("without a writer is given up", () => {
    expect(() => textOf(fifo("nobody"), 30)).toThrow("it is a pipe that nobody wrote to for 0.03 s");
  });

  test("is read from its first writer's first byte to the end, however slowly it comes", async () => {
    const path = fifo("written");
    const child = Bun.spawn(["sh", "-c", '{ printf one; sleep 0.05; printf two; } >"$1"', "sh", path]);
    expect(textOf(path, 60_000)).toBe("onetwo");
    expect(await child.exited).toBe(0);
  });

  test("has the same limit as a file", async () => {
    const path = fifo("large");
    const child = Bun.spawn(["sh", "-c", `head -c ${LIMIT + 1} /dev/zero >"$1"`, "sh", path], { stderr: "ignore" });
    expect(() => textOf(path, 60_000)).toThrow("has more than 8 MiB");
    await child.exited;
  });
});

test("a pipe of the shell that gives nothing is an empty text at once, and so is /dev/null (needs bash)", async () => {
  using world = livingWorld();
  for (const named of ["<(true)", "/dev/null"]) {
    const { stdout, exit } = await world.shell(`writ lint ${named} --json`);
    expect([exit, stdout]).toEqual([1, expect.stringContaining("not_json")]);
  }
});
