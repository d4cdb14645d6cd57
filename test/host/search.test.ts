import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../scripts/compile.ts";
import { searchFiles } from "../../src/host/search.ts";
import { heavySearch, QUICK } from "../support/heavy-search.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "writ-search-test-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const never = new AbortController().signal;
test("searchFiles() finds lines", async () => {
  expect(await searchFiles(QUICK, never)).toEqual({
    ok: true,
    matches: [{ path: "a", line: 2, text: "two" }],
    isMore: false,
  });
});

test("searchFiles() says what is wrong with a pattern", async () => {
  expect(await searchFiles({ ...QUICK, pattern: "(" }, never)).toEqual({
    ok: false,
    message: "bad pattern: missing closing ): `(`",
  });
});

test("searchFiles() ends a search that takes too long, and the next one is answered", async () => {
  expect(await searchFiles(heavySearch(), never, 100)).toEqual({
    ok: false,
    message: "the search timed out after 0.1 s; narrow the pattern",
  });
  expect(await searchFiles(QUICK, never)).toMatchObject({ ok: true });
});

test("searchFiles() is given up at the caller's signal", async () => {
  const caller = new AbortController();
  const search = searchFiles(heavySearch(), caller.signal);
  caller.abort();
  expect(await search).toEqual({ ok: false, message: "the search was given up" });
  expect(await searchFiles(QUICK, caller.signal)).toEqual({ ok: false, message: "the search was given up" });
});

test("searchFiles() answers many at once", async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => searchFiles(QUICK, never)));
  expect(all.filter(({ ok }) => ok)).toHaveLength(8);
});

test("a compiled program finds its worker, and ends it", async () => {
  const program = join(top, "probe");
  await compile(join(import.meta.dir, "..", "support", "search-probe.ts"), program, "with workers");
  const { stdout, exitCode } = Bun.spawnSync([program], { cwd: top });
  expect(stdout.toString()).toBe(
    '{"ok":true,"matches":[{"path":"a","line":2,"text":"two"}],"isMore":false}\n' +
      '{"ok":false,"message":"the search timed out after 0.1 s; narrow the pattern"}\n',
  );
  expect(exitCode).toBe(0);
}, 60_000);
