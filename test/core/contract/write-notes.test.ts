import { expect, test } from "bun:test";
import fc from "fast-check";
import { writeNotes } from "../../../src/core/contract/write-notes.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

const QUOTES = "evidence_report.verbatim_outputs";
const OUTPUTS = "evidence_report.key_outputs";

test.each<{ field: string; entry: JsonValue; note: string }>([
  { field: QUOTES, entry: '{"command":"bun test","excerpt":"4 pass"', note: "begins like JSON and is none" },
  { field: OUTPUTS, entry: '["a", ', note: "begins like JSON and is none" },
  { field: OUTPUTS, entry: " ", note: "the entry is blank" },
  { field: OUTPUTS, entry: "", note: "the entry is blank" },
  { field: OUTPUTS, entry: null, note: "the entry is null" },
  { field: OUTPUTS, entry: 42, note: "the entry is a number" },
  { field: "agent_status.pending_steps", entry: false, note: "the entry is a boolean" },
  { field: QUOTES, entry: ["x"], note: "the entry is an array, and a close compares" },
  { field: QUOTES, entry: { excerpt: "4 pass" }, note: "the entry has no command" },
  { field: QUOTES, entry: { command: " ", excerpt: "4 pass" }, note: "the entry has no command" },
  { field: QUOTES, entry: { cmd: "x" }, note: "the entry has no excerpt" },
])("$entry in $field is accepted with a note, by each verb", ({ field, entry, note }) => {
  const [level = "", key = ""] = field.split(".");
  for (const mutation of [
    { verb: "add", field, value: entry } as const,
    { verb: "set", field, value: ["a", entry] } as const,
    { verb: "set", field: level, value: { [key]: [entry] } } as const,
    { verb: "fill", patch: { [level]: { [key]: [entry] } } } as const,
  ]) {
    const [only, ...more] = writeNotes(mutation).filter(
      (one) => !one.includes("the entry is blank") || note.includes("blank"),
    );
    expect(only).toStartWith(`${field}: the entry `);
    expect(only).toContain(note);
    expect(more).toEqual([]);
  }
});

test.each<{ field: string; value: JsonValue }>([
  { field: QUOTES, value: "a text" },
  { field: QUOTES, value: { command: "x", excerpt: "y" } },
  { field: QUOTES, value: { evidence_id: 7, output: "y" } },
  { field: OUTPUTS, value: "[link](x) and {braces}" },
  { field: OUTPUTS, value: "{a,b}.ts" },
  { field: OUTPUTS, value: { any: "thing" } },
  { field: "evidence_report.other", value: null },
  { field: "", value: null },
  { field: "update_contracts", value: { contract: "stack", payload: { a: 1 } } },
])("$value in $field needs no note", ({ field, value }) => {
  expect(writeNotes({ verb: "add", field, value })).toEqual([]);
});

test("a conclusion that is blank is told of, and no other one", () => {
  for (const value of ["", " \n"]) {
    expect(writeNotes({ verb: "set", field: "conclusion", value })).toHaveLength(1);
    expect(writeNotes({ verb: "fill", patch: { conclusion: value } })).toHaveLength(1);
  }
  expect(writeNotes({ verb: "set", field: "conclusion", value: "-" })).toEqual([]);
  expect(writeNotes({ verb: "set", field: "conclusion", value: null })).toEqual([]);
});

test("what a close would refuse of update_contracts is told at its write, with the legal shape", () => {
  const [note] = writeNotes({ verb: "fill", patch: { update_contracts: [{ section: "stack" }] } });
  expect(note).toBe(
    'refused: update_contracts[0]: contract_missing -- contract names a section, but it is absent. The legal shape: {"contract":"<section>","payload":{"<key>":"<value>"}}',
  );
  expect(writeNotes({ verb: "add", field: "update_contracts", value: "stack" })[0]).toContain("entry_not_object");
  expect(writeNotes({ verb: "set", field: "update_contracts", value: 7 })[0]).toContain("not_an_array");
});

test("of many notes the first are said and the others counted", () => {
  const notes = writeNotes({ verb: "set", field: OUTPUTS, value: Array.from({ length: 25 }, () => null) });
  expect(notes).toHaveLength(11);
  expect(notes.at(-1)).toBe("15 more of this kind");
});

test("whatever is written, the notes are lines and come back", () => {
  const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(
      value,
      fc.constantFrom("conclusion", QUOTES, OUTPUTS, "update_contracts", "evidence_report", ""),
      (any, field) => {
        for (const notes of [
          writeNotes({ verb: "set", field, value: any }),
          writeNotes({ verb: "fill", patch: any }),
        ]) {
          for (const note of notes) expect(note).not.toContain("\n");
        }
      },
    ),
  );
});
