/** The strict reader, and those that say where something stands in a text that it reads. */
import { mapJson, replaceValue } from "../../../src/core/json/edit.ts";
import { checkJson, parseJson, positionOf, surveyJson } from "../../../src/core/json/parse.ts";
import { partsOf } from "../../../src/core/json/parts.ts";
import { readSource } from "../../../src/core/json/source.ts";
import { canonicalJson, compactJson, prettyJson } from "../../../src/core/json/value.ts";
import { filesBelow } from "../corpus.ts";
import { hold, reading, same } from "../target.ts";

export const json = reading({
  name: "json",
  parts: ["text"],
  corpus: () => [...filesBelow("fixtures", ".json"), ...filesBelow("contracts", ".json")],
  read: ({ text }) => {
    const strict = parseJson(text, { maxDepth: 128 });
    const survey = surveyJson(text, { maxDepth: 128 });
    const lenient = lenientOf(text);
    same("checkJson says what parseJson says", checkJson(text), strict.ok ? null : strict.fault);
    // What nests too deep is left before its end.
    if (survey.content?.code !== "too_deep" && survey.grammar?.code !== "too_deep")
      same(
        "a text is JSON for the strict reader where it is for JSON.parse",
        survey.grammar === null,
        lenient !== null,
      );
    const source = readSource(text, { maxDepth: 128 });
    if (!strict.ok) {
      const { at, line, column } = strict.fault;
      hold("a fault stands in the text", at >= 0 && at <= text.length, strict.fault);
      same("line and column say where it is", positionOf(text, at), { line, column });
      if (source.ok)
        hold(
          "only a number is read by its source and by no value",
          strict.fault.code === "inexact_number",
          strict.fault,
        );
      return;
    }
    hold("what has a value has a source", source.ok);
    const compact = compactJson(strict.value);
    same(
      "the strict reader and JSON.parse read the same",
      compact,
      lenient === null ? null : JSON.stringify(lenient.value),
    );
    for (const written of [compact, prettyJson(strict.value)]) {
      const again = parseJson(written);
      same("what was written reads again as the same", again.ok ? compactJson(again.value) : again.fault, compact);
    }
    const canonical = parseJson(canonicalJson(strict.value));
    same(
      "the canonical text is its own",
      canonical.ok ? canonicalJson(canonical.value) : null,
      canonicalJson(strict.value),
    );
    const { kind, parts } = partsOf(text);
    const spelled = parts.map(
      ({ key, start, end }) => (kind === "object" ? `${JSON.stringify(key)}:` : "") + text.slice(start, end),
    );
    if (kind !== "scalar")
      same(
        "its parts are all of it",
        JSON.stringify(JSON.parse(kind === "object" ? `{${spelled}}` : `[${spelled}]`)),
        compact,
      );
    const root = mapJson(text);
    same("the map has the whole of it", text.slice(root.start, root.end), text.trim());
    same("a value put in is there", JSON.stringify(JSON.parse(replaceValue(text, root, { a: [1] }))), '{"a":[1]}');
  },
});

function lenientOf(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}
