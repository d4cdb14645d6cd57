import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { pageText } from "../../../src/core/delegation/page-text.ts";

describe("pageText()", () => {
  test("cuts between characters, and says where the next page begins", () => {
    expect(pageText("aé€😀z", 0, 4)).toEqual({ text: "aé", offset: 0, next_offset: 3, bytes: 11 });
    expect(pageText("aé€😀z", 3, 4)).toEqual({ text: "€", offset: 3, next_offset: 6, bytes: 11 });
    expect(pageText("aé€😀z", 10, 4)).toEqual({ text: "z", offset: 10, next_offset: null, bytes: 11 });
  });

  test("moves an offset inside of a character behind it, and is empty behind the end", () => {
    expect(pageText("€z", 1, 4)).toMatchObject({ text: "z", offset: 3 });
    expect(pageText("€z", 99, 4)).toEqual({ text: "", offset: 4, next_offset: null, bytes: 4 });
    expect(pageText("", 0, 4)).toEqual({ text: "", offset: 0, next_offset: null, bytes: 0 });
  });

  test("gives the whole text, page by page", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.integer({ min: 4, max: 20 }), (text, most) => {
        let whole = "";
        for (let offset: number | null = 0, pages = 0; offset !== null; pages++) {
          const page = pageText(text, offset, most);
          whole += page.text;
          offset = page.next_offset;
          expect(pages).toBeLessThan(1000);
        }
        expect(whole).toBe(text.toWellFormed());
      }),
    );
  });
});
