/** The typing of pages finds what it is there to find; a page that is right is every page of test/pages.test.ts. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPage } from "../../scripts/session.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-pages-"));
  path = join(folder, "page.md");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const block = (language: string, text: string) => `\`\`\`${language}\n${text}\`\`\`\n`;
async function check(...blocks: string[]): Promise<readonly string[]> {
  writeFileSync(path, blocks.join("\n"));
  return (await checkPage(path)).map((problem) => problem.slice(path.length + 2));
}

test("an output that is another one is told, with what came", async () => {
  expect(await check(block("console", "$ echo one\ntwo\n$ echo three\nthree\n"))).toEqual([
    "line 2: $ echo one\nthe page says:\ntwo\nand this came:\none\n",
  ]);
});

test("an output that a page leaves out is a difference, and so is one that never comes", async () => {
  expect(await check(block("console", "$ echo one\n"))).toHaveLength(1);
  expect(await check(block("console", "$ true\none\n"))).toHaveLength(1);
});

test("blocks of a page are typed into one shell, until a new session begins", async () => {
  const set = block("console", "$ a=1\n$ cd /\n");
  const seen = block("console", "$ echo $a $PWD\n1 /\n");
  expect(await check(set, seen)).toEqual([]);
  expect(await check(set, `<!-- new session -->\n${seen}`)).toHaveLength(1);
});

test("a script must end in 0, each command of it, and what is behind one that did not is not reached", async () => {
  const failing = block("sh", "echo said\nfalse\ntrue\n");
  const problems = await check(block("sh", "true\n"), failing, block("console", "$ echo x\nx\n"));
  expect(problems).toEqual([
    "line 6: the shell ended in it, or before it\nsaid\n",
    "line 12: $ echo x\nthe page says:\nx\nand the shell did not come to it",
  ]);
  expect(await check(block("sh", "false | true\n"))).toHaveLength(1);
});

test("a status of a console block is nobody's matter but the page's", async () => {
  expect(await check(block("console", "$ false\n$ echo $?\n1\n"))).toEqual([]);
});

test("what is said not to be run is not run, nor is what starts the scripts of package.json", async () => {
  const no = `<!-- not run: it would fail -->\n${block("sh", "false\n")}`;
  expect(await check(no, block("sh", "npm run nothing\n"), block("text", "false\n"))).toEqual([]);
  // A note that is not right above its block is of no block.
  expect(await check(`<!-- not run: it would fail -->\nWords.\n\n${block("sh", "false\n")}`)).toHaveLength(1);
});

test("ids, digests and times are no difference; one id in the place of another is", async () => {
  const [one, two, three] = ["1", "2", "3"].map((digit) => `a${digit.repeat(16)}.${digit.repeat(12)}`);
  const time = "2026-01-01T00:00:00Z";
  expect(await check(block("console", `$ echo ${two} ${two} 2026-02-02T00:00:00Z\n${one} ${one} ${time}\n`))).toEqual(
    [],
  );
  expect(await check(block("console", `$ echo ${two} ${three}\n${one} ${one}\n`))).toHaveLength(1);
  expect(await check(block("console", `$ echo ${two} ${two}\n${one} ${three}\n`))).toHaveLength(1);
});

test("a process that a session leaves behind is told and ended", async () => {
  expect(await check(block("console", "$ sleep 600 > /dev/null &\n"))).toEqual([
    "the session leaves a process that it started running",
  ]);
  expect(await check(block("console", "$ sleep 600 &\n$ kill $!; wait $! 2> /dev/null\n"))).toEqual([]);
});

test("the folder of the session and its ports have the names of the page", async () => {
  expect(await check(block("console", "$ pwd\n/home/you/work\n$ echo ~\n/home/you\n"))).toEqual([]);
  const served = "$ echo http://127.0.0.1:18811 127.0.0.1:18812\nhttp://127.0.0.1:18811 127.0.0.1:18812\n";
  expect(await check(block("console", served))).toEqual([]);
  expect(await check(block("console", served.replace("1:18812\n", "1:18811\n")))).toHaveLength(1);
});

test("--write puts what came into the page, and leaves all else", async () => {
  writeFileSync(path, `# A\n\n${block("console", "$ echo one\ntwo\n")}\n${block("console", "$ echo '$&'\n$&\n")}`);
  await checkPage(path, true);
  expect(readFileSync(path, "utf8")).toBe(
    `# A\n\n${block("console", "$ echo one\none\n")}\n${block("console", "$ echo '$&'\n$&\n")}`,
  );
});
