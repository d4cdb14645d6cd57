import { expect, test } from "bun:test";
import { counted } from "../../src/core/counted.ts";

test.each([
  [counted(0, "leg"), "0 legs"],
  [counted(1, "leg"), "1 leg"],
  [counted(2, "leg"), "2 legs"],
  [counted(1, "entry", "entries"), "1 entry"],
  [counted(0, "entry", "entries"), "0 entries"],
])("counted() says %s", (said, due) => {
  expect(said).toBe(due);
});
