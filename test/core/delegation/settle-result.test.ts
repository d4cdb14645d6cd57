import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { listFidelityNotes } from "../../../src/core/delegation/list-fidelity.ts";
import { readWireResult } from "../../../src/core/delegation/read-wire-result.ts";
import { retryBudgetSec, retryNeed } from "../../../src/core/delegation/retry.ts";
import { settleResult } from "../../../src/core/delegation/settle-result.ts";
import type { WireResult } from "../../../src/core/delegation/wire-result.ts";
import { contractOf, deferOf, jobOf, wireResultOf } from "../../support/legs.ts";

const DOCUMENTS = [{ name: "d.md", text: "412 pallets in bay QX-9" }];
const SCHEMA = { properties: { summary: { type: "string" }, items: { type: "array" } }, required: ["summary"] };
const STRUCTURED = '{"summary":"412 pallets"}';

const settle = (contract: object, result: Partial<WireResult>) => {
  const job = jobOf(contractOf({ context: DOCUMENTS, ...contract }));
  return settleResult(job, wireResultOf(job, result));
};

describe("a completed result", () => {
  test("succeeds where every check passes, and where there is none", () => {
    expect(settle({ acceptance: ["contains:412"] }, {})).toMatchObject({
      status: "succeeded",
      reason: "",
      failures: [],
    });
    expect(settle({}, {})).toMatchObject({ status: "succeeded", outcomes: [], authority: null });
  });

  test("fails verification where one check fails, and may be tried elsewhere", () => {
    const settled = settle({ acceptance: ["contains:412", "contains:QX-9"] }, {});
    expect(settled).toMatchObject({
      status: "failed_verification",
      defer_class: "",
      failures: ['contains:QX-9: "QX-9" is not in the output'],
      reason: 'contains:QX-9: "QX-9" is not in the output',
      may_retry: true,
    });
    expect(settled.result?.output).toBe("there are 412");
  });

  test("fails verification where a check is unknown, and stays where no seat could close it", () => {
    const unreachable = settle(
      { acceptance: ["contains:@field=none:412"], output_schema: SCHEMA },
      { structured: STRUCTURED },
    );
    expect(unreachable).toMatchObject({ status: "failed_verification", may_retry: false });
    expect(unreachable.failures[0]).toContain("unknown at field authority");
  });

  test("tells the authority only of what was accepted whole", () => {
    const acceptance = ["contains:@grounded:412", "contains:@answer:412"];
    expect(settle({ acceptance }, {}).authority).toBe("answer");
    expect(settle({ acceptance: [...acceptance, "contains:412"] }, {}).authority).toBeNull();
    expect(settle({ acceptance: ["contains:@grounded:999"] }, {}).authority).toBeNull();
  });

  test("an excused fingerprint is noted, and takes the authority away", () => {
    const absent = '{"summary":"the documents do not say","items":[]}';
    const fingerprint = "regex:@answer:(?P<docanchor>pallets)";
    const settled = settle(
      { acceptance: [fingerprint, "contains:@answer:412"], output_schema: SCHEMA },
      { structured: absent, output: "412 is not there" },
    );
    expect(settled).toMatchObject({ status: "succeeded", authority: null, verdict: "neutral" });
    expect(settled.note).toBe(`excused: ${fingerprint}: the answer says that the documents do not hold it`);
  });

  test("a failed fingerprint strikes the place", () => {
    expect(settle({ acceptance: ["regex:(?P<docanchor>zebra)"] }, {})).toMatchObject({
      status: "failed_verification",
      verdict: "strike",
    });
    expect(settle({ acceptance: ["regex:(?P<docanchor>412)"] }, {}).verdict).toBe("pass");
    expect(settle({ acceptance: ["contains:zebra"] }, {}).verdict).toBeNull();
  });

  test("lists that the answer does not have are noted, and take the authority away", () => {
    const structured = '{"summary":"412","items":["One  thing","two","three"]}';
    const fields = { structured, output: "412: one thing", repack: { mode: "grammar", attempts: 1, ms: 1 } } as const;
    const settled = settle({ acceptance: ["contains:@answer:412"], output_schema: SCHEMA }, fields);
    expect(settled).toMatchObject({
      status: "succeeded",
      authority: null,
      note: "list fidelity: items: 2 of 3 items are not in the answer",
    });
    const lossless = { ...fields, repack: { mode: "lossless", attempts: 1, ms: 1 } } as const;
    expect(settle({ acceptance: ["contains:@answer:412"], output_schema: SCHEMA }, lossless).authority).toBe("answer");
  });
});

describe("precedence", () => {
  const failing = { acceptance: ["contains:zebra"] };

  test("failed before deferred: a result for another contract is never looked at", () => {
    const job = jobOf(contractOf(failing));
    const other = { ...deferOf(job, "budget", "wall timeout after 5s"), job_id: "wrt-other" };
    expect(settleResult(job, other)).toMatchObject({
      status: "failed",
      reason: "result is for another contract: its job id is not the one that was sent",
      defer_class: "",
      result: null,
    });
    const changed = wireResultOf(job, { contract_sha256: "0" });
    expect(settleResult(job, changed).reason).toBe(
      "result is for another contract: its digest is not the one that was sent",
    );
  });

  test("deferred before failed verification: checks are not evaluated", () => {
    const job = jobOf(contractOf(failing));
    expect(settleResult(job, deferOf(job, "budget", "wall timeout after 5s"))).toMatchObject({
      status: "deferred",
      reason: "wall timeout after 5s",
      defer_class: "budget",
      outcomes: null,
      failures: [],
    });
  });

  test("failed verification before succeeded", () => {
    expect(settle({ acceptance: ["contains:412", "contains:zebra"] }, {}).status).toBe("failed_verification");
  });

  test("a class that nobody knows stays a text, and a defer without a reason gets one", () => {
    const job = jobOf(contractOf());
    const settled = settleResult(job, wireResultOf(job, { deferred: true, defer_class: "weather" as "", reason: " " }));
    expect(settled).toMatchObject({ status: "deferred", defer_class: "weather", reason: "the place gave no reason" });
  });
});

describe("an answer that is none", () => {
  test.each<[string, object, Partial<WireResult>, string]>([
    ["an empty one", {}, { output: "" }, "empty final answer"],
    ["a blank one", {}, { output: " \n\t" }, "empty final answer"],
    ["an empty one without a structured form", { output_schema: SCHEMA }, { output: "" }, "empty final answer"],
    [
      "one without a structured form",
      { output_schema: SCHEMA },
      {},
      "output failed schema (delegator check): there is no structured result",
    ],
    [
      "one whose structured form does not validate",
      { output_schema: SCHEMA },
      { structured: '{"summary":3}' },
      "output failed schema (delegator check): ",
    ],
    [
      "one whose structured form is no JSON",
      { output_schema: SCHEMA },
      { structured: "{" },
      "output failed schema (delegator check): ",
    ],
    [
      "one that lacks a field that a check names",
      { output_schema: SCHEMA, acceptance: ["nonempty:items"] },
      { structured: STRUCTURED },
      "output failed schema (delegator check): ",
    ],
  ])("%s is deferred before any check", (_, contract, result, reason) => {
    const settled = settle(contract, result);
    expect(settled).toMatchObject({ status: "deferred", defer_class: "abstention", outcomes: null });
    expect(settled.reason).toStartWith(reason);
    expect(settled.result?.structured).toBeNull();
  });

  test("a structured result with an empty answer is one", () => {
    expect(settle({ output_schema: SCHEMA }, { output: "", structured: STRUCTURED }).status).toBe("succeeded");
  });

  test("a structured result that nobody asked for is not published", () => {
    expect(settle({}, { structured: STRUCTURED }).result?.structured).toBeNull();
  });
});

describe("a diff", () => {
  const DIFF = "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n";

  test("has its files read from it, whatever the place says", () => {
    const settled = settle(
      { write_root: ".", acceptance: ["diff_touches:x"] },
      { diff: DIFF, diff_files: ["safe.ts"] },
    );
    expect(settled).toMatchObject({ status: "succeeded", result: { diff_files: ["x"], diff: DIFF } });
  });

  const OUTSIDE = DIFF.replaceAll("b/x", "b/../x").replaceAll("a/x", "a/../x");
  const GONE = "diff --git a/d.md b/d.md\ndeleted file mode 100644\n--- a/d.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-412\n";
  test.each<[string, object, Partial<WireResult>, string]>([
    ["one that leaves the read root", { write_root: "." }, { diff: OUTSIDE }, "unsafe diff: "],
    ["one that leaves the write root", { write_root: "work" }, { diff: DIFF }, "unsafe diff: "],
    ["one that deletes", { write_root: "." }, { diff: GONE }, "unsafe diff: "],
    [
      "one that is past a cap",
      { write_root: "." },
      { diff: DIFF.replace("+a", `+${"a".repeat(70_000)}`) },
      "unsafe diff: write cap exceeded",
    ],
    ["prose", { write_root: "." }, { diff: "I changed x.\n" }, "unsafe diff: "],
    ["one that nobody opened a door for", {}, { diff: DIFF }, "unsafe diff: the contract opens no write door"],
    [
      "files without one",
      { write_root: "." },
      { diff_files: ["x"] },
      "unsafe diff: files are named, and there is no diff",
    ],
  ])("%s fails the leg, and nothing of it is published", (_, contract, result, reason) => {
    expect(settle(contract, result)).toMatchObject({ status: "failed", result: null });
    expect(settle(contract, result).reason).toStartWith(reason);
    expect(settle(contract, { ...result, deferred: true, reason: "wall timeout after 5s" }).status).toBe("failed");
  });

  test("of a run that was not finished is published with it", () => {
    const settled = settle(
      { write_root: "." },
      { diff: DIFF, deferred: true, defer_class: "budget", reason: "wall timeout after 5s" },
    );
    expect(settled).toMatchObject({ status: "deferred", outcomes: null, result: { diff: DIFF, diff_files: ["x"] } });
  });
});

describe("listFidelityNotes()", () => {
  const notes = (output: string, items: readonly unknown[], mode: "grammar" | "none" = "grammar") =>
    listFidelityNotes(output, JSON.stringify({ items }), mode);

  test("tolerates one in five, white space and case", () => {
    expect(notes("a b c d", ["A", "b", "C", "d", "x"])).toEqual([]);
    expect(notes("a b c d", ["a", "b", "c", "x"])).toEqual([
      "list fidelity: items: 1 of 4 items are not in the answer",
    ]);
    expect(notes("one\n thing, two, three", ["One thing", "two", "three"])).toEqual([]);
  });

  test("says nothing of short lists, of other lists, and of what was not made by constraint", () => {
    expect(notes("", ["x", "y"])).toEqual([]);
    expect(notes("", ["x", "y", 3])).toEqual([]);
    expect(notes("", ["x", "y", "z"], "none")).toEqual([]);
    expect(listFidelityNotes("", "no JSON", "grammar")).toEqual([]);
  });
});

describe("retryNeed()", () => {
  const job = jobOf(contractOf());
  const after = (defer_class: WireResult["defer_class"], reason: string) =>
    retryNeed(settleResult(job, deferOf(job, defer_class, reason)));
  const NO = { retry: false };
  const HERE = { retry: true, elsewhere: false };
  const ELSEWHERE = { retry: true, elsewhere: true };

  test.each<[WireResult["defer_class"], string, object]>([
    ["abstention", "empty final answer", HERE],
    ["infrastructure", "seat down: refused", ELSEWHERE],
    ["infrastructure", "seat incoherent: rambling", ELSEWHERE],
    ["infrastructure", "seat loading: not ready after 300s", ELSEWHERE],
    ["infrastructure", "stalled: no progress for 60s", ELSEWHERE],
    ["infrastructure", "agent loop: HTTP 500", ELSEWHERE],
    ["infrastructure", "structured step unreachable: refused", ELSEWHERE],
    ["infrastructure", "interrupted: the node stopped 2 times", ELSEWHERE],
    ["infrastructure", "seat contended: 90s spent waiting on busy answers", NO],
    ["infrastructure", "stalledness", NO],
    ["config", "model not served", NO],
    ["contract", "context window exhausted", NO],
    ["budget", "wall timeout after 300s", NO],
    ["capacity", "seat busy: no slot after 1800s", NO],
    ["write", "write cap exceeded: files 9 of 8", NO],
    ["canceled", "canceled by the caller", NO],
    ["", "who knows", NO],
  ])("after %s, %s", (defer_class, reason, expected) => {
    expect(after(defer_class, reason)).toEqual(expected as never);
  });

  test("after a completed result only where another seat could close its checks", () => {
    const need = (acceptance: readonly string[]) => retryNeed(settle({ acceptance }, {}));
    expect(need(["contains:zebra"])).toEqual({ retry: true, elsewhere: false });
    expect(need(["contains:zebra", "contains:@field=none:1"])).toEqual({ retry: false });
    expect(need(["contains:412"])).toEqual({ retry: false });
  });

  test("what is left is the wall without what was spent, and a whole wall after a seat that went down", () => {
    const contended = settleResult(job, deferOf(job, "abstention", "empty final answer"));
    expect(retryBudgetSec(300, 100_500, contended)).toBe(199);
    expect(retryBudgetSec(300, 400_000, contended)).toBe(-100);
    const down = settleResult(job, deferOf(job, "infrastructure", "seat down: refused"));
    expect(retryBudgetSec(300, 250_000, down)).toBe(300);
  });
});

describe("readWireResult()", () => {
  const job = jobOf(contractOf());
  const whole = wireResultOf(job, {
    structured: '{"n": 0.50}',
    trace: [{ step: 1, tool: "read_file", status: "ok", obs_chars: 3, seeded: true, note: "x" }],
    seat_pin: { engine: "vllm", model: "m", ctx_tokens: 8192, build: "1" },
    waits: { admission_sec: 1, admission_note: "loaded", contention_sec: 2, seat_down_sec: 0 },
    repack: { mode: "grammar", attempts: 2, ms: 9, note: "cut" },
  });
  const read = (fields: object) => readWireResult(JSON.stringify({ ...whole, ...fields }));

  test("reads what a place writes, and ignores what it does not know", () => {
    expect(read({})).toEqual({ ok: true, result: whole });
    expect(read({ verdict: "pass", acceptance: [] })).toEqual({ ok: true, result: whole });
  });

  test("makes numbers finite and not negative", () => {
    const text = JSON.stringify(whole).replace('"steps":2', '"steps":-4').replace('"wall_ms":1000', '"wall_ms":1e999');
    const found = readWireResult(text);
    expect(found.ok && [found.result.steps, found.result.wall_ms]).toEqual([0, Number.MAX_SAFE_INTEGER]);
  });

  test("keeps a class and a reason to stop that it does not know as texts", () => {
    const found = read({ defer_class: "weather", stop_reason: "rain", stop_note: "heavy" });
    expect(found).toMatchObject({
      ok: true,
      result: { defer_class: "weather", stop_reason: "error", stop_note: 'stop reason "rain"; heavy' },
    });
  });

  test("bounds what it keeps", () => {
    const trace = Array.from({ length: 2000 }, () => ({
      step: 1,
      tool: "t",
      status: "odd",
      obs_chars: 1,
      note: "é".repeat(100),
    }));
    const found = read({ trace, seat: "s".repeat(9999) });
    if (!found.ok) throw new Error(found.why);
    expect(found.result.trace).toHaveLength(1000);
    expect(found.result.trace[0]).toMatchObject({ status: "unknown", note: "é".repeat(80) });
    expect(found.result.seat).toHaveLength(512);
  });

  test("cuts what a place says to a person, with a mark, and its words for classes", () => {
    const found = read({ reason: "x".repeat(100_000), stop_note: "y".repeat(2000), defer_class: "z".repeat(100_000) });
    if (!found.ok) throw new Error(found.why);
    expect(found.result.reason).toBe(`${"x".repeat(1999)}…`);
    expect(found.result.stop_note).toBe("y".repeat(2000));
    expect(found.result.defer_class as string).toBe("z".repeat(64));
  });

  test.each<[string, string | object, string]>([
    ["no JSON", "<html>", "no JSON: "],
    ["a list", "[]", "no object"],
    ["a key given twice", '{"a":1,"a":2}', "no JSON: "],
    ["another version", { schema_version: 2 }, "schema_version is 2, ours is 1"],
    ["no job", { job_id: "" }, "there is no job_id"],
    ["an output that is a number", { output: 412 }, "output is a number, not a text"],
    ["a structured value instead of its text", { structured: { n: 1 } }, "structured is an object, not a text or null"],
    ["a trace that is a text", { trace: "x" }, "trace is a string, not a list"],
    ["an entry that is a text", { trace: ["x"] }, "an entry of trace is a string, not an object"],
    ["a count that is a text", { tokens: { prompt: "9" } }, "prompt is a string, not a number"],
    ["a path that is a number", { diff_files: [1] }, "an entry of diff_files is a number, not a text"],
    ["more than 4 MiB", { output: "x".repeat(4 * 1024 * 1024) }, "more than 4194304 bytes"],
  ])("refuses %s", (_, given, why) => {
    const found = typeof given === "string" ? readWireResult(given) : read(given);
    expect(found.ok ? "" : found.why).toStartWith(why);
  });

  test("answers whatever it is given, and what it takes can be settled", () => {
    const value = fc.anything({ maxDepth: 2 });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(whole)), value, { maxKeys: 6 }), (fields) => {
        let text: string;
        try {
          text = JSON.stringify({ ...whole, ...fields }) ?? "";
        } catch {
          return;
        }
        const found = readWireResult(text);
        if (found.ok) expect(settleResult(job, found.result).status).not.toBe("");
      }),
    );
  });
});
