import { expect, test } from "bun:test";
import type { ToolRecord } from "../../src/core/record/tool-record.ts";
import { capture } from "../support/turn.ts";
import { scriptedWorld } from "../support/world.ts";

const ID = "a0000000000000001.1";

function record(seq: number, more: Partial<ToolRecord> = {}): ToolRecord {
  return { ...capture("bun test"), contract_id: ID, seq, prev_digest: "p", digest: `d${seq}`, ...more };
}

test("a record comes back as it was put in", () => {
  using world = scriptedWorld();
  const records = [
    record(1, { argv: ["bun", "test", ""], failed: true, ordered: false, output: "é\n", tail: "…", exit_code: null }),
    record(2, { tool: "read", command: null, path: "src/a.ts", truncated: true, source: "hook", harness: "codex" }),
  ];
  world.store.write((tables) => {
    for (const one of records) tables.records.insert(one);
  });
  expect(world.store.read((tables) => tables.records.list(ID))).toEqual(records);
  expect(world.store.read((tables) => tables.records.newest(ID))).toEqual({ seq: 2, digest: "d2" });
  expect(world.store.read((tables) => tables.records.newest("nobody"))).toBeNull();
});

test("two records of one place in a chain cannot be", () => {
  using world = scriptedWorld();
  world.store.write((tables) => tables.records.insert(record(1)));
  expect(() => world.store.write((tables) => tables.records.insert(record(1)))).toThrow(/UNIQUE/);
});

test("the same tool use twice in one contract cannot be; in another one it can, and so can none", () => {
  using world = scriptedWorld();
  const insert = (one: ToolRecord) => world.store.write((tables) => tables.records.insert(one));
  insert(record(1, { tool_use_id: "t" }));
  expect(() => insert(record(2, { tool_use_id: "t" }))).toThrow(/UNIQUE/);
  insert(record(1, { tool_use_id: "t", contract_id: "other" }));
  insert(record(2));
  insert(record(3));
  world.store.read(({ records }) => {
    expect([records.hasToolUse(ID, "t"), records.hasToolUse(ID, "u"), records.hasToolUse("nobody", "t")]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

test("bound is a fact of its own: kept once, by the first, without any record", () => {
  using world = scriptedWorld();
  world.store.write((tables) => tables.records.bind(ID, "hook", "first"));
  world.store.write((tables) => tables.records.bind(ID, "run", "second"));
  expect(world.sql("SELECT * FROM tool_bindings")).toEqual([{ contract_id: ID, source: "hook", bound_at: "first" }]);
  world.store.read(({ records }) => {
    expect([records.isBound([ID]), records.isBound(["x", ID]), records.isBound(["x"]), records.isBound([])]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

test.each(['["bun", 1]', "no json", "{}"])(
  "argv edited by hand into %s is not known, and the others are read",
  (text) => {
    using world = scriptedWorld();
    world.store.write((tables) => {
      tables.records.insert(record(1, { argv: ["bun"] }));
      tables.records.insert(record(2, { argv: ["bun"] }));
    });
    world.sql("UPDATE tool_records SET argv = ? WHERE seq = 1", text);
    expect(world.store.read((tables) => tables.records.list(ID)).map((one) => one.argv)).toEqual([null, ["bun"]]);
  },
);
