/** The arithmetic of the bench, and that a row which cannot be measured is said aloud. */
import { expect, test } from "bun:test";
import { measure, spreadOf } from "../../scripts/bench/measure.ts";
import { type Finding, renderPage, renderTable } from "../../scripts/bench/report.ts";
import { ROWS } from "../../scripts/bench/rows.ts";

test.each([
  { values: [3], median: 3, low: 3, high: 3 },
  { values: [3, 1, 2], median: 2, low: 1.5, high: 2.5 },
  { values: [4, 1, 3, 2], median: 2.5, low: 1.75, high: 3.25 },
  { values: [1, 1, 1, 1, 1000], median: 1, low: 1, high: 1 },
])("spreadOf($values) has the median $median and the quartiles $low and $high", ({ values, ...spread }) => {
  expect(spreadOf(values)).toEqual(spread);
});

test("spreadOf() of nothing throws", () => {
  expect(() => spreadOf([])).toThrow("Nothing was measured");
});

test("measure() runs work and baseline in turn, warm-ups first, and counts the rest", async () => {
  const order: string[] = [];
  const measured = await measure(
    () => void order.push("work"),
    () => void order.push("baseline"),
    3,
    1,
  );
  expect(order).toEqual(Array.from({ length: 4 }, () => ["work", "baseline"]).flat());
  expect(measured.repetitions).toBe(3);
});

test("the names of rows are unique", () => {
  expect(new Set(ROWS.map(({ name }) => name)).size).toBe(ROWS.length);
});

const TIMES = { median: 12.345, low: 11, high: 13 };
const row = { name: "add", work: "`writ contract add`", against: "one row", goal: 1.5 };
const measuredRow: Finding = {
  ...row,
  ok: true,
  met: true,
  note: "60 entries",
  repetitions: 60,
  ratio: 1.23456,
  ratio_low: 1.1,
  ratio_high: 1.4,
  work_ms: TIMES,
  baseline_ms: { median: 10, low: 9, high: 11 },
};
const failedRow: Finding = { ...row, ok: false, problem: "ended in 2: a | b" };

test("a table has the ratio, its spread, the goal and the times, or why there are none", () => {
  expect(renderTable([measuredRow, failedRow])).toBe(
    [
      "add              1.23 [1.10–1.40]  goal at most 1.5: met  12.3 [11.0–13.0] against 10.0 [9.00–11.0] ms  60 entries",
      "add              FAILED: ended in 2: a | b",
    ].join("\n"),
  );
});

test("the page names the machine in general terms and holds a line for each row", () => {
  const machine = { system: "Linux x64", cores: 2, memory_gib: 24, bun: "1.4.5", files_in_memory: false };
  const page = renderPage(machine, [measuredRow, failedRow]);
  expect(page).toContain("Machine: Linux x64, 2 cores, 24 GiB of memory, files on a disk; Bun 1.4.5.");
  expect(page).toContain(
    "| `writ contract add` | one row | 1.23 [1.10–1.40] | at most 1.5: met | 12.3 [11.0–13.0] | 10.0 [9.00–11.0] | 60 |",
  );
  expect(page).toContain("| `writ contract add` | one row | failed: ended in 2: a \\| b | at most 1.5 |  |  |  |");
});

test("a page says what keeps a row from its goal, where it was missed", () => {
  const machine = { system: "S", cores: 2, memory_gib: 4, bun: "1", files_in_memory: false };
  const page = (met: boolean) => renderPage(machine, [{ ...measuredRow, limit: "the disk", met }]);
  expect(page(false)).toContain("\n- `writ contract add`, against one row: the disk\n");
  expect(page(true)).not.toContain("the disk");
});
