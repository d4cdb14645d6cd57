/** What a stop leaves: nothing. And what `--plan-only` promises: the very calls. One repository for all of it. */
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../src/store/drafts.ts";
import { PLAN, PLAN_PATH, SPEC, SPEC_PATH } from "../support/greeting.ts";
import { openResuming } from "../support/resuming.ts";
import { documentOf } from "../support/writ.ts";

/** Each is a few processes, and the machine may be busy. */
setDefaultTimeout(30_000);

const world = openResuming();
const { tree } = world;
const store = join(tree.git("rev-parse", "--absolute-git-dir"), "writ", "store.sqlite");
let brief = "";
let text = "";

beforeAll(async () => {
  world.flow();
  brief = await world.handoff("x");
  text = readFileSync(brief, "utf8");
});
afterEach(() => {
  writeFileSync(brief, text);
  tree.git("checkout", "-q", "feature/x");
  tree.git("checkout", "-q", "--", ".");
  tree.git("clean", "-fdq");
});
afterAll(() => world[Symbol.dispose]());

/** The files of the store, by name and digest, with the log merged into the database. */
function storeFiles(): Record<string, string> {
  const db = new Database(store, { readwrite: true, create: false });
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  const folder = join(store, "..");
  return Object.fromEntries(readdirSync(folder).map((name) => [name, sha256(readFileSync(join(folder, name)))]));
}

const replaced = (from: string | RegExp, to: string) => () => {
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  writeFileSync(brief, changed);
};

type Stop = {
  readonly what: string;
  readonly prepare: () => void;
  readonly words?: readonly string[];
  readonly exit?: number;
  readonly code: string;
};

const STOPS: readonly Stop[] = [
  { what: "text behind the gate line", prepare: replaced(/$/, "Thanks!\n"), exit: 1, code: "after-gate" },
  { what: "a task line that cannot be read", prepare: replaced("→ [1]", "-> [1]"), exit: 1, code: "task-line" },
  { what: "another brief's process state", prepare: replaced("(W2)", "(W1)"), code: "not_idle" },
  { what: "no worktree", prepare: replaced(/worktree: .*/, "worktree: no"), code: "worktree" },
  { what: "a worktree that is gone", prepare: () => {}, words: ["gone"], code: "not_found" },
  { what: "a spec that is deferred", prepare: () => tree.write(SPEC_PATH, hurt(SPEC, "**Amend-grant:** none", "**Deferred:** May")), code: "spec_header" },
  { what: "several specs", prepare: () => tree.write("doc/specs/2.md", "# Two\n"), code: "answer_needed" },
  { what: "no plan", prepare: () => tree.write("doc/specs/2.md", "# Two\n"), words: ["--spec", "doc/specs/2.md"], code: "candidates" },
]; // biome-ignore format: a table

function hurt(whole: string, from: string, to: string): string {
  expect(whole).toContain(from);
  return whole.replace(from, to);
}

test.each([...STOPS])("a resume that stops at $what leaves the store byte for byte", async (stop) => {
  stop.prepare();
  const before = storeFiles();
  const { words = [] } = stop;
  const ran = await world.writ(["resume", brief, ...words, "--json"]);
  expect([documentOf(ran).code, ran.exit]).toEqual([stop.code, stop.exit ?? 3]);
  expect(storeFiles()).toEqual(before);
  const planned = await world.writ(["resume", "--plan-only", brief, ...words, "--json"]);
  expect(documentOf(planned).code).toBe(stop.code);
  expect(storeFiles()).toEqual(before);
});

test("a stop in a worktree that never had a store makes none", async () => {
  const other = world.primary.worktree(join(world.folder, "idle"), "idle");
  replaced(/worktree: .*/, "worktree: no")();
  const ran = await world.writ(["resume", brief, other.path, "--json"]);
  expect([documentOf(ran).code, ran.exit]).toEqual(["candidates", 3]);
  expect(existsSync(join(other.git("rev-parse", "--absolute-git-dir"), "writ"))).toBe(false);
});

/** The calls that a run made, in order, as its text form echoed them. */
const callLines = (stdout: string) => stdout.split("\n").filter((line) => /^\d+\. /.test(line));

test.each([
  { what: "implement", change: (brief: string) => brief, words: [] },
  { what: "brainstorm", change: (brief: string) => brief.replace("⊘ brainstorm (r)", "→ brainstorm").replace("✓ plan", "○ plan").replace("→ implement(W2)", "○ implement"), words: [] },
  { what: "plan with a substep", change: (brief: string) => brief.replace("✓ plan", "→ plan(wave 2)").replace("→ implement(W2)", "○ implement"), words: [] },
  { what: "verify", change: (brief: string) => brief.replace("→ implement(W2)", "✓ implement").replace("○ verify", "→ verify"), words: [] },
  { what: "ship", change: (brief: string) => brief.replace("→ implement(W2)", "✓ implement").replace("○ verify", "✓ verify").replace("○ ship", "→ ship"), words: [] },
])("in $what --plan-only lists the very calls that the run makes, and makes none", async ({ change, words }) => {
  // Resumed from an idle store: a text that was changed is no longer the very brief of the flow.
  const idle = { WRIT_STORE: join(world.folder, `${crypto.randomUUID()}.sqlite`) };
  writeFileSync(brief, change(text));
  const planned = await world.writ(["resume", "--plan-only", brief, ...words], { env: idle });
  expect([planned.exit, existsSync(idle.WRIT_STORE)]).toEqual([0, false]);
  const document = documentOf(await world.writ(["resume", "--plan-only", brief, "--json"], { env: idle }));
  expect(callLines(planned.stdout)).toHaveLength((document.calls as object[]).length);
  const ran = await world.writ(["resume", brief, ...words], { env: idle });
  expect(ran.exit).toBe(0);
  expect(callLines(ran.stdout)).toEqual(callLines(planned.stdout));
  expect(callLines(ran.stdout).length).toBeGreaterThan(0);
}); // biome-ignore format: a table

test("with a plan that is repaired on the way the calls are the same; the files of a plan that stops are too", async () => {
  const idle = { WRIT_STORE: join(world.folder, `${crypto.randomUUID()}.sqlite`) };
  tree.write(PLAN_PATH, hurt(PLAN, '"Command" L19-L19\n', '"Command" L21-L21\n'));
  const planned = await world.writ(["resume", "--plan-only", brief], { env: idle });
  expect(tree.git("status", "--porcelain")).toBe(`M ${PLAN_PATH}`.padStart(PLAN_PATH.length + 3));
  tree.write(PLAN_PATH, hurt(PLAN, "  Wire `greet", "  TODO `greet"));
  const stopped = await world.writ(["resume", "--plan-only", brief], { env: idle });
  expect([planned.exit, stopped.stdout]).toEqual([0, planned.stdout]);
  expect(existsSync(idle.WRIT_STORE)).toBe(false);
});
