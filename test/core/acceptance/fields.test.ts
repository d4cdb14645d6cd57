import { expect, test } from "bun:test";
import { acceptedFields } from "../../../src/core/acceptance/fields.ts";

test("acceptedFields() are those that checks name, in their order, each once", () => {
  const lines = [
    "contains:@field=b:x",
    "min_items:a:1",
    "contains:@field=b:y",
    "nonempty:c|a|d",
    "regex:@field=e:x",
    "not_contains:@field=f:x",
  ];
  expect(acceptedFields(lines)).toEqual(["b", "a", "c", "d", "e", "f"]);
});

test("other checks name none, and lines that do not parse are passed over", () => {
  const lines = ["contains:a", "regex:@answer:a", "contains:@grounded:a", "diff_touches:a", "diff_max_files:1"];
  expect(acceptedFields([...lines, "min_items:z:0", "nonempty:z|z", "regex:@field=z:("])).toEqual([]);
});
