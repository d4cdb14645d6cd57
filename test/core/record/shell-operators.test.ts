import { expect, test } from "bun:test";
import fc from "fast-check";
import { readOperators } from "../../../src/core/record/shell-operators.ts";

const read = (text: string): readonly string[] => readOperators(text).operators.map((operator) => operator.text);

test.each([
  { text: "a || b && c | d |& e ; f & g\nh", operators: ["||", "&&", "|", "|&", ";", "&", "\n"] },
  { text: "a||b&&c|d;e", operators: ["||", "&&", "|", ";"] },
  { text: "a 'b | c' d", operators: [] },
  { text: `a "b | c; d" e`, operators: [] },
  { text: `a "b \\" | c" | d`, operators: ["|"] },
  { text: `a 'b \\' | c`, operators: ["|"] },
  { text: "a $'b \\' | c'", operators: [] },
  { text: "a \\| b \\; c", operators: [] },
  { text: "a $(b | c; $(d || e)) | f", operators: ["|"] },
  { text: "a $(b ')' | c) && d", operators: ["&&"] },
  { text: `a "$(b | "c | d")" | e`, operators: ["|"] },
  { text: "a $((1 | (2))) || b", operators: ["||"] },
  { text: "a $((b) | c) ; d", operators: [";"] },
  { text: `a \${b:-c|d} | e`, operators: ["|"] },
  { text: "a `b | 'c` | d", operators: ["|"] },
  { text: 'a `b | "c` | d', operators: ["|"] },
  { text: 'a "`b "| c"`" | d', operators: ["|"] },
  { text: "(a; b) | c", operators: [";", "|"] },
  { text: "a > b 2>&1 | c", operators: ["|"] },
  { text: "a &> b; c <&3 >& d &>> e", operators: [";"] },
  { text: "a >| b", operators: [] },
  { text: "a # b | c\nd", operators: ["\n"] },
  { text: "a#b | c", operators: ["|"] },
  { text: "a |\n  b &&\n\n c", operators: ["|", "&&"] },
  { text: "a &", operators: ["&"] },
  { text: "a &\nb", operators: ["&", "\n"] },
  { text: "a || b;", operators: ["||"] },
  { text: "a || b ;\n ; \n", operators: ["||"] },
  { text: "a & ;", operators: ["&"] },
  { text: "a 'b | c", operators: [] },
  { text: 'a "b | c', operators: [] },
  { text: "a $(b | c", operators: [] },
  { text: "a | b \\", operators: ["|"] },
  { text: "", operators: [] },
  { text: ";;\n", operators: [] },
])("readOperators() of $text", ({ text, operators }) => {
  expect(read(text)).toEqual(operators);
});

test("readOperators() says where each stands, and where the last command ends", () => {
  const text = " a || b ; \n";
  const { operators, end } = readOperators(text);
  expect(operators).toEqual([{ text: "||", start: 3, end: 5 }]);
  expect(text.slice(0, end)).toBe(" a || b");
});

test("readOperators() returns on any text, its places ascending", () => {
  const text = fc.string({ unit: fc.constantFrom(..."ab |&;\n\\'\"`$(){}#<>") });
  fc.assert(
    fc.property(text, (source) => {
      let from = 0;
      const { operators, end } = readOperators(source);
      for (const operator of operators) {
        expect(operator.start).toBeGreaterThanOrEqual(from);
        expect(source.slice(operator.start, operator.end)).toBe(operator.text);
        from = operator.end;
      }
      expect(end).toBeGreaterThanOrEqual(from);
    }),
  );
});

test.each([";", "$(", '"`', "'", "a |\n", "# ", "\n", "a;;  ", "${", "&"])(
  "readOperators() returns on much of %j",
  (piece) => {
    expect(readOperators(piece.repeat(200_000)).end).toBeGreaterThanOrEqual(0);
  },
);
