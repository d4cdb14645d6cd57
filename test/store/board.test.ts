import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Group } from "../../src/core/board/groups.ts";
import type { BoardTable, Moment } from "../../src/core/board/repository.ts";
import { openBoardStore } from "../../src/store/board.ts";
import {
  born,
  capture,
  closed,
  closing,
  everything,
  fill,
  finalize,
  ran,
  refusalOf,
  rowOf,
  set,
} from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const ANY = { workspace: null, text: null };
let world: ScriptedWorld;

beforeEach(() => {
  world = scriptedWorld();
});
afterEach(() => world[Symbol.dispose]());

function look<T>(unit: (board: BoardTable) => T): T {
  const store = openBoardStore(world.databasePath);
  if (store === null) throw new Error("there is no store");
  try {
    return store.read(unit);
  } finally {
    store.close();
  }
}

function idOf(contractId: string): number {
  return rowOf(world, contractId).id;
}

function words(moments: readonly Moment[]): readonly string[] {
  return moments.map((one) =>
    one.kind === "run" ? `run ${one.record.seq}` : `${one.change.verb} ${one.change.change_id}`,
  );
}

describe("openBoardStore()", () => {
  test("is null where there is no store, and makes none", () => {
    const folder = mkdtempSync(join(tmpdir(), "writ-board-"));
    try {
      expect(openBoardStore(join(folder, "deep", "writ.db"))).toBeNull();
      writeFileSync(join(folder, "empty.db"), "");
      expect(openBoardStore(join(folder, "empty.db"))).toBeNull();
      expect(readFileSync(join(folder, "empty.db"), "utf8")).toBe("");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("refuses a store of a newer writ, and a file that is none", () => {
    world.sql("PRAGMA user_version = 99");
    expect(refusalOf(() => openBoardStore(world.databasePath)).code).toBe("store_too_new");
    const path = join(world.folder, "other.db");
    writeFileSync(path, "no database, but a text that is long enough to be taken for one");
    expect(refusalOf(() => openBoardStore(path)).code).toBe("store_failed");
  });

  test("says that a store is locked, and not that nothing was written", () => {
    const error = refusalOf(() =>
      look(() => {
        throw Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
      }),
    );
    expect([error.code, error.message]).toEqual(["store_busy", `The store "${world.databasePath}" is locked`]);
  });

  test("sees what was committed, and not what is being written", () => {
    born(world);
    const writer = new Database(world.databasePath);
    writer.run("BEGIN IMMEDIATE");
    writer.run("UPDATE handoffs SET agent_name = 'half'");
    expect(look((board) => board.findTurn(1))?.agent_name?.text).toBe("backend-dev");
    writer.run("COMMIT");
    writer.close();
    expect(look((board) => board.findTurn(1))?.agent_name?.text).toBe("half");
  });

  test("cannot write, and changes nothing while it reads", () => {
    const id = closed(world);
    ran(world, id, "make");
    const before = everything(world);
    look((board) => {
      board.countGroups(ANY);
      board.listTurns(null, ANY, null, 10);
      board.findTurn(1);
      board.listMoments(1, "all", 0, 10);
    });
    expect(everything(world)).toEqual(before);
    const db = new Database(world.databasePath, { readonly: true });
    expect(() => db.run("DELETE FROM handoffs")).toThrow("readonly");
    db.close();
  });
});

describe("groups", () => {
  test("are counted and listed by state, the cut ones apart, newest first", () => {
    const blocked = closed(world, "BLOCKED");
    const dispatched = born(world);
    const other = born(world, { workspace: "shop", goal: "Mend the CART" });
    const checkpoint = born(world);
    finalize(world, checkpoint);
    const cut = born(world);
    world.sql("UPDATE handoffs SET cut_reason = 'reaped', agent_state = 'IN_PROGRESS' WHERE contract_id = ?", cut);

    const counts = look((board) => board.countGroups(ANY));
    expect(Object.fromEntries(counts)).toEqual({ BLOCKED: 1, DISPATCHED: 2, IN_PROGRESS: 1, CUT: 1 });
    const ids = (group: Group | null, filter = ANY as { workspace: string | null; text: string | null }) =>
      look((board) => board.listTurns(group, filter, null, 10)).map((turn) => turn.id);
    expect(ids("BLOCKED")).toEqual([idOf(blocked)]);
    expect(ids("DISPATCHED")).toEqual([idOf(other), idOf(dispatched)]);
    expect(ids("CUT")).toEqual([idOf(cut)]);
    expect(ids("IN_PROGRESS")).toEqual([idOf(checkpoint)]);
    expect(ids(null)).toEqual([5, 4, 3, 2, 1]);
    expect(ids(null, { workspace: "shop", text: null })).toEqual([idOf(other)]);
    expect(ids(null, { workspace: null, text: "the cart" })).toEqual([idOf(other)]);
    expect(ids(null, { workspace: null, text: blocked.slice(3, 12) })).toContain(idOf(blocked));
    expect(ids(null, { workspace: "shop", text: "%" })).toEqual([]);
    expect(look((board) => board.listWorkspaces(9)).map((one) => one.text)).toEqual(["me", "shop"]);
  });

  test("are paged by id", () => {
    for (let turn = 0; turn < 5; turn++) born(world);
    const page = (before: number | null) => look((board) => board.listTurns("DISPATCHED", ANY, before, 2));
    expect(page(null).map((turn) => turn.id)).toEqual([5, 4]);
    expect(page(4).map((turn) => turn.id)).toEqual([3, 2]);
    expect(page(1)).toEqual([]);
  });
});

describe("a turn", () => {
  test("counts its writes and records, and knows its last run and when it was last seen", () => {
    const id = born(world, { goal: "Mend it" });
    world.advance(60);
    set(world, id, "conclusion", "half way");
    ran(world, id, "make", { exit_code: 2 });
    ran(world, id, "", { tool: "read", command: null, path: "a.txt", exit_code: null });
    const turn = look((board) => board.listTurns(null, ANY, null, 1))[0];
    expect(turn).toMatchObject({
      changes: 2,
      records: 2,
      last_run: { seq: 1, exit_code: 2, signal: null, failed: false },
      last_at: "2026-01-01T00:01:00Z",
      advice: null,
      skipped: null,
    });
  });

  test("counts advice and skipped claims, and nothing where the checks are no JSON", () => {
    closed(world);
    const checks = { bound: true, advice: [{}, {}], skipped: [{}] };
    world.sql("UPDATE handoffs SET content_checks = ?", JSON.stringify(checks));
    expect(look((board) => board.findTurn(1))).toMatchObject({ advice: 2, skipped: 1 });
    for (const text of ["no json", "[]", '{"advice":5}', ""]) {
      world.sql("UPDATE handoffs SET content_checks = ?", text);
      const turn = look((board) => board.findTurn(1));
      expect([turn?.advice ?? 0, turn?.skipped ?? 0]).toEqual([0, 0]);
    }
  });

  test("is null for an id that is none", () => {
    expect(look((board) => board.findTurn(1))).toBeNull();
    expect(look((board) => board.listMoments(1, "all", 0, 5))).toEqual([]);
    expect(look((board) => board.listChain(1))).toEqual([]);
    expect(look((board) => board.listRecords(1, 5))).toEqual([]);
  });

  test("keeps what stands behind a NUL, and cuts between characters", () => {
    const id = born(world);
    ran(world, id, "printf", { output: "a\0b", tail: null });
    ran(world, id, "long", { output: `x${"é".repeat(5000)}`, output_bytes: 10_001 });
    const [long, short] = look((board) => board.listMoments(1, "runs", 0, 5));
    expect(short?.kind === "run" && short.record.output).toEqual({ text: "a\0b", size_bytes: 3 });
    const output = long?.kind === "run" ? long.record.output : null;
    expect(output?.size_bytes).toBe(10_001);
    expect(output?.text).toBe(`x${"é".repeat(1999)}`);
    expect(long?.kind === "run" && long.record.output_bytes).toBe(10_001);
  });

  test("reads a document up to a bound", () => {
    const id = born(world);
    set(world, id, "report_prose", "x".repeat(2_000_000));
    const turn = look((board) => board.findTurn(1));
    expect(turn?.raw_handoff_json.text.length).toBe(1024 * 1024);
    expect(turn?.raw_handoff_json.size_bytes).toBeGreaterThan(2_000_000);
  });
});

describe("the timeline", () => {
  test("is newest first: writes behind the runs of their second, the birth before all", () => {
    const id = born(world);
    ran(world, id, "one", { ended_at: "2026-01-01T00:00:00Z" });
    set(world, id, "conclusion", "first");
    world.advance(10);
    ran(world, id, "two", { ended_at: "2026-01-01T00:00:09Z" });
    set(world, id, "conclusion", "second");
    const all = look((board) => board.listMoments(1, "all", 0, 20));
    expect(words(all)).toEqual(["set 3", "run 2", "set 2", "run 1", "dispatch 1"]);
    expect(words(look((board) => board.listMoments(1, "all", 1, 2)))).toEqual(["run 2", "set 2"]);
    expect(words(look((board) => board.listMoments(1, "runs", 0, 20)))).toEqual(["run 2", "run 1"]);
    expect(words(look((board) => board.listMoments(1, "writes", 0, 20)))).toEqual(["set 3", "set 2", "dispatch 1"]);
  });

  test("puts a record without a time where the one before it stands", () => {
    const id = born(world);
    ran(world, id, "one", { ended_at: "2026-01-01T00:05:00Z" });
    ran(world, id, "two", { started_at: null, ended_at: null });
    expect(words(look((board) => board.listMoments(1, "all", 0, 20)))).toEqual(["run 2", "run 1", "dispatch 1"]);
  });

  test("reads the first paths of a change and tells how many there are", () => {
    const id = born(world);
    const lists = ["patterns_checked", "key_outputs", "open_gaps", "cross_layer_impacts", "verbatim_outputs"];
    const report = Object.fromEntries(lists.map((name) => [name, ["x"]]));
    const verification = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, index]));
    fill(world, id, { evidence_report: { ...report, verification: { type: "self_review", reviewed: "the diff" } } });
    fill(world, id, { evidence_report: { verification } });
    const [newest] = look((board) => board.listMoments(1, "writes", 0, 1));
    if (newest?.kind !== "write") throw new Error("it is no write");
    expect([newest.change.entries.length, newest.change.paths]).toEqual([12, 20]);
    expect(newest.change.entries[0]).toEqual({
      path: { text: "evidence_report.verification.k0", size_bytes: 31 },
      before: null,
      after: { text: "0", size_bytes: 1 },
    });
  });

  test("finds the last run of a command with exactly its text", () => {
    const id = born(world);
    ran(world, id, "make", { exit_code: 1 });
    ran(world, id, "make", { exit_code: 0 });
    ran(world, id, "make all", { exit_code: 5 });
    expect(look((board) => board.findRun(1, "make"))).toMatchObject({ seq: 2, exit_code: 0 });
    expect(look((board) => board.findRun(1, "mak"))).toBeNull();
  });

  test("hands out every record whole, up to a number and a size", () => {
    const id = born(world);
    for (let run = 0; run < 3; run++) ran(world, id, "make");
    expect(look((board) => board.listRecords(1, 3))?.length).toBe(3);
    expect(look((board) => board.listRecords(1, 2))).toBeNull();
    world.sql("UPDATE tool_records SET command = ?", "x".repeat(3 * 1024 * 1024));
    expect(look((board) => board.listRecords(1, 3))).toBeNull();
  });
});

describe("the chain", () => {
  test("is told from any of its links, oldest first", () => {
    const first = closed(world);
    const second = set(world, first, "conclusion", "again").draft_id;
    fill(world, second, closing("BLOCKED"));
    finalize(world, second);
    set(world, second, "conclusion", "and again");
    for (const id of [1, 2, 3]) expect(look((board) => board.listChain(id)).map((link) => link.id)).toEqual([1, 2, 3]);
  });

  test("ends where it was bent into a circle by hand", () => {
    for (let turn = 0; turn < 3; turn++) born(world);
    for (const [id, to] of [
      [1, 3],
      [2, 1],
      [3, 2],
    ] as const) {
      world.sql("UPDATE handoffs SET continues_handoff_id = ? WHERE id = ?", to, id);
    }
    for (const id of [1, 2, 3]) {
      expect(
        look((board) => board.listChain(id))
          .map((link) => link.id)
          .sort(),
      ).toEqual([1, 2, 3]);
    }
  });

  test("lists the turns under a turn", () => {
    const parent = closed(world);
    born(world, { parent_handoff_id: idOf(parent) });
    born(world, { parent_handoff_id: idOf(parent) });
    expect(look((board) => board.listChildren(1, 5)).map((turn) => turn.id)).toEqual([3, 2]);
    expect(look((board) => board.listChildren(1, 1))).toHaveLength(1);
  });
});

describe("evidence and approvals", () => {
  test("evidence is what the turn recorded and what it cites", () => {
    const id = born(world);
    world.sql("INSERT INTO briefs (workspace, name, created_at) VALUES ('me', 'b', '')");
    for (const source of [id, null, null]) {
      world.sql(
        `INSERT INTO evidence (brief_id, ac_id, type, polarity, text, source_contract_id, source_entry_hash, created_at)
         VALUES (1, 'AC-1', 'text', 'positive', 'seen', ?, ?, '')`,
        source,
        source,
      );
    }
    const rows = look((board) => board.listEvidence(1, [3, 77], 10));
    expect(rows.map((row) => [row.id, row.own])).toEqual([
      [1, true],
      [3, false],
    ]);
    expect(rows[0]).toMatchObject({ brief: { text: "b" }, ac_id: { text: "AC-1" }, text: { text: "seen" } });
  });

  test("approvals are pending or decided, of everybody or of a turn's agent", () => {
    const agent = rowOf(world, born(world)).agent_id;
    const ask = (id: string, who: string | null, status: string) =>
      world.sql(
        `INSERT INTO approvals (id, agent_id, status, fingerprint, payload, created_at)
         VALUES (?, ?, ?, ?, '{}', '2026-01-01T00:00:00Z')`,
        id,
        who,
        status,
        id,
      );
    ask("P-1", agent, "pending");
    ask("P-2", null, "pending");
    ask("P-3", agent, "rejected");
    const ids = (turn_id: number | null, pending: boolean | null) =>
      look((board) => board.listApprovals({ turn_id, pending, limit: 9 })).map((one) => [one.id.text, one.turn_id]);
    expect(look((board) => board.countPending())).toBe(2);
    expect(ids(null, true)).toEqual([
      ["P-2", null],
      ["P-1", 1],
    ]);
    expect(ids(null, false)).toEqual([["P-3", 1]]);
    expect(ids(1, null)).toEqual([
      ["P-3", 1],
      ["P-1", 1],
    ]);
  });
});

test("a capture of a hook comes back as it was kept", () => {
  const id = born(world);
  ran(world, id, "make", capture("make", { source: "hook", harness: "codex", exit_code: null, signal: "SIGKILL" }));
  const [moment] = look((board) => board.listMoments(1, "runs", 0, 1));
  expect(moment).toMatchObject({
    kind: "run",
    record: { source: "hook", harness: "codex", tool: "bash", exit_code: null, signal: "SIGKILL", ordered: true },
  });
});
