import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { escapeControls, stripControls } from "../../src/core/terminal.ts";

const ESC = "\u001b";
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

/** Text as a hostile program writes it: introducers, finals, terminators, marks and plain text in any order. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ESC,
        "[",
        "]",
        "P",
        "\\",
        "\u0007",
        "\u009b",
        "\u009d",
        "\u009c",
        "0;1",
        "m",
        "\n",
        "\t",
        "\r",
        "\b",
      ),
      fc.constantFrom(
        "\u202e",
        "\u2066",
        "\u200e",
        "\u2028",
        "\u200d",
        "\ufeff",
        "\u{e0041}",
        "\ud83d",
        "\0",
        "\u007f",
      ),
      fc.string({ unit: "binary" }),
    ),
  )
  .map((parts) => parts.join(""));

describe("stripControls()", () => {
  test.each([
    { rule: "plain text stays", text: "a b\tc\nd é 漢 🙂", expected: "a b\tc\nd é 漢 🙂" },
    { rule: "a colour goes whole", text: `${ESC}[1;31mred${ESC}[0m`, expected: "red" },
    { rule: "a private mode goes whole", text: `${ESC}[?25lx`, expected: "x" },
    { rule: "a cut colour loses what is there", text: `x${ESC}[31`, expected: "x" },
    { rule: "a broken colour stops at the first wrong character", text: `${ESC}[3\u00e9`, expected: "\u00e9" },
    { rule: "a title closed by BEL goes whole", text: `${ESC}]0;title\u0007x`, expected: "x" },
    {
      rule: "a link closed by ST goes, its text stays",
      text: `${ESC}]8;;http://h${ESC}\\text${ESC}]8;;${ESC}\\`,
      expected: "text",
    },
    { rule: "a device string goes whole", text: `${ESC}Pq#1${ESC}\\x`, expected: "x" },
    { rule: "BEL does not close a device string", text: `${ESC}Pq\u0007x`, expected: "qx" },
    { rule: "an open string hides nothing", text: `${ESC}]0;evil\nnext line`, expected: "0;evil\nnext line" },
    { rule: "an open string at the end hides nothing", text: `${ESC}]0;evil`, expected: "0;evil" },
    { rule: "C1 forms go as sequences", text: "\u009b31mred\u009d0;t\u009cx", expected: "redx" },
    { rule: "a character set goes whole", text: `${ESC}(Bx`, expected: "x" },
    { rule: "a lone escape goes", text: `x${ESC}`, expected: "x" },
    { rule: "a second escape begins anew", text: `${ESC}${ESC}[31mx`, expected: "x" },
    { rule: "carriage return and backspace go", text: "safe\r\bevil", expected: "safeevil" },
    { rule: "NUL and DEL go", text: "a\0b\u007fc", expected: "abc" },
    { rule: "bidirectional marks go", text: "a\u200e\u200f\u061c\u202a\u202e\u2066\u2069b", expected: "ab" },
    { rule: "line and paragraph separators go", text: "a\u2028b\u2029c", expected: "abc" },
    { rule: "zero-width characters go", text: "a\u200b\u200c\u200d\u2060\ufeffb", expected: "ab" },
    { rule: "invisible tags go", text: "a\u{e0041}\u{e007f}b", expected: "ab" },
    { rule: "empty stays empty", text: "", expected: "" },
  ])("$rule", ({ text, expected }) => {
    expect(stripControls(text)).toBe(expected);
  });

  test("leaves nothing that a terminal obeys, whatever the text, and the second time changes nothing", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const stripped = stripControls(text);
        expect(CONTROL.test(stripped)).toBe(false);
        expect(stripControls(stripped)).toBe(stripped);
      }),
    );
  });

  test("keeps every line of a text, so that nothing is hidden across lines", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(stripControls(text).split("\n").length).toBe(text.split("\n").length);
      }),
    );
  });

  test.each(["\u009d", `${ESC}]`, ESC, `${ESC}[`, `${ESC}P;`, "\u009b1;", "\ud83d", " \u200b"])(
    "returns on a long run of %j",
    (piece) => {
      expect(stripControls(piece.repeat(200_000)).length).toBeLessThanOrEqual(200_000 * piece.length);
    },
  );
});

describe("escapeControls()", () => {
  test("writes each control as an escape and leaves the rest as it is", () => {
    expect(escapeControls('{"a":"\u009b31m\u202e\u2028\u007fé"}')).toBe('{"a":"\\u009b31m\\u202e\\u2028\\u007fé"}');
  });

  test("writes a character of two units as two escapes", () => {
    expect(escapeControls('"\u{e0041}"')).toBe('"\\udb40\\udc41"');
  });

  test("drops a carriage return between tokens, where JSON has no escapes", () => {
    expect(escapeControls('{\r\n"a": 1}')).toBe('{\n"a": 1}');
  });

  test("keeps the value, compact or indented, and leaves no control", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json({ stringUnit: "binary" }).map((json): unknown => JSON.parse(json)),
          hostile,
        ),
        (value) => {
          for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
            const escaped = escapeControls(json);
            expect(JSON.parse(escaped)).toEqual(JSON.parse(json));
            expect(CONTROL.test(escaped)).toBe(false);
          }
        },
      ),
    );
  });
});
