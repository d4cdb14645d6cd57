import { expect, test } from "bun:test";
import { join } from "node:path";

const SCRIPT = `
  import { readStdinWithin } from ${JSON.stringify(join(import.meta.dir, "..", "..", "src", "host", "stdin.ts"))};
  const text = await readStdinWithin({ maxBytes: 20, firstMillis: 300, wholeMillis: 10_000 });
  console.log(JSON.stringify(text));
`;

/** What is read from a pipe that gets these pieces; it is closed only where that is said. */
async function readFrom(pieces: readonly string[], isClosed: boolean): Promise<string> {
  const child = Bun.spawn([process.execPath, "-e", SCRIPT], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  for (const piece of pieces) child.stdin.write(piece);
  await child.stdin.flush();
  if (isClosed) await child.stdin.end();
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  return stdout === "" ? (/more than \d+ bytes/.exec(stderr)?.[0] ?? stderr) : stdout.trim();
}

test.each([
  { what: "a pipe that stays open and empty", pieces: [], isClosed: false, read: "null" },
  { what: "an empty pipe", pieces: [], isClosed: true, read: "null" },
  { what: "a text", pieces: ["# Hand", "off: ü"], isClosed: true, read: '"# Handoff: ü"' },
  { what: "too much", pieces: ["x".repeat(30)], isClosed: false, read: "more than 20 bytes" },
])("readStdinWithin() of $what", async ({ pieces, isClosed, read }) => {
  expect(await readFrom(pieces, isClosed)).toContain(read);
});
