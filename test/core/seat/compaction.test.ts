import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CallLedger } from "../../../src/core/seat/call-ledger.ts";
import { compact } from "../../../src/core/seat/compaction.ts";
import { type History, messagesOf, type ToolResult, type Turn } from "../../../src/core/seat/history.ts";
import { messageBytes } from "../../../src/core/seat/window.ts";

type Said = { readonly text: string; readonly isPinned?: boolean };

/** One turn for each list; ids are `<step>.<place>`. */
function history(...turns: readonly (readonly Said[])[]): History {
  return { system: "system", user: "goal", turns: turns.map((said, at) => turn(at + 1, said)) };
}

function turn(step: number, said: readonly Said[]): Turn {
  const results = said.map(
    ({ text, isPinned = false }, index): ToolResult => ({
      call_id: `${step}.${index}`,
      tool: "read_file",
      text,
      state: "whole",
      isPinned,
    }),
  );
  const calls = results.map(({ call_id }) => ({
    id: call_id,
    type: "function" as const,
    function: { name: "read_file", arguments: '{"path":"a"}' },
  }));
  return { step, content: "", calls, results };
}

const size = (from: History) => messageBytes(messagesOf(from, null));
const states = (from: History) => from.turns.map(({ results }) => results.map(({ state }) => state));
const long = (letter: string, length = 5000) => letter.repeat(length);

describe("compact()", () => {
  test("leaves a conversation alone that fits", () => {
    const given = history([{ text: long("a") }], [{ text: long("a") }]);
    expect(compact(given, size(given))).toEqual({ history: given, lost: [], fits: true });
  });

  test("first takes out what a later result repeats, which loses nothing", () => {
    const given = history([{ text: long("a") }], [{ text: long("b") }], [{ text: long("a") }]);
    const { history: compacted, lost, fits } = compact(given, size(given) - 1);
    expect(fits).toBe(true);
    expect(lost).toEqual([]);
    expect(compacted.turns[0]?.results[0]?.text).toBe("(the same as the later result of read_file, call 3.0)");
    expect(states(compacted)).toEqual([["reference"], ["whole"], ["whole"]]);
  });

  test("then keeps 600 characters at both ends, the oldest first, and never cuts the newest", () => {
    const given = history([{ text: long("a") }], [{ text: long("b") }], [{ text: long("c") }]);
    const once = compact(given, size(given) - 1);
    expect(states(once.history)).toEqual([["ends"], ["whole"], ["whole"]]);
    expect(once.history.turns[0]?.results[0]?.text).toBe(
      `${long("a", 600)}\n[… 3800 characters cut …]\n${long("a", 600)}`,
    );
    expect(once.lost).toEqual(["1.0"]);
    const twice = compact(once.history, size(once.history) - 1);
    expect(states(twice.history)).toEqual([["ends"], ["ends"], ["whole"]]);
    expect(twice.lost).toEqual(["2.0"]);
  });

  test("then leaves a word of what was there, then takes whole turns out", () => {
    const given = history([{ text: long("a") }], [{ text: long("b") }], [{ text: long("c") }]);
    expect(states(compact(given, 6500).history)).toEqual([["marker"], ["ends"], ["whole"]]);
    const { history: compacted, lost, fits } = compact(given, 5100);
    expect(states(compacted)).toEqual([["whole"]]);
    expect(lost).toEqual(["1.0", "2.0"]);
    expect(fits).toBe(true);
  });

  test("cuts what was read at first last of all", () => {
    const seeded = { ...turn(0, [{ text: long("s"), isPinned: true }]), step: 0 };
    const given = { ...history([{ text: long("a") }], [{ text: long("b") }]), turns: [] as Turn[] };
    given.turns = [seeded, ...history([{ text: long("a") }], [{ text: long("b") }]).turns];
    expect(states(compact(given, 10_100).history)).toEqual([["whole"], ["whole"]]);
    expect(states(compact(given, 9_000).history)).toEqual([["ends"], ["whole"]]);
    expect(states(compact(given, 5_200).history)).toEqual([["marker"], ["whole"]]);
  });

  test("says when nothing is left to take", () => {
    const given = history([{ text: long("a") }]);
    expect(compact(given, 100)).toEqual({ history: given, lost: [], fits: false });
  });

  test("counts what is said behind the conversation", () => {
    const given = history([{ text: long("a") }], [{ text: long("b") }]);
    expect(compact(given, size(given) + 3, "four").lost).toEqual(["1.0"]);
    expect(compact(given, size(given) + 4, "four").lost).toEqual([]);
  });
});

const said = fc.record({
  text: fc.oneof(fc.constantFrom("x", long("a", 2000), long("a", 900), long("é", 3000)), fc.string()),
  isPinned: fc.boolean(),
});
const histories = fc
  .array(fc.array(said, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 })
  .map((turns) => history(...turns));

describe("compaction, for any conversation", () => {
  test("is the same for the same, and going on from where it stands changes nothing", () => {
    fc.assert(
      fc.property(histories, fc.nat(20_000), (given, budget) => {
        const once = compact(given, budget);
        expect(compact(given, budget)).toEqual(once);
        expect(compact(once.history, budget)).toEqual({ ...once, lost: [] });
      }),
    );
  });

  test("never grows, gives nothing back, and keeps what was asked and the newest result", () => {
    fc.assert(
      fc.property(histories, fc.nat(20_000), fc.nat(20_000), (given, one, other) => {
        const [more, less] = [Math.max(one, other), Math.min(one, other)];
        const first = compact(given, more);
        const second = compact(first.history, less);
        expect(size(first.history)).toBeLessThanOrEqual(size(given));
        expect(size(second.history)).toBeLessThanOrEqual(size(first.history));
        const whole = new Set(wholeTexts(first.history));
        for (const text of wholeTexts(second.history)) expect(whole.has(text)).toBe(true);
        for (const { history: compacted } of [first, second]) {
          expect([compacted.system, compacted.user]).toEqual(["system", "goal"]);
          expect(compacted.turns.at(-1)?.results.at(-1)).toEqual(given.turns.at(-1)?.results.at(-1) as ToolResult);
        }
      }),
    );
  });

  test("keeps a result behind each call", () => {
    fc.assert(
      fc.property(histories, fc.nat(20_000), (given, budget) => {
        for (const { calls, results } of compact(given, budget).history.turns) {
          expect(results.map(({ call_id }) => call_id)).toEqual(calls.map(({ id }) => id));
        }
      }),
    );
  });
});

function wholeTexts({ turns }: History): readonly string[] {
  return turns.flatMap(({ results }) => results.filter(({ state }) => state === "whole").map(({ call_id }) => call_id));
}

describe("CallLedger", () => {
  const caps = { same_tool: 8, same_write_tool: 16, documents: 5, max_calls_per_tool: {} };
  const tools = ["list_dir", "read_file", "edit_file", "finish"];
  const ran = (ledger: CallLedger, name: string, given: string, more = {}) =>
    ledger.record(name, given, { call_id: given, hasWritten: false, isRerun: false, ...more });

  test("refuses a tool that is not there, and names those that are", () => {
    expect(new CallLedger(tools, caps).admit("write_file", "{}")).toEqual({
      ok: false,
      message: "NOT performed: write_file is not available; available: list_dir, read_file, edit_file, finish",
    });
  });

  test.each([
    { name: "list_dir", cap: 8 },
    { name: "read_file", cap: 10 },
    { name: "edit_file", cap: 16 },
  ])("takes $name away behind $cap calls", ({ name, cap }) => {
    const ledger = new CallLedger(tools, caps);
    for (let call = 0; call < cap; call += 1) expect(ledger.admit(name, `${call}`).ok).toBe(true);
    expect(ledger.admit(name, "more")).toEqual({
      ok: false,
      message: `NOT performed: ${name} may be called ${cap} times and is no longer available; use the results you have`,
    });
    expect(ledger.available()).not.toContain(name);
  });

  test("refuses the same call, and takes the tool away from a seat that is stuck on it", () => {
    const ledger = new CallLedger(tools, caps);
    expect(ledger.admit("read_file", "a").ok).toBe(true);
    ran(ledger, "read_file", "a");
    for (let call = 1; call < 10; call += 1) {
      expect(ledger.admit("read_file", "a")).toEqual({
        ok: false,
        message: "NOT performed: you made this very call before; use the result you have, or give the final answer",
      });
    }
    expect(ledger.available()).toContain("read_file");
    ledger.admit("read_file", "a");
    expect(ledger.available()).not.toContain("read_file");
  });

  test("lets the same call through once when its result was lost", () => {
    const ledger = new CallLedger(tools, caps);
    ran(ledger, "read_file", "a");
    ledger.lose(["a"]);
    expect(ledger.admit("read_file", "a")).toEqual({ ok: true, isRerun: true });
    ran(ledger, "read_file", "a", { isRerun: true, call_id: "again" });
    ledger.lose(["again"]);
    expect(ledger.admit("read_file", "a").ok).toBe(false);
  });

  test("lets the same call through behind a write, and not the write itself", () => {
    const ledger = new CallLedger(tools, caps);
    ran(ledger, "read_file", "a");
    ran(ledger, "edit_file", "b", { hasWritten: true });
    expect(ledger.admit("edit_file", "b").ok).toBe(false);
    expect(ledger.admit("read_file", "a")).toEqual({ ok: true, isRerun: false });
  });

  test("counts what was carried out against the caps of the config, which only narrow", () => {
    const ledger = new CallLedger(tools, { ...caps, max_calls_per_tool: { list_dir: 1, read_file: 99 } });
    expect(ledger.admit("list_dir", "a").ok).toBe(true);
    expect(ledger.admit("list_dir", "a").ok).toBe(true);
    ran(ledger, "list_dir", "a");
    expect(ledger.admit("list_dir", "b").ok).toBe(false);
    for (let call = 0; call < 10; call += 1) ledger.admit("read_file", `${call}`);
    expect(ledger.admit("read_file", "more").ok).toBe(false);
  });

  test("never takes finish away", () => {
    const ledger = new CallLedger(tools, caps);
    for (let call = 0; call < 100; call += 1) expect(ledger.admit("finish", `${call}`).ok).toBe(true);
  });
});
