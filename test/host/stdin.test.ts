import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runInFreshWorld } from "../support/writ.ts";

const READER = [process.execPath, join(import.meta.dir, "..", "support", "stdin-reader.ts")];
const LIMITS = ["67108864", "2000"];

type Read = { readonly kind: string; readonly text?: string };

/** Sends the pieces one after the other and leaves the pipe open until the reader has ended by itself. */
async function openPipe(pieces: readonly (string | Uint8Array)[], limits = LIMITS): Promise<Read> {
  const child = Bun.spawn([...READER, "hook", ...limits], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  for (const piece of pieces) {
    child.stdin.write(piece);
    await child.stdin.flush();
  }
  const [text, status] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  expect(status).toBe(0);
  return JSON.parse(text) as Read;
}

/** The whole of standard input, closed at its end. */
async function closedPipe(stdin: string | Uint8Array, limits = LIMITS): Promise<Read> {
  const { stdout } = await runInFreshWorld([...READER, "hook", ...limits], { stdin });
  return JSON.parse(stdout) as Read;
}

async function redirected(redirection: string, ...args: string[]): Promise<unknown> {
  const script = `"$@" ${redirection}`;
  const { stdout } = await runInFreshWorld(["bash", "-c", script, "bash", ...READER, ...args]);
  return JSON.parse(stdout);
}

const ODD = '{"a":"}{][\\"}","b":["\\\\",{"c":"é🗸"}],"d":{}}';

describe("readHookPayload()", () => {
  test.each([
    { what: "an object", text: '{"tool":"bash"}' },
    { what: "a list of objects", text: '[{"tool":"bash"},{"tool":"read"}]' },
    { what: "braces, quotes and backslashes in strings", text: ODD },
    { what: "blanks and a byte order mark before it", text: ' \n\t{"a":1}' },
    { what: "a close that does not fit", text: '{"a":1]' },
    { what: "a close without an opening", text: "}" },
    { what: "garbage that closes", text: "garbage {}" },
  ])("ends at the close of the top level while the pipe stays open: $what", async ({ text }) => {
    expect(await openPipe([text])).toEqual({ kind: "text", text });
  });

  test("reads 5 MB", async () => {
    const text = JSON.stringify({ output: "é{\\".repeat(1_000_000) });
    expect(await openPipe([text])).toEqual({ kind: "text", text });
  });

  test("reads what comes byte by byte, characters and escapes cut in their middle", async () => {
    const bytes = new TextEncoder().encode(ODD);
    expect(await openPipe([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual({ kind: "text", text: ODD });
  });

  test("leaves what stands behind the close, also where it came in one piece with it", async () => {
    expect(await openPipe(['{"a":1} {"b":'])).toEqual({ kind: "text", text: '{"a":1}' });
    expect(await closedPipe('{"a":1}\n{"b":2}\n')).toEqual({ kind: "text", text: '{"a":1}' });
  });

  test.each([
    { what: "garbage", text: "no JSON at all" },
    { what: "an object cut off", text: '{"a":"' },
    { what: "a number", text: "42" },
  ])("takes all that came where the pipe closes before the top level: $what", async ({ text }) => {
    expect(await closedPipe(text)).toEqual({ kind: "text", text });
  });

  test("reads bytes that are no UTF-8 as replacement characters", async () => {
    expect(await closedPipe(Uint8Array.of(0x7b, 0xff, 0x7d))).toEqual({ kind: "text", text: "{\ufffd}" });
  });

  test.each(["", " \n\t "])("says that nothing came in %j", async (text) => {
    expect(await closedPipe(text)).toEqual({ kind: "none" });
  });

  test.each(["</dev/null", "<&-"])("says that nothing came from standard input %s", async (redirection) => {
    expect(await redirected(redirection, "hook", ...LIMITS)).toEqual({ kind: "none" });
  });

  test("reads from a file", async () => {
    expect(await redirected(`<<<'${ODD}'`, "hook", ...LIMITS)).toEqual({ kind: "text", text: ODD });
  });

  test.each([
    { size: 40, expected: { kind: "too_large" } },
    { size: 39, expected: { kind: "text", text: `"${"x".repeat(37)}"` } },
  ])("has a limit of bytes: $size against 39", async ({ size, expected }) => {
    expect(await closedPipe(`"${"x".repeat(size - 2)}"`, ["39", "2000"])).toEqual(expected);
  });

  // A short bound, so that no test has to wait for the real one; that is asked of the command.
  test("stops when the time is up: an object that does not close", async () => {
    expect(await openPipe(['{"a":'], ["1000", "50"])).toEqual({ kind: "timeout" });
  });

  test("stops when the time is up: nothing came", async () => {
    expect(await openPipe([], ["1000", "50"])).toEqual({ kind: "none" });
    expect(await openPipe([" \n"], ["1000", "50"])).toEqual({ kind: "none" });
  });
});

describe("readStdinText()", () => {
  const body = async (stdin: string | Uint8Array, maxBytes = 8_388_608) =>
    JSON.parse((await runInFreshWorld([...READER, "body", String(maxBytes)], { stdin })).stdout) as unknown;
  const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

  test.each(["", "\n", "\ufeffé🗸\r\n\0", "x".repeat(3_000_000)])("reads a text whole (%#)", async (text) => {
    expect(await body(text)).toEqual({ length: text.length, sha256: digest(text) });
  });

  test.each([
    { bytes: [0x61, 0xff, 0x62], at: 2 },
    { bytes: [0x61, 0xc3], at: 2 }, // cut at its end
    { bytes: [0xe2, 0x28, 0xa1], at: 2 }, // the second byte proves it
  ])("refuses $bytes, which is no UTF-8, by the place of its byte $at", async ({ bytes, at }) => {
    expect(await body(Uint8Array.from(bytes))).toEqual({
      code: "bad_json",
      message: `The body from standard input is no UTF-8 text: byte ${at}`,
    });
  });

  test.each([
    { size: 8_388_608, expected: { length: 8_388_608 } },
    {
      size: 8_388_609,
      expected: { code: "body_too_large", message: "The body from standard input has more than 8 MiB" },
    },
  ])("has a limit of 8 MiB: $size bytes", async ({ size, expected }) => {
    expect(await body(new Uint8Array(size).fill(0x78))).toMatchObject(expected);
  });

  test.each(["</dev/null", "<&-"])("reads an empty text from standard input %s", async (redirection) => {
    expect(await redirected(redirection, "body", "100")).toEqual({ length: 0, sha256: digest("") });
  });

  test("waits for a slow writer", async () => {
    // The writer goes on only when the reader has been started.
    const script = 'mkfifo p; exec 3<>p; { echo one; read go <p; echo two; } | { echo go >&3; exec "$@"; }';
    const { stdout } = await runInFreshWorld(["bash", "-c", script, "bash", ...READER, "body", "100"]);
    expect(JSON.parse(stdout)).toEqual({ length: 8, sha256: digest("one\ntwo\n") });
  });
});
