import { expect, test } from "bun:test";
import {
  admitWrite,
  authoredTextFault,
  UNUSED_BUDGET,
  type WriteBudget,
} from "../../../src/core/patch/write-budget.ts";

function written(...writes: readonly (readonly [path: string, text: string])[]): WriteBudget {
  return writes.reduce((budget, [path, text]) => admitWrite(budget, path, text).budget, UNUSED_BUDGET);
}

test("admitWrite() admits exactly 64 KiB and not a byte more", () => {
  const full = admitWrite(UNUSED_BUDGET, "a", "é".repeat(32_768));
  expect(full).toMatchObject({ ok: true, budget: { written_bytes: 65_536, refused_writes: 0 } });
  expect(admitWrite(full.budget, "a", "")).toMatchObject({ ok: true });
  expect(admitWrite(full.budget, "a", "x")).toMatchObject({
    ok: false,
    budget: { written_bytes: 65_536, refused_writes: 1 },
    message:
      'NOT performed (write budget): 1 bytes for "a", and 0 of 65536 bytes and 7 of 8 files are left; make a smaller change',
  });
});

test("admitWrite() admits 8 files, and those again, and no ninth", () => {
  const eight = written(...[..."abcdefgh"].map((name) => [name, "x"] as const));
  expect(admitWrite(eight, "h", "x")).toMatchObject({ ok: true, budget: { written_bytes: 9 } });
  expect(admitWrite(eight, "i", "x")).toMatchObject({
    ok: false,
    message: 'NOT performed (write budget): "i" would be file 9 of 8; 65528 bytes are left for those written before',
  });
});

test("admitWrite() charges a rewrite again, and nothing for what it refuses", () => {
  const budget = written(["a", "x".repeat(40_000)], ["a", "x".repeat(40_000)], ["a", "x".repeat(25_536)]);
  expect(budget).toMatchObject({ written_bytes: 65_536, refused_writes: 1 });
});

test.each([
  ["text\twith\r\nall kinds\u2028of ends", null],
  ["n\0l", "the text contains NUL"],
  ["half \udc00", "the text holds half of a character, which is no UTF-8"],
])("authoredTextFault() of %p is %p", (text, fault) => {
  expect(authoredTextFault(text)).toBe(fault);
});
