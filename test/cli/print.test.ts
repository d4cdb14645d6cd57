import { describe, expect, test } from "bun:test";
import { errorDocument, errorText } from "../../src/cli/print.ts";
import { WritError } from "../../src/core/error.ts";
import type { Issue } from "../../src/core/result.ts";

const issues: readonly Issue[] = [
  { code: "FIELD_TYPE", path: "conclusion", message: "must be a string", hint: "writ contract set conclusion TEXT" },
  { code: "UNKNOWN_FIELD", path: "x", message: "no such field", hint: null },
  { code: "FIELD_TYPE", path: null, message: "must be an object", hint: "first\nsecond" },
];

const rejected = new WritError("validation", "write failed validation -- no changes were persisted.", {
  status: "rejected",
  issues,
  details: { repair_message: "mend it" },
});

const overwrite = new WritError("list_overwrite", "fill would overwrite 1 populated list -- nothing was written.", {
  status: "refused",
  lines: ["  evidence_report.key_outputs: existing 3, incoming 1"],
  hint: "Use `writ contract add` to extend a list, or `writ contract set` to replace it.",
  details: {
    draft_id: "a.b",
    collisions: [{ field: "evidence_report.key_outputs", existing: 3, incoming: 1 }],
    message: "fill would overwrite 1 populated list; nothing was written.",
  },
});

describe("errorText()", () => {
  test("of a rejection lists every issue with its hint under it", () => {
    expect(errorText(rejected)).toMatchInlineSnapshot(`
      "Rejected: write failed validation -- no changes were persisted.
        FIELD_TYPE [conclusion]: must be a string
          writ contract set conclusion TEXT
        UNKNOWN_FIELD [x]: no such field
        FIELD_TYPE: must be an object
          first
          second"
    `);
  });

  test("of a refusal has the further lines, then the hint", () => {
    expect(errorText(overwrite)).toMatchInlineSnapshot(`
      "Refused: fill would overwrite 1 populated list -- nothing was written.
        evidence_report.key_outputs: existing 3, incoming 1
      Use \`writ contract add\` to extend a list, or \`writ contract set\` to replace it."
    `);
  });

  test.each([
    { status: "error", word: "Error" },
    { status: "rejected", word: "Rejected" },
    { status: "refused", word: "Refused" },
    { status: "broken", word: "Broken" },
  ] as const)("of status $status begins with $word", ({ status, word }) => {
    expect(errorText(new WritError("no_draft", "no draft", { status }))).toBe(`${word}: no draft`);
  });
});

describe("errorDocument()", () => {
  test("of a rejection has the distinct codes in order, and every issue with its four keys", () => {
    const document = errorDocument(rejected);
    expect(Object.keys(document)).toEqual([
      "ok",
      "status",
      "code",
      "path",
      "message",
      "hint",
      "codes",
      "errors",
      "repair_message",
    ]);
    expect(document.codes).toEqual(["FIELD_TYPE", "UNKNOWN_FIELD"]);
    expect(document.errors).toEqual(issues.map(({ code, path, message, hint }) => ({ code, path, message, hint })));
    expect(document.repair_message).toBe("mend it");
  });

  test("of another code with issues has errors and no codes", () => {
    const document = errorDocument(new WritError("content_unverified", "refuted", { status: "rejected", issues }));
    expect(document).not.toHaveProperty("codes");
    expect(document.errors).toHaveLength(3);
  });

  test("without issues has neither, and null for what there is not to say", () => {
    expect(JSON.stringify(errorDocument(new WritError("no_draft", "no draft")))).toBe(
      '{"ok":false,"status":"error","code":"no_draft","path":null,"message":"no draft","hint":null}',
    );
  });

  test("lets a detail replace one of the first keys, in its place", () => {
    const document = errorDocument(overwrite);
    expect(document.message).toBe("fill would overwrite 1 populated list; nothing was written.");
    expect(Object.keys(document)).toEqual([
      "ok",
      "status",
      "code",
      "path",
      "message",
      "hint",
      "draft_id",
      "collisions",
    ]);
  });

  test("keeps a detail whose name is a key of the prototype as data", () => {
    const details = JSON.parse('{"__proto__":{"polluted":true}}');
    const text = JSON.stringify(errorDocument(new WritError("no_draft", "no draft", { details })));
    expect(text).toEndWith('"__proto__":{"polluted":true}}');
  });
});
