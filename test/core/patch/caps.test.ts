import { expect, test } from "bun:test";
import { checkCaps, type PatchSize, renderWriteNote, type WriteNote } from "../../../src/core/patch/caps.ts";
import { patchOf } from "../../support/patch-trees.ts";

const SIZE: PatchSize = { files: 8, added_bytes: 65_536, diff_bytes: 196_608, opaque_files: 0 };

test.each<{ what: string; size: Partial<PatchSize>; says: string | null }>([
  { what: "everything exactly at its cap", size: {}, says: null },
  { what: "one file more", size: { files: 9 }, says: "write cap exceeded: files 9 of 8" },
  {
    what: "one added byte more",
    size: { added_bytes: 65_537 },
    says: "write cap exceeded: added bytes 65537 of 65536",
  },
  {
    what: "one byte of diff more",
    size: { diff_bytes: 196_609 },
    says: "write cap exceeded: diff bytes 196609 of 196608",
  },
  { what: "one opaque file", size: { opaque_files: 1 }, says: "write cap exceeded: opaque files 1 of 0" },
])("checkCaps() of $what says $says", ({ size, says }) => {
  expect(checkCaps({ ...SIZE, ...size })).toBe(says);
});

const sizeOf = ({ diff_files, ...size }: ReturnType<typeof patchOf>): PatchSize => ({
  ...size,
  files: diff_files.length,
});

test.each([
  { what: "a new file of exactly 64 KiB", after: { a: `${"x".repeat(65_535)}\n` }, says: null },
  { what: "one byte more", after: { a: `${"x".repeat(65_536)}\n` }, says: "added bytes 65537 of 65536" },
  { what: "8 files", after: Object.fromEntries([..."abcdefgh"].map((name) => [name, "x"])), says: null },
  { what: "9 files", after: Object.fromEntries([..."abcdefghi"].map((name) => [name, "x"])), says: "files 9 of 8" },
])("checkCaps() holds a rendered set: $what", ({ after, says }) => {
  const said = checkCaps(sizeOf(patchOf({}, after)));
  if (says === null) expect(said).toBeNull();
  else expect(said).toBe(`write cap exceeded: ${says}`);
});

test("checkCaps() holds the bytes of a rendered diff", () => {
  const diffOf = (size: number) => sizeOf(patchOf({ a: "x".repeat(size) }, { a: "" }));
  const frame = diffOf(1).diff_bytes - 1;
  expect(checkCaps(diffOf(196_608 - frame))).toBeNull();
  expect(checkCaps(diffOf(196_609 - frame))).toBe("write cap exceeded: diff bytes 196609 of 196608");
});

const NOTE: WriteNote = {
  root: "work",
  files: 2,
  diff_bytes: 154,
  exceeded: null,
  is_finished: true,
  refused_writes: 0,
};

test.each<{ note: Partial<WriteNote>; says: string }>([
  { note: {}, says: "write door open on work: 2 file(s), 154 bytes of diff; not applied" },
  { note: { root: ".", files: 0, diff_bytes: 0 }, says: "write door open on .: the seat wrote nothing" },
  {
    note: { refused_writes: 3 },
    says: "write door open on work: 2 file(s), 154 bytes of diff; not applied; 3 write(s) refused by the budget",
  },
  {
    note: { files: 0, refused_writes: 1 },
    says: "write door open on work: the seat wrote nothing; 1 write(s) refused by the budget",
  },
  {
    note: { is_finished: false, refused_writes: 1 },
    says: "write door open on work: 2 file(s), 154 bytes of diff; not applied; the run did not finish; 1 write(s) refused by the budget",
  },
  {
    note: { files: 9, exceeded: "write cap exceeded: files 9 of 8" },
    says: "write door open on work: 9 file(s), 154 bytes of diff; not published: write cap exceeded: files 9 of 8",
  },
])("renderWriteNote() says $says", ({ note, says }) => {
  expect(renderWriteNote({ ...NOTE, ...note })).toBe(says);
});
