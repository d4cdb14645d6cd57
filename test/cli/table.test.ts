import { describe, expect, test } from "bun:test";
import { tableLines } from "../../src/cli/table.ts";

const HEADER = ["id", "name"];
const ROWS = [
  [1, "one"],
  [22, null],
  [3, "a\tb\n\x1b[31mc"],
];

describe("tableLines()", () => {
  test.each([{ columns: null }, { columns: 80 }, { columns: 9 }])(
    "has a column as wide as its widest cell where there is room for it: $columns",
    ({ columns }) => {
      expect(tableLines(HEADER, ROWS, columns)).toEqual(["id  name", "1   one", "22  -", "3   a b c"]);
    },
  );

  test("is one block a row where it is wider than the terminal", () => {
    expect(tableLines(HEADER, ROWS, 8)).toEqual([
      "id    1",
      "name  one",
      "",
      "id    22",
      "name  -",
      "",
      "id    3",
      "name  a b c",
      "",
    ]);
  });

  test("has the lines of a row under it in both forms", () => {
    const under = [["  more"], [], ["  last"]];
    expect(tableLines(HEADER, ROWS, null, under)).toEqual([
      "id  name",
      "1   one",
      "  more",
      "22  -",
      "3   a b c",
      "  last",
    ]);
    expect(tableLines(HEADER, ROWS.slice(0, 1), 7, under)).toEqual(["id    1", "name  one", "  more", ""]);
  });

  test("measures what a terminal shows: wide characters count twice", () => {
    expect(tableLines(["a"], [["漢字"]], 4)).toEqual(["a", "漢字"]);
    expect(tableLines(["a"], [["漢字"]], 3)).toEqual(["a  漢字", ""]);
  });

  test("cuts a long cell, and ends no line in a blank", () => {
    const [, line = ""] = tableLines(["a", "b"], [["x".repeat(100), ""]]);
    expect(line).toBe(`${"x".repeat(59)}…`);
  });
});
