import { expect, test } from "bun:test";
import { foreignProperty, PROPERTY_NAMES } from "../../../src/core/pattern/properties.ts";
import { compilePattern } from "../../../src/core/pattern/re2.ts";

test("every name on the list compiles, in each of its forms", () => {
  const refused = [...PROPERTY_NAMES].flatMap((name) =>
    [`\\p{${name}}`, `\\P{${name}}`, `\\p{^${name}}`, `[\\p{${name}}a]`].filter((source) => !compilePattern(source).ok),
  );
  expect(refused).toEqual([]);
});

test("the list has the categories, the 163 scripts of Unicode 15.0, and Any", () => {
  expect(PROPERTY_NAMES.size).toBe(36 + 163 + 1);
});

test.each([
  "Emoji",
  "Alphabetic",
  "White_Space",
  "ASCII_Hex_Digit",
  "Lowercase",
  "Uppercase",
  "Math",
  "Assigned",
  "Ascii",
  "LC",
  "Lc",
  "Cn",
  "greek",
  "GREEK",
  "Script=Greek",
  "Unknown",
  // Scripts that came after Unicode 15.0.
  "Garay",
  "Gurung_Khema",
  "Kirat_Rai",
  "Ol_Onal",
  "Sunuwar",
  "Todhri",
  "Tulu_Tigalari",
  "Beria_Erfe",
  "Sidetic",
  "Tai_Yo",
  "Tolong_Siki",
  "",
  "^",
  "^^L",
  "constructor",
])("\\p{%s} is refused", (name) => {
  expect(compilePattern(`\\p{${name}}`).ok).toBe(false);
  expect(compilePattern(`[a\\P{${name}}]`).ok).toBe(false);
});

test.each([
  { source: "\\pL\\p{Emoji}", foreign: "\\p{Emoji}" },
  { source: "[\\P{^Math}]", foreign: "\\P{^Math}" },
  { source: "\\\\p{Emoji}", foreign: null },
  { source: "\\\\\\p{Emoji}", foreign: "\\p{Emoji}" },
  { source: "\\Q\\p{Emoji}\\E\\pL", foreign: null },
  { source: "\\Q\\p{Emoji}", foreign: null },
  { source: "\\Qa\\E\\p{Math}", foreign: "\\p{Math}" },
  { source: "\\Q\\\\E\\p{Math}", foreign: "\\p{Math}" },
  { source: "\\pX", foreign: "\\pX" },
  { source: "\\p{Greek}\\P{^Han}\\pN", foreign: null },
])("foreignProperty() of $source is $foreign", ({ source, foreign }) => {
  expect(foreignProperty(source)).toBe(foreign);
});
