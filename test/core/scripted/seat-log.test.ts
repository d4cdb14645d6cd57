import { expect, test } from "bun:test";
import { LOG_LIMITS, noteProblem, SeatLog } from "../../../src/core/scripted/seat-log.ts";

const body = (text: string) => ({ text, bytes: Buffer.byteLength(text) });

test("SeatLog keeps the last entries, and the bodies of the last of them", () => {
  const log = new SeatLog({ ...LOG_LIMITS, entries: 4, bodies: 2 });
  for (const text of ["a", "b", "", "c", "d", "e"]) log.open(`/${text}`, 0, body(text));
  expect(log.list().map(({ n, path }) => `${n}${path}`)).toEqual(["3/", "4/c", "5/d", "6/e"]);
  expect(log.list().map((entry) => log.bodyOf(entry))).toEqual([null, null, "d", "e"]);
});

test("SeatLog keeps bodies up to so many bytes", () => {
  const log = new SeatLog({ ...LOG_LIMITS, body_bytes: 6 });
  for (const text of ["üü", "ab", "c", "1234567", "d"]) log.open("/", 0, body(text));
  expect(log.list().map((entry) => log.bodyOf(entry))).toEqual([null, null, null, null, "d"]);
});

test("an entry is bounded, whatever was sent", () => {
  const log = new SeatLog();
  const entry = log.open("/x".repeat(5000), 0, body(""));
  for (let count = 0; count < 100; count++) noteProblem(entry, "p".repeat(100));
  expect([entry.path.length, entry.problem?.length ?? 0]).toEqual([1024, 1024]);
});
