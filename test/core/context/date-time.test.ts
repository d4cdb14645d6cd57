import { expect, test } from "bun:test";
import { isDateTime } from "../../../src/core/context/date-time.ts";

test.each([
  ["2026-11-30T09:00:00Z", true],
  ["2026-11-30t09:00:00z", true],
  ["2026-11-30T09:00:00.123456789Z", true],
  ["2026-11-30T09:00:00+05:30", true],
  ["2026-11-30T09:00:00-00:00", true],
  ["2024-02-29T00:00:00Z", true],
  ["2000-02-29T00:00:00Z", true],
  ["2016-12-31T23:59:60Z", true],
  ["2026-11-30", false], // a date alone
  ["2026-11-30T09:00:00", false], // no offset
  ["2026-11-30T09:00Z", false], // no seconds
  ["2026-11-30 09:00:00Z", false],
  ["2026-11-30T09:00:00+0530", false],
  ["2026-11-30T09:00:00+24:00", false],
  ["2026-11-30T09:00:00+05:60", false],
  ["2026-11-30T24:00:00Z", false],
  ["2026-11-30T09:60:00Z", false],
  ["2026-11-30T09:00:61Z", false],
  ["2026-13-01T09:00:00Z", false],
  ["2026-00-01T09:00:00Z", false],
  ["2026-11-31T09:00:00Z", false],
  ["2026-11-00T09:00:00Z", false],
  ["2025-02-29T00:00:00Z", false],
  ["1900-02-29T00:00:00Z", false],
  ["2026-11-30T09:00:00.Z", false],
  [" 2026-11-30T09:00:00Z", false],
  ["2026-11-30T09:00:00Z\n", false],
  ["", false],
])("isDateTime(%j) is %p", (text, expected) => {
  expect(isDateTime(text)).toBe(expected);
});
