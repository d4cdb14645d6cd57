import { describe, expect, test } from "bun:test";
import { readManifest } from "../../../src/core/delegation/manifest.ts";
import { pinManifest } from "../../../src/core/delegation/pin.ts";
import { manifestOf } from "../../support/fixture-set.ts";

const SUM = "a".repeat(64);
const SOUND = manifestOf({ sha256: SUM });
const problems = (changes: object): readonly string[] => {
  const read = readManifest(JSON.stringify({ ...SOUND, ...changes }));
  return read.ok ? [] : read.problems;
};

describe("readManifest()", () => {
  test("reads a sound one, with or without a folder of pages", () => {
    expect(readManifest(JSON.stringify(SOUND))).toEqual({ ok: true, manifest: SOUND as never });
    expect(problems({ corpus_dir: undefined })).toEqual([]);
  });

  test.each([
    { changes: { more: 1 }, says: "/more: there is no such key in a manifest" },
    { changes: { "mo\nre": 1 }, says: "/mo\\nre: there is no such key in a manifest" },
    { changes: { schemas: undefined }, says: "/schemas: this key is missing" },
    { changes: { schema_version: 2 }, says: "/schema_version: " },
    { changes: { schemas: ["/etc/x.json"] }, says: "/schemas/0: a path inside the set is due" },
    { changes: { schemas: ["a/../../x.json"] }, says: "/schemas/0: a path inside the set is due" },
    { changes: { files_with_acceptance: ["a//b"] }, says: "/files_with_acceptance/0: a path inside the set is due" },
    { changes: { files_with_acceptance: ["a", "a"] }, says: "/files_with_acceptance: a file is listed twice" },
    {
      changes: { digest_sets: [{ file: "a", docs_per_subtask: 1, sha256: "A" }] },
      says: "/digest_sets/0/sha256: 64 hexadecimal",
    },
    {
      changes: { digest_sets: [{ file: "a", docs_per_subtask: 0, sha256: SUM }] },
      says: "/digest_sets/0/docs_per_subtask: ",
    },
    {
      changes: { digest_sets: [{ file: "a", docs_per_subtask: 1, sha256: SUM, x: 1 }] },
      says: "/digest_sets/0/x: there is no such key",
    },
  ])("says $says", ({ changes, says }) => {
    const [first = "", ...more] = problems(changes);
    expect(first).toStartWith(says);
    expect(more).toEqual([]);
  });

  test("says where a text is no JSON", () => {
    expect(readManifest('{"a":1,}')).toEqual({
      ok: false,
      problems: ["line 1, column 7: a trailing comma is not JSON"],
    });
    expect(readManifest('{"a":1,"a":2}')).toMatchObject({ ok: false });
  });
});

test("pinManifest() changes sums and no other byte", () => {
  const text = `{ "digest_sets":\n[{"sha256" :"${SUM}","file":"a"},{"file":"b","sha256":"${SUM}"} ] }`;
  const set = (file: string, sha256: string | null) => ({ file, subtasks: 8, sha256, pinned: SUM, ok: true });
  const other = "b".repeat(64);
  expect(pinManifest(text, [set("a", SUM), set("b", other)])).toEqual({
    lines: [
      { file: "a", old: SUM, new: SUM },
      { file: "b", old: SUM, new: other },
    ],
    text: text.replace(`"sha256":"${SUM}"`, `"sha256":"${other}"`),
  });
  expect(pinManifest(text, [set("a", null), set("b", SUM)]).text).toBe(text);
});
