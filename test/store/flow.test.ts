import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Flow, INITIAL_FLOW } from "../../src/core/tracker/flow.ts";
import type { FlowRecord } from "../../src/core/tracker/repository.ts";
import { flowStore } from "../../src/store/flow.ts";
import { aLine, flowAfter, somePhases, someTasks, tasksOf } from "../support/flow.ts";

function place() {
  const folder = mkdtempSync(join(tmpdir(), "writ-flow-"));
  return {
    path: join(folder, "deep", "store.sqlite"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const MARK = { state_sha256: "s", brief_path: null, block_sha256: "b", at: "2026-01-01T00:00:00Z" };
const FLOW = flowAfter([
  { action: "start", phase: "brainstorm", force: false },
  { action: "init", tasks: tasksOf("a=complete", "b") },
]);

test("where there is no store the state is the initial one, and looking makes none", () => {
  using folder = place();
  const store = flowStore(folder.path);
  expect(store.read()).toEqual({ flow: INITIAL_FLOW, mark: null });
  expect(store.archived()).toEqual([]);
  expect(store.write((record) => ({ record: null, value: record.flow.armed }))).toBe(false);
  expect(existsSync(folder.path)).toBe(false);
});

test("what was written is read back, by another connection too, and the file is the owner's alone", () => {
  using folder = place();
  const record: FlowRecord = { flow: FLOW, mark: MARK };
  flowStore(folder.path).write(() => ({ record, value: null }));
  expect(flowStore(folder.path).read()).toEqual(record);
  expect(statSync(folder.path).mode & 0o777).toBe(0o600);
  flowStore(folder.path).write(() => ({ record: { ...record, mark: null }, value: null }));
  expect(flowStore(folder.path).read().mark).toBeNull();
});

test("any flow comes back as it was", () => {
  using folder = place();
  const store = flowStore(folder.path);
  const aStamp = fc.option(fc.record({ plan_path: aLine, plan_sha256: aLine, spec_path: aLine, spec_sha256: aLine }));
  const aFlow: fc.Arbitrary<Flow> = fc.record({
    phases: somePhases,
    armed: fc.boolean(),
    reviewed: fc.boolean(),
    stamp: aStamp,
    tasks: someTasks,
  });
  fc.assert(
    fc.property(aFlow, (flow) => {
      store.write(() => ({ record: { flow, mark: null }, value: null }));
      expect(store.read().flow).toEqual(flow);
    }),
    { numRuns: 20 },
  );
});

test("a decision that throws writes nothing", () => {
  using folder = place();
  const store = flowStore(folder.path);
  store.write(() => ({ record: { flow: FLOW, mark: null }, value: null }));
  expect(() =>
    store.write(() => {
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(store.read().flow).toEqual(FLOW);
});

test("a former flow is kept whole, the newest first", () => {
  using folder = place();
  const store = flowStore(folder.path);
  const archive = (at: string, brief_path: string | null, flow: Flow) =>
    store.write(() => ({ record: { flow: INITIAL_FLOW, mark: null }, archive: { at, brief_path, flow }, value: null }));
  archive("2026-01-01T00:00:00Z", null, FLOW);
  archive("2026-01-02T00:00:00Z", "/b.md", INITIAL_FLOW);
  expect(store.archived()).toEqual([
    { at: "2026-01-02T00:00:00Z", brief_path: "/b.md", flow: INITIAL_FLOW },
    { at: "2026-01-01T00:00:00Z", brief_path: null, flow: FLOW },
  ]);
});

test("a store of a newer writ is not read and not written", () => {
  using folder = place();
  const store = flowStore(folder.path);
  store.write(() => ({ record: { flow: FLOW, mark: null }, value: null }));
  const db = new Database(folder.path);
  db.run("PRAGMA user_version = 9");
  db.close();
  expect(() => store.read()).toThrow("has layout 9; this writ knows 1");
  expect(() => store.write(() => ({ record: { flow: INITIAL_FLOW, mark: null }, value: null }))).toThrow("layout 9");
});

test.each([
  { what: "a status that no writ knows", sql: "UPDATE tasks SET status = 'later'", error: "CHECK" },
  { what: "two phases in progress", sql: "UPDATE phases SET status = 'in_progress'", error: "UNIQUE" },
  { what: "a reason of a phase that is not skipped", sql: "UPDATE phases SET reason = 'r'", error: "CHECK" },
])("the table itself refuses $what", ({ sql, error }) => {
  using folder = place();
  flowStore(folder.path).write(() => ({ record: { flow: FLOW, mark: null }, value: null }));
  const db = new Database(folder.path);
  expect(() => db.run(sql)).toThrow(error);
  db.close();
});

test("a file that is no store, and an archive that no writ wrote, are said to be", () => {
  using folder = place();
  const store = flowStore(folder.path);
  store.write(() => ({ record: { flow: FLOW, mark: null }, value: null }));
  const db = new Database(folder.path);
  db.run("INSERT INTO archive (at, flow) VALUES ('x', '{}')");
  db.close();
  expect(() => store.archived()).toThrow("holds what no writ wrote");
  expect(() => flowStore(join(import.meta.dir, "flow.test.ts")).read()).toThrow("cannot be used");
});

test("a locked store is read, and given up by a writer who waited long enough", () => {
  using folder = place();
  flowStore(folder.path).write(() => ({ record: { flow: FLOW, mark: null }, value: null }));
  const db = new Database(folder.path);
  db.run("BEGIN IMMEDIATE");
  const store = flowStore(folder.path, 20);
  expect(store.read().flow).toEqual(FLOW);
  const write = () => store.write(() => ({ record: { flow: INITIAL_FLOW, mark: null }, value: null }));
  expect(write).toThrow(`store is locked: ${folder.path}`);
  db.run("ROLLBACK");
  db.close();
  write();
  expect(store.read().flow).toEqual(INITIAL_FLOW);
});

test("eight writers at once: each change is made on the one before it", async () => {
  using folder = place();
  const script = `
    import { flowStore } from ${JSON.stringify(join(import.meta.dir, "..", "..", "src", "store", "flow.ts"))};
    const store = flowStore(${JSON.stringify(folder.path)});
    for (let count = 0; count < 10; count++) {
      store.write(({ flow, mark }) => ({
        record: { flow: { ...flow, tasks: [...flow.tasks, { name: String(flow.tasks.length), status: "pending" }] }, mark },
        value: null,
      }));
    }
  `;
  const writers = Array.from({ length: 8 }, () => Bun.spawn([process.execPath, "-e", script], { stderr: "pipe" }));
  const ends = await Promise.all(writers.map((writer) => writer.exited));
  expect(ends.every((exit) => exit === 0)).toBe(true);
  expect(
    flowStore(folder.path)
      .read()
      .flow.tasks.map(({ name }) => name),
  ).toEqual(Array.from({ length: 80 }, (_, index) => String(index)));
}, 20_000);
