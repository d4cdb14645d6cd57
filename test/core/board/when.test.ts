import { expect, test } from "bun:test";
import { age, ageText, lasted } from "../../../src/core/board/when.ts";

const NOW = Date.parse("2026-03-10T12:00:00Z");

test.each([
  ["2026-03-10T12:00:00Z", "just now"],
  ["2026-03-10T12:00:30Z", "just now"], // another machine's clock
  ["2026-03-10T12:02:00Z", "in the future"],
  ["2026-03-10T11:59:01Z", "just now"],
  ["2026-03-10T11:59:00Z", "1 min ago"],
  ["2026-03-10T11:00:01Z", "59 min ago"],
  ["2026-03-10T11:00:00Z", "1 h ago"],
  ["2026-03-08T12:00:01Z", "47 h ago"],
  ["2026-03-08T12:00:00Z", "2 d ago"],
  ["2025-03-10T12:00:00Z", "365 d ago"],
  ["yesterday", null],
  ["2026-99-99T00:00:00Z", null],
])("ageText() of %s is %s", (at, text) => {
  expect(ageText(at, NOW)).toBe(text);
});

test("age() shows a text that is no instant as text", () => {
  expect(age('"><b>', NOW)?.html).toBe("<bdi>&quot;&gt;&lt;b&gt;</bdi>");
});

test.each([
  ["2026-03-10T12:00:00Z", "2026-03-10T12:00:00Z", "under 1 s"],
  ["2026-03-10T12:00:00Z", "2026-03-10T12:00:59Z", "59 s"],
  ["2026-03-10T12:00:00Z", "2026-03-10T12:04:10Z", "4 min 10 s"],
  ["2026-03-10T12:00:00Z", "2026-03-10T14:05:00Z", "2 h 5 min"],
  ["2026-03-10T12:00:01Z", "2026-03-10T12:00:00Z", null],
  [null, "2026-03-10T12:00:00Z", null],
  ["2026-03-10T12:00:00Z", null, null],
])("lasted() from %s to %s is %s", (from, to, text) => {
  expect(lasted(from, to)).toBe(text);
});
