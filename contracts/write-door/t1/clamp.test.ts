import { test } from "bun:test";
import { clamp } from "./clamp.ts";

const rows = [
  { name: "inside", v: 5, want: 5 },
  { name: "below", v: -3, want: 0 },
  { name: "above", v: 42, want: 10 },
  { name: "at hi", v: 10, want: 10 },
];

for (const row of rows) {
  test(row.name, () => {
    const got = clamp(row.v, 0, 10);
    if (got !== row.want) {
      throw new Error(`${row.name}: clamp(${row.v}, 0, 10) = ${got}, want ${row.want}`);
    }
  });
}
