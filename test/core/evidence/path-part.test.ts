import { expect, test } from "bun:test";
import fc from "fast-check";
import { pathPartFault } from "../../../src/core/evidence/path-part.ts";

test.each([
  ["AC-2", null],
  ["AC 2, the second", null],
  ["é".repeat(100), null],
  [".hidden", null],
  ["", "is blank"],
  [" \t ", "is blank"],
  [".", 'is "."'],
  ["..", 'holds ".."'],
  ["a..b", 'holds ".."'],
  ["a/b", 'holds "/"'],
  ["/etc/passwd", 'holds "/"'],
  ["a\\b", 'holds "\\"'],
  ["a\0b", "holds a control character"],
  ["a\u001b[2Jb", "holds a control character"],
  ["a\nb", "holds a control character"],
  ["\ud800", "holds a lone surrogate"],
  ["é".repeat(101), "is longer than 200 bytes"],
  ["a".repeat(1_000_000), "is longer than 200 bytes"],
])("pathPartFault(%j) is %j", (name, fault) => {
  expect(pathPartFault(name)).toBe(fault);
});

test("a part without a fault stays one part of a path", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      fc.pre(pathPartFault(name) === null);
      expect(name).not.toMatch(/[/\\\0]|\.\./);
      expect(name.trim()).not.toBe("");
    }),
  );
});
