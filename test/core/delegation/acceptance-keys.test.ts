import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findAcceptance, mentionsAcceptance } from "../../../src/core/delegation/acceptance-keys.ts";
import { readSource } from "../../../src/core/json/source.ts";

function walked(text: string): readonly string[] {
  const read = readSource(text);
  return read.ok ? findAcceptance(read.node).map(({ path }) => path) : ["does not read"];
}

describe("findAcceptance() and mentionsAcceptance()", () => {
  test.each([
    { text: '{"acceptance":[]}', paths: ["/acceptance"] },
    { text: '{"ACCEPTANCE" : 1}', paths: ["/ACCEPTANCE"] },
    { text: '{"\\u0061cceptance"\n:\t[]}', paths: ["/acceptance"] },
    { text: '[{"a":[{"b":{"Acceptance":[]}}]}]', paths: ["/0/a/0/b/Acceptance"] },
    {
      text: '{"a/b":{"acceptance":[{"acceptance":[]}]}}',
      paths: ["/a~1b/acceptance", "/a~1b/acceptance/0/acceptance"],
    },
    { text: '{"a":"acceptance","b":["acceptance"],"acceptances":1,"x acceptance":2}', paths: [] },
    { text: '{"a":"\\"acceptance\\":"}', paths: [] },
    { text: '{"a\\\\":"acceptance"}', paths: [] },
    { text: '"acceptance"', paths: [] },
  ])("of $text", ({ text, paths }) => {
    expect(walked(text)).toEqual(paths);
    expect(mentionsAcceptance(text)).toBe(paths.length > 0);
  });

  test("agree on every document", () => {
    const key = fc.constantFrom("acceptance", "Acceptance", "acceptanc", "x", '"acceptance":', "acceptance ");
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, key, fc.integer(), fc.array(tie("value"), { maxLength: 3 }), tie("object")),
      object: fc.dictionary(key, tie("value"), { maxKeys: 3 }),
    }));
    fc.assert(
      fc.property(value, (each) => {
        const text = JSON.stringify(each);
        expect(mentionsAcceptance(text)).toBe(walked(text).length > 0);
      }),
    );
  });
});

test.each([
  { text: '{"a":1,,"acceptance":[]}', seen: true },
  { text: "{'acceptance':[]}", seen: false },
  { text: '{"acceptance', seen: false },
  { text: '"'.repeat(100_001), seen: false },
])("mentionsAcceptance() sees into $text, which does not parse: $seen", ({ text, seen }) => {
  expect(mentionsAcceptance(text)).toBe(seen);
});
