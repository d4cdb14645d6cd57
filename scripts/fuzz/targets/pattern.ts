/** Patterns and schemas of contracts, and what is held against them. */

import { alternativesOf } from "../../../src/core/delegation/alternatives.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { isObject, type JsonObject } from "../../../src/core/json/value.ts";
import { compilePattern, keptEngines } from "../../../src/core/pattern/re2.ts";
import { searchLines } from "../../../src/core/pattern/search.ts";
import { closeSchema } from "../../../src/core/schema/close.ts";
import { grammarOf } from "../../../src/core/schema/grammar.ts";
import { lintSchema } from "../../../src/core/schema/lint.ts";
import { responseSchemaOf } from "../../../src/core/schema/response.ts";
import { fieldOrder } from "../../../src/core/schema/shape.ts";
import { judgeText, validateText } from "../../../src/core/schema/validate.ts";
import { fitsGlob } from "../../../src/core/seat/glob.ts";
import { judgeStructured, losslessText, wholeElements } from "../../../src/core/seat/structured.ts";
import { fileAt, filesBelow, vectors } from "../corpus.ts";
import { hold, reading, same } from "../target.ts";

const PATTERN_WORDS = ["(?:", "(?P<a>", "(?i)", "(?s)", "(?m)", "^", "$", "\\b", "\\B", "\\A", "\\z", "\\pL", "\\p{Greek}", "\\P{^L}", "[[:alpha:]]", "[^", "]", "{2,5}", "{1000}", "{,}", "*?", "+?", "??", "|", "\\x{10ffff}", "\\Q", "\\E", "(", ")", ".*", "(a|b)*", "\\1", "(?=", "(?<!", "\\C", "\\k<a>", "-"]; // biome-ignore format: a list

export const pattern = reading({
  name: "pattern",
  parts: ["pattern", "text"],
  corpus: () =>
    vectors<{ readonly pattern: string; readonly text: string }>("delegation-regex").map((each) => [
      each.pattern,
      each.text,
    ]),
  words: PATTERN_WORDS,
  max_bytes: 2048,
  // A pattern is bounded by its contract's check, and so is the product of the two.
  grown_bytes: 32 * 1024,
  read: ({ text: source }, { text }) => {
    // Longer ones come from nowhere: a check has 4096 characters.
    if (source.length > 4096) return;
    const compiled = compilePattern(source);
    if (!compiled.ok) {
      hold("a refusal has a reason", compiled.reason.length > 0);
      return;
    }
    const { pattern: made } = compiled;
    const first = made.first(text);
    same("a text matches where it has a first match", made.test(text), first !== null);
    const all: string[] = [];
    for (const match of made.matches(text)) {
      all.push(match);
      if (all.length > 2000) break;
    }
    same("the first match is the first of all", all[0] ?? null, first);
    alternativesOf(source);
    const { instructions } = keptEngines();
    hold("what is kept is bounded", instructions < 10_000_000, instructions);
  },
});

export const search = reading({
  name: "search",
  parts: ["pattern", "file", "glob"],
  corpus: () => {
    const files = [fileAt("README.md").slice(0, 8000), ...filesBelow("contracts/write-door", ".ts")];
    return ["(?i)pallets", "^import", "a.*b$", "\\bif\\b|\\bfor\\b"].flatMap((each) =>
      files.map((text) => [each, text, "src/**/*.ts"]),
    );
  },
  words: [...PATTERN_WORDS, "*", "?", "**/", "\r\n"],
  max_bytes: 8192,
  read: ({ text: source }, { text }, { text: glob }) => {
    const asked = { pattern: source, files: [{ path: "src/a.ts", text }], most: 20 };
    const lines = searchLines({ ...asked, by: "line" });
    const files = searchLines({ ...asked, by: "file" });
    same(
      "a file is found where a line of it is",
      files.ok && files.matches.length > 0,
      lines.ok && lines.matches.length > 0,
    );
    if (!lines.ok) hold("a refusal is a sentence", lines.message.length > 0);
    else hold("no more is found than was wanted", lines.matches.length <= 20);
    hold("any name fits a star", fitsGlob(text.slice(0, 200).replaceAll("/", ""), "*"));
    fitsGlob(text.slice(0, 2000), glob.slice(0, 2000));
  },
});

const SCHEMA_WORDS = ["type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "#/$defs/a", "#", "additionalProperties", "pattern", "minItems", "maxLength", "minimum", "multipleOf", "uniqueItems", "string", "integer", "object", "array", "null", "format", "patternProperties", "propertyNames", "if", "then", "contains", "prefixItems", "unevaluatedProperties", "$id", "$dynamicRef", "dependentRequired"]; // biome-ignore format: a list

export const schema = reading({
  name: "schema",
  parts: ["schema", "answer"],
  corpus: () => {
    const cases = vectors<{ readonly schema: JsonObject; readonly text?: string }>(
      "delegation-schema",
      "delegation-schema-order",
    );
    return cases.map(({ schema: each, text = "{}" }) => [JSON.stringify(each), text]);
  },
  words: SCHEMA_WORDS,
  read: ({ text: source }, { text }) => {
    const parsed = parseJson(source, { maxDepth: 64 });
    if (!parsed.ok || !isObject(parsed.value)) return;
    const issues = lintSchema(parsed.value);
    hold(
      "an issue has a place and a sentence",
      issues.length <= 51 &&
        issues.every(({ path, message }) => message !== "" && (path === "" || path.startsWith("/"))),
      issues,
    );
    if (issues.length > 0) return;
    fieldOrder(parsed.value);
    hold("a grammar has a root", grammarOf(parsed.value).includes("root"));
    const response = JSON.stringify(responseSchemaOf(parsed.value));
    hold("a response schema is a schema", parseJson(response, { maxDepth: 500 }).ok, response);
    const closed = closeSchema(parsed.value, ["extra"]);
    const valid = validateText(text, closed);
    if (valid.ok) {
      same("what is published is valid", judgeText(valid.text, closed), []);
      same("what is published is published as it is", validateText(valid.text, closed), {
        ...valid,
        ...validateText(valid.text, closed),
      });
    } else hold("what is not valid says why", valid.errors.length > 0);
    judgeStructured(text, parsed.value, closed);
    const lossless = losslessText(`Here it is:\n\`\`\`json\n${text}\n\`\`\`\n`, closed);
    if (lossless !== null) same("what is taken out of an answer is valid", judgeText(lossless, closed), []);
    const whole = wholeElements(text, closed);
    if (whole !== null) same("what is kept of a cut answer is valid", judgeText(whole, closed), []);
  },
});
