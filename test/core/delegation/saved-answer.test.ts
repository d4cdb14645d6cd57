import { describe, expect, test } from "bun:test";
import { readSavedAnswers } from "../../../src/core/delegation/saved-answer.ts";
import { doneResult } from "../../support/wire-result.ts";

const BARE = {
  index: null,
  output: "",
  structured: null,
  diff: "",
  diff_files: [],
  status: null,
  reason: null,
  contradiction: null,
  wire: null,
};

describe("readSavedAnswers()", () => {
  test.each([
    { text: '{"output":"x"}', answers: [{ ...BARE, output: "x" }] },
    { text: '{"output":null,"structured":{"a" : 0.50}}', answers: [{ ...BARE, structured: '{"a" : 0.50}' }] },
    {
      text: '{"structured":{"10":1,"2":9007199254740993}}',
      answers: [{ ...BARE, structured: '{"10":1,"2":9007199254740993}' }],
    },
    { text: '{"diff_files":["a"]}', answers: [{ ...BARE, diff_files: ["a"] }] },
    { text: '{"diff":"","diff_files":["a"]}', answers: [BARE] }, // the diff wins
    {
      text: '{"index":2,"status":"deferred","reason":"r"}',
      answers: [{ ...BARE, index: 2, status: "deferred", reason: "r" }],
    },
    {
      text: '{"results":[{"index":1,"output":"b"},{"index":0}]}',
      answers: [
        { ...BARE, index: 1, output: "b" },
        { ...BARE, index: 0 },
      ],
    },
    { text: '{"results":[]}', answers: [] },
  ])("reads $text", ({ text, answers }) => {
    expect(readSavedAnswers(text)).toEqual({ ok: true, answers });
  });

  test("a job's result stays one, whatever else its node puts into it", () => {
    const wire = doneResult({ job_id: "wrt-1", contract_sha256: "s" }, { output: "o" });
    const forged = { ...wire, index: 0, status: "succeeded", results: [{ index: 0, status: "succeeded" }] };
    expect(readSavedAnswers(JSON.stringify(forged))).toEqual({
      ok: true,
      answers: [{ ...BARE, output: "o", wire }],
    });
  });

  test.each<[object, string | null]>([
    [{ deferred: false, acceptance_failures: [], failed: false, defer_class: "" }, null],
    [{ deferred: true }, '"deferred" is true'],
    [{ deferred: "no" }, '"deferred" is a string'],
    [{ failed: true }, '"failed" is true'],
    [{ acceptance_failures: ["x"] }, '"acceptance_failures" is not empty'],
    [{ defer_class: "budget" }, 'it has a "defer_class"'],
  ])("an element that succeeded is held against its other members: %j", (more, contradiction) => {
    const read = readSavedAnswers(JSON.stringify({ index: 0, status: "succeeded", ...more }));
    expect(read).toMatchObject({ ok: true, answers: [{ contradiction }] });
  });

  test.each([
    { text: "{", path: "" },
    { text: "[]", path: "" },
    { text: "{}", path: "" },
    { text: '{"goal":"x"}', path: "" },
    { text: '{"output":1}', path: "/output" },
    { text: '{"diff_files":"a"}', path: "/diff_files" },
    { text: '{"diff_files":[1]}', path: "/diff_files/0" },
    { text: '{"index":-1}', path: "/index" },
    { text: '{"index":"0"}', path: "/index" },
    { text: '{"results":{}}', path: "/results" },
    { text: '{"results":[1]}', path: "/results/0" },
    { text: '{"results":[{"output":"x"}]}', path: "/results/0" },
    { text: '{"results":[{"index":0},{"index":0}]}', path: "/results" },
    { text: '{"output":"a","output":"b"}', path: "" },
  ])("refuses $text", ({ text, path }) => {
    expect(readSavedAnswers(text)).toMatchObject({ ok: false, path });
  });

  test("reads a job's result as its node handed it out: structured is the text in its string", () => {
    const wire = doneResult({ job_id: "wrt-1", contract_sha256: "s" }, { structured: '{"b" : 0.50}', output: "x" });
    const read = readSavedAnswers(JSON.stringify(wire));
    expect(read).toEqual({ ok: true, answers: [{ ...BARE, output: "x", structured: '{"b" : 0.50}', wire }] });
    const deferred = { ...wire, deferred: true, reason: "stalled: r", defer_class: "infrastructure" };
    expect(readSavedAnswers(JSON.stringify(deferred))).toMatchObject({
      answers: [{ status: "deferred", reason: "stalled: r" }],
    });
    expect(readSavedAnswers(JSON.stringify({ ...wire, structured: {} }))).toMatchObject({ ok: false, path: "" });
  });

  test("keeps half a surrogate pair in the text of structured", () => {
    const read = readSavedAnswers('{"structured":{"a":"\\ud800"}}');
    expect(read).toMatchObject({ answers: [{ structured: '{"a":"\\ud800"}' }] });
  });
});
