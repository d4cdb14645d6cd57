import { expect, test } from "bun:test";
import fc from "fast-check";
import { frontMatterName } from "../../../src/core/brief/front-matter.ts";

test.each([
  { what: "a plain name", text: "---\nname: handoff\ndescription: x\n---\n# Body\n", name: "handoff" },
  { what: "a quoted name, CRLF", text: '---\r\ndescription: y\r\nname: "hand off"\r\n---\r\n', name: "hand off" },
  { what: "no front matter", text: "# Body\nname: handoff\n", name: null },
  { what: "front matter that is never closed", text: "---\nname: handoff\n", name: null },
  { what: "no name", text: "---\ntitle: x\n---\n", name: null },
  { what: "a blank name", text: "---\nname:\n---\n", name: null },
  { what: "a name that is a list", text: "---\nname: [a]\n---\n", name: null },
  { what: "a name given twice", text: "---\nname: a\nname: b\n---\n", name: null },
  { what: "no mapping", text: "---\n- name\n---\n", name: null },
  { what: "no YAML", text: "---\nname: a\n  b: : c\n---\n", name: null },
  { what: "too much of it", text: `---\nname: a\n${"k: v\n".repeat(10_000)}---\n`, name: null },
  { what: "deep brackets", text: `---\nname: a\nx: ${"[".repeat(5_000)}\n---\n`, name: null },
  { what: "deep marks", text: `---\nname: a\nx:\n${"- ".repeat(5_000)}y\n---\n`, name: null },
  {
    what: "deep indentation",
    text: `---\nname: a\n${Array.from({ length: 100 }, (_, n) => `${" ".repeat(n)}k:`).join("\n")}\n---\n`,
    name: null,
  },
])("frontMatterName() of $what", ({ text, name }) => {
  expect(frontMatterName(text)).toBe(name);
});

test("frontMatterName() returns on any text", () => {
  const yaml = fc.string({ unit: fc.constantFrom(..."name: ab-?[]{}&*!|>'\"#%@\n\t "), maxLength: 120 });
  fc.assert(
    fc.property(yaml, (text) => {
      const name = frontMatterName(`---\n${text}\n---\n`);
      expect(name === null || name.trim() === name).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
