import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { answerBoard, PAGE_LIMIT } from "../../src/board/answer.ts";
import type { BoardWorld } from "../../src/board/world.ts";
import { openBoardStore } from "../../src/store/board.ts";
import { sha256 } from "../../src/store/drafts.ts";
import { add, born, closed, everything, fill, finalize, ran, set } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

let world: ScriptedWorld;
let board: BoardWorld;

beforeEach(() => {
  world = scriptedWorld();
  board = {
    openStore: () => openBoardStore(world.databasePath),
    database: world.databasePath,
    now: () => world.clock.ms(),
    sha256,
  };
});
afterEach(() => world[Symbol.dispose]());

function get(path: string, query = "") {
  return answerBoard(board, { path, query });
}

/** The words of a page, without its tags. */
function textOf(path: string, query = ""): string {
  return get(path, query)
    .body.replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
}

describe("answerBoard()", () => {
  test.each([
    ["", 200, "text/html; charset=utf-8"],
    ["approvals", 200, "text/html; charset=utf-8"],
    ["turn/1", 200, "text/html; charset=utf-8"],
    ["turn/2", 404, "text/html; charset=utf-8"],
    ["nothing", 404, "text/html; charset=utf-8"],
    ["board.css", 200, "text/css; charset=utf-8"],
    ["board.js", 200, "text/javascript; charset=utf-8"],
    ["icon.svg", 200, "image/svg+xml"],
  ])("of %j has status %d and type %s", (path, status, type) => {
    born(world);
    const answer = get(path);
    expect([answer.status, answer.type]).toEqual([status, type]);
    expect(answer.body.length).toBeGreaterThan(100);
  });

  test("says that there is no store, and finds one that appears later", () => {
    let isThere = false;
    board = { ...board, openStore: () => (isThere ? openBoardStore(world.databasePath) : null) };
    expect(textOf("")).toContain("There is no store yet");
    expect(get("").status).toBe(200);
    expect(textOf("turn/1")).toContain("There is no store yet");
    isThere = true;
    born(world, { goal: "Mend it" });
    expect(textOf("")).toContain("Mend it");
  });

  test("answers 503 with the reason when the store cannot be read now", () => {
    world.sql("PRAGMA user_version = 99");
    expect(get("").status).toBe(503);
    expect(textOf("")).toContain("this writ knows");
    expect(get("board.css").status).toBe(200);
  });

  test("lets a defect through, and closes the store behind it", () => {
    let closes = 0;
    const broken = {
      read: () => {
        throw new TypeError("kaput");
      },
      close: () => {
        closes += 1;
      },
    };
    board = { ...board, openStore: () => broken };
    expect(() => get("")).toThrow("kaput");
    expect(closes).toBe(1);
  });

  test("changes nothing, whatever is asked for", () => {
    const id = closed(world);
    ran(world, id, "make");
    const before = everything(world);
    for (const path of ["", "turn/1", "approvals", "board.js", "no"]) get(path);
    get("", "state=any&q=x");
    expect(everything(world)).toEqual(before);
  });
});

describe("the page of a turn", () => {
  test("holds the claim against the record, and says what its chain is worth", () => {
    const id = born(world);
    ran(world, id, "bun test", { exit_code: 1, output: "1 fail\n", output_bytes: 7 });
    ran(world, id, "bun test", { exit_code: 0, output: "0 fail\n", output_bytes: 7 });
    fill(world, id, {
      evidence_report: { verification: { type: "command", command: "bun test", result: "pass" } },
      agent_status: { agent_state: "COMPLETE", next_action: "done" },
      conclusion: "It holds.",
    });
    add(world, id, "evidence_report.verbatim_outputs", "no command");
    finalize(world, id);
    const text = textOf("turn/1");
    expect(text).toContain("Its last run record 2 exit 0");
    expect(text).toContain("The chain of 2 records is whole");
    expect(text).toContain("the quote names no command");
    expect(text).toContain("exit 1");

    world.sql("UPDATE tool_records SET exit_code = 0 WHERE seq = 1");
    expect(textOf("turn/1")).toContain("The chain of records is broken at 1");
    world.sql("DELETE FROM tool_records");
    expect(textOf("turn/1")).toContain("the head that the close stored is not there");
  });

  test("shows both kept ends of an output and what lies between them", () => {
    const id = born(world);
    ran(world, id, "make", { output: "the head", tail: "the tail", output_bytes: 1016, truncated: true });
    expect(textOf("turn/1")).toMatch(/the head +1,000 bytes here were not kept +the tail/);
  });

  test("has pages of its timeline, and says which is which", () => {
    const id = born(world);
    for (let run = 0; run < 60; run++) ran(world, id, `make ${run}`);
    expect(textOf("turn/1")).toContain("make 59");
    expect(textOf("turn/1")).not.toContain("make 9 ");
    expect(get("turn/1").body).toContain('rel="next"');
    const older = get("turn/1", "part=2").body;
    expect(older).toContain("make 9<");
    expect(older).not.toContain("make 59<");
    expect(older).toContain('rel="prev"');
    expect(older).not.toContain('rel="next"');
    expect(textOf("turn/1", "part=99")).toContain("Nothing here");
  });

  test("leads from the claim to the page of the timeline that has its run", () => {
    const id = born(world);
    for (let run = 0; run < 120; run++) ran(world, id, `make ${run}`);
    fill(world, id, { evidence_report: { verification: { type: "command", command: "make 3", result: "pass" } } });
    const place = /href="\.\.\/turn\/1\?([^"#]*)#run-4"/.exec(get("turn/1").body)?.[1]?.replace("&amp;", "&") ?? "";
    expect(get("turn/1", place).body).toContain('id="run-4"');
  });

  test("shows a chain from any of its links, and the turns under a turn", () => {
    const first = closed(world);
    set(world, first, "conclusion", "again");
    born(world, { parent_handoff_id: 1, goal: "Second opinion" });
    expect(textOf("turn/1")).toContain("2 links");
    expect(textOf("turn/2")).toContain("2 links");
    expect(textOf("turn/1")).toContain("Second opinion");
    expect(get("turn/2").body).toContain('href="../turn/1"');
  });
});

describe("the list", () => {
  test("has pages", () => {
    for (let turn = 0; turn < 55; turn++) born(world);
    const first = get("", "state=DISPATCHED").body;
    expect(first.match(/class="card"/g)).toHaveLength(50);
    const older = /href="\.\/\?([^"]*)">Older/.exec(first)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect(get("", older).body.match(/class="card"/g)).toHaveLength(5);
    expect(get("").body.match(/class="card"/g)).toHaveLength(8);
    expect(textOf("")).toContain("47 more");
  });
});

describe("a page", () => {
  test.each(['"', "\0", "\u{e0041}", "<\u202e"])("is never too large to be sent: everything full of %j", (piece) => {
    const full = piece.repeat(4000);
    const id = born(world, { agent: full, goal: full });
    const entries = Array.from({ length: 50 }, () => full);
    const lists = [
      "patterns_checked",
      "files_checked",
      "key_outputs",
      "verbatim_outputs",
      "open_gaps",
      "cross_layer_impacts",
    ];
    const report = Object.fromEntries(lists.map((name) => [name, entries.slice(0, 4)]));
    fill(world, id, { evidence_report: report, report_prose: full, conclusion: full });
    for (let change = 0; change < 50; change++) {
      const steps = Object.fromEntries(
        Array.from({ length: 14 }, (_, index) => [`k${index}`, `${change}${full}`.slice(0, 4000)]),
      );
      world.sql(
        `INSERT INTO journal (contract_id, change_id, at, pid, verb, path, before, after, draft_sha256)
         SELECT ?, ?, '2026-01-02T00:00:00Z', 1, 'set', 'p' || key, value, value, '' FROM json_each(?)`,
        id,
        1000 + change,
        JSON.stringify(steps),
      );
    }
    for (let approval = 0; approval < 60; approval++) {
      const command_set = Array.from({ length: 25 }, () => ({ command: piece.repeat(300) }));
      const said = { operation: full, rationale: full, scope: full, risk_level: full, rollback: full };
      world.sql(
        `INSERT INTO approvals (id, agent_id, status, fingerprint, payload, created_at)
         VALUES (?, (SELECT agent_id FROM handoffs), ?, ?, ?, '')`,
        `P-${approval}`,
        approval % 2 === 0 ? "pending" : "rejected",
        `${approval}`,
        JSON.stringify({ command_set, ...said }),
      );
    }
    const sizes = ["", "turn/1", "approvals"].map((path) => get(path).body.length);
    expect(Math.max(...sizes)).toBeGreaterThan(1_000_000);
    expect(Math.max(...sizes)).toBeLessThan(PAGE_LIMIT / 2);
  });
});
