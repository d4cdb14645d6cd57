import { expect, test } from "bun:test";
import { writeSet } from "../../../src/core/patch/write-set.ts";
import type { SnapshotFile } from "../../../src/core/seat/workspace.ts";
import { snapshotOf } from "../../support/patch-trees.ts";

const paths = (before: Record<string, string>, after: Record<string, string>) =>
  writeSet(snapshotOf(before), snapshotOf(after)).map(({ path }) => path);

test("writeSet() holds what changed, came and went, in the order of the paths' bytes", () => {
  expect(
    paths({ same: "x", "\ue000": "x", "😀": "x", gone: "x" }, { same: "x", "\ue000": "y", "😀": "y", B: "" }),
  ).toEqual(["B", "gone", "\ue000", "😀"]);
});

test("writeSet() does not hold a file that was changed and changed back", () => {
  expect(paths({ a: "x" }, { a: "x" })).toEqual([]);
});

test("writeSet() tells an empty file from none", () => {
  expect(writeSet(new Map(), snapshotOf({ a: "" }))).toEqual([
    { path: "a", before: null, after: { kind: "bytes", bytes: new Uint8Array() } },
  ]);
});

const opaque = (size_bytes: number, digest: string): SnapshotFile => ({ kind: "opaque", size_bytes, digest });

test.each<{ what: string; before: SnapshotFile; after: SnapshotFile; isChanged: boolean }>([
  { what: "the same size and digest", before: opaque(9, "d"), after: opaque(9, "d"), isChanged: false },
  { what: "another digest", before: opaque(9, "d"), after: opaque(9, "e"), isChanged: true },
  { what: "another size", before: opaque(9, "d"), after: opaque(8, "d"), isChanged: true },
  {
    what: "one that became text",
    before: opaque(1, "d"),
    after: { kind: "bytes", bytes: Uint8Array.of(1) },
    isChanged: true,
  },
  {
    what: "one that was text",
    before: { kind: "bytes", bytes: Uint8Array.of(1) },
    after: opaque(1, "d"),
    isChanged: true,
  },
])("writeSet() of opaque sides: $what", ({ before, after, isChanged }) => {
  expect(writeSet(new Map([["a", before]]), new Map([["a", after]]))).toHaveLength(isChanged ? 1 : 0);
});
