import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { partsOf } from "../../../src/core/json/parts.ts";

/** Blanks of JSON, wherever they may stand. */
function spaced(text: string, blank: string): string {
  let inString = false;
  let out = blank;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (inString && char === "\\") {
      out += char + text[++at];
      continue;
    }
    if (char === '"') inString = !inString;
    out += !inString && "{}[]:,".includes(char) ? blank + char + blank : char;
  }
  return out + blank;
}

describe("partsOf()", () => {
  test("gives the members of an object and the items of a list as they are written", () => {
    const text = ' {"a" : [1, {"b": "]}"}], "a\\"}":1e400 ,"":{}} ';
    const { kind, parts } = partsOf(text);
    expect(kind).toBe("object");
    expect(parts.map(({ key, start, end }) => [key, text.slice(start, end)])).toEqual([
      ["a", '[1, {"b": "]}"}]'],
      ['a"}', "1e400"],
      ["", "{}"],
    ]);
  });

  test("gives a key twice that is there twice", () => {
    expect(partsOf('{"a":1,"\\u0061":2}').parts.map(({ key }) => key)).toEqual(["a", "a"]);
  });

  test.each(["null", " 12 ", '"{}"', "true"])("finds no parts in %s", (text) => {
    expect(partsOf(text)).toEqual({ kind: "scalar", parts: [] });
  });

  test("is not held up by any depth", () => {
    const text = `[${"[".repeat(500_000)}${"]".repeat(500_000)},1]`;
    const { parts } = partsOf(text);
    expect(parts.map(({ start, end }) => end - start)).toEqual([1_000_000, 1]);
  });

  test("agrees with JSON.parse on every value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom("", " ", "\n\t\r "), (made, blank) => {
        const text = spaced(JSON.stringify(made), blank);
        // As text has it: -0 is 0 there.
        const value: unknown = JSON.parse(JSON.stringify(made));
        const { kind, parts } = partsOf(text);
        const read = parts.map(({ key, start, end }) => [key, JSON.parse(text.slice(start, end))]);
        if (Array.isArray(value)) expect([kind, read]).toEqual(["list", value.map((each) => ["", each])]);
        else if (typeof value === "object" && value !== null) {
          expect(kind).toBe("object");
          expect(new Map(read as [string, unknown][])).toEqual(new Map(Object.entries(value)));
        } else expect(kind).toBe("scalar");
      }),
    );
  });
});
