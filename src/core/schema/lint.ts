/**
 * Whether a schema can be worked with: judged whole before any contract is accepted, since the validator takes a
 * misspelt type or a reference that leads nowhere without a word, and says so only when an answer reaches it, or never.
 */
import { pointerTo } from "../delegation/pointer.ts";
import { compactJson, isArray, isObject, type JsonObject, type JsonValue, jsonType, valueAt } from "../json/value.ts";
import { nearest } from "../near-miss.ts";
import { compilePattern } from "../pattern/re2.ts";
import { compilableNames, type Holds, KEYWORDS, resolveReference, subschemasOf } from "./keyword.ts";
import {
  MAX_CHAIN,
  MAX_ENUM_MEMBERS,
  MAX_PATTERN_INSTRUCTIONS,
  MAX_PROPERTIES,
  MAX_SCHEMA_BYTES,
  MAX_SCHEMA_DEPTH,
  MAX_UNFOLDED,
} from "./limits.ts";

/** One thing wrong in a schema. `path` is a JSON pointer into it, `""` for the whole. */
export type SchemaIssue = { readonly path: string; readonly message: string; readonly hint: string | null };

const TYPES = ["null", "boolean", "object", "array", "number", "string", "integer"];
/** A schema that is wrong all over is told so in its first places. */
const MAX_ISSUES = 50;
const SHOWN = 60;

/**
 * Everything wrong in a schema, in the order in which its places are walked: top to bottom, then what only a `$ref`
 * leads to, then what comes back to itself.
 *
 * @param schema the contract's `output_schema`, an object
 * @returns      none when the schema is accepted; the first 50 at most. A schema beyond the limits of nesting or size is
 *               not looked at further
 * Errors: none
 * Source: JSON Schema 2020-12
 */
export function lintSchema(schema: JsonObject): readonly SchemaIssue[] {
  const lint = new Lint(schema);
  if (lint.values()) {
    lint.size();
    if (lint.issues.length === 0 || !lint.isOversized) lint.schemas();
  }
  return lint.issues;
}

class Lint {
  readonly issues: SchemaIssue[] = [];
  isOversized = false;
  private properties = 0;
  private enumMembers = 0;
  private instructions = 0;
  /** Every schema that was walked, with its place. */
  private readonly places = new Map<JsonObject, string>();

  constructor(private readonly root: JsonObject) {}

  /** Numbers, texts and nesting, also where no keyword leads; false when the nesting is too deep to go on. */
  values(): boolean {
    const left: { value: JsonValue; path: string; depth: number }[] = [{ value: this.root, path: "", depth: 1 }];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { value, path, depth } = next;
      if (typeof value === "number") this.number(value, path);
      else if (typeof value === "string") this.text(value, path);
      else if (typeof value === "object" && value !== null) {
        if (depth > MAX_SCHEMA_DEPTH) {
          this.report("", `The schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
          return false;
        }
        const children: { value: JsonValue; path: string; depth: number }[] = [];
        for (const [key, each] of Object.entries(value)) {
          if (isObject(value)) this.text(key, path);
          children.push({ value: each, path: pointerTo(path, key), depth: depth + 1 });
        }
        left.push(...children.reverse());
      }
    }
    return true;
  }

  size(): void {
    const bytes = new TextEncoder().encode(compactJson(this.root)).length;
    if (bytes <= MAX_SCHEMA_BYTES) return;
    this.isOversized = true;
    this.report("", `The schema has ${bytes} bytes as compact JSON; the limit is ${MAX_SCHEMA_BYTES}`);
  }

  schemas(): void {
    this.top();
    const left: { schema: JsonValue; path: string }[] = [{ schema: this.root, path: "" }];
    const targets: { schema: JsonValue; path: string }[] = [];
    for (;;) {
      const next = left.pop() ?? targets.shift();
      if (next === undefined) break;
      const { schema, path } = next;
      if (typeof schema === "boolean") continue;
      if (!isObject(schema)) {
        this.report(path, `A schema is an object, true or false; found ${article(schema)}`);
        continue;
      }
      if (this.places.has(schema)) continue;
      this.places.set(schema, path);
      this.keywords(schema, path, (value, place) => targets.push({ schema: value, path: place }));
      const children = subschemasOf(schema).filter((each) => isSchema(each.schema) || !isReported(schema, each.steps));
      for (const { steps, schema: each } of [...children].reverse()) {
        left.push({ schema: each, path: steps.reduce(pointerTo, path) });
      }
    }
    this.counts();
    this.circles();
  }

  private report(path: string, message: string, hint: string | null = null): void {
    if (this.issues.length < MAX_ISSUES) this.issues.push({ path, message, hint });
  }

  private number(value: number, path: string): void {
    if (
      Number.isFinite(value) &&
      !(Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21)
    ) {
      return;
    }
    this.report(
      path,
      "A number cannot be held exactly",
      "Numbers up to 9007199254740991 can; write larger ones as texts",
    );
  }

  private text(value: string, path: string): void {
    if (!value.isWellFormed()) this.report(path, "A text holds half a surrogate pair");
  }

  /** The top of a schema describes an object with something in it: a grammar could force nothing else. */
  private top(): void {
    const properties = valueAt(this.root, "properties");
    if (compilableNames(this.root).length === 0 && (properties === undefined || isObject(properties))) {
      const found =
        properties === undefined ? 'no "properties"' : 'no property in "properties" whose value is an object';
      this.report(
        properties === undefined ? "" : "/properties",
        `The schema has ${found}, so nothing could be asked of an answer`,
        'For example {"type": "object", "properties": {"summary": {"type": "string"}}}',
      );
    }
    const type = valueAt(this.root, "type");
    const types = isArray(type) ? type : [type];
    if (type !== undefined && types.every((each) => TYPES.includes(String(each))) && !types.includes("object")) {
      this.report("/type", `An answer is an object; ${quoted(type)} allows none`, 'Write "object", or leave it out');
    }
  }

  private keywords(schema: JsonObject, path: string, target: (value: JsonValue, path: string) => void): void {
    for (const name of Object.keys(schema)) {
      const value = valueAt(schema, name) ?? null;
      const at = pointerTo(path, name);
      if (name === "$dynamicRef" || name === "$recursiveRef") {
        this.report(at, `"${name}" is not followed`, 'Write a "$ref" to a place inside of the schema');
      } else if (name === "$id" && path !== "") {
        this.report(at, 'An "$id" below the top would change what a "$ref" means', "Leave it out");
      }
      const keyword = KEYWORDS.get(name);
      if (keyword !== undefined) this.keyword(keyword.holds, name, value, at, target);
    }
    const properties = valueAt(schema, "properties");
    const patterns = valueAt(schema, "patternProperties");
    for (const map of [properties, patterns]) if (isObject(map)) this.properties += Object.keys(map).length;
    const members = valueAt(schema, "enum");
    if (isArray(members)) this.enumMembers += members.length;
  }

  private keyword(
    holds: Holds,
    name: string,
    value: JsonValue,
    at: string,
    target: (value: JsonValue, path: string) => void,
  ): void {
    const wants = (what: string) => this.report(at, `"${name}" wants ${what}, found ${quoted(value)}`);
    switch (holds) {
      case "type":
        this.type(value, at);
        return;
      case "values":
        if (!isArray(value) || value.length === 0) wants("a list of at least one value");
        return;
      case "value":
        return;
      case "names":
        if (!isNames(value)) wants("a list of names");
        return;
      case "name lists":
        if (!isObject(value) || !Object.keys(value).every((key) => isUniqueNames(valueAt(value, key) ?? null))) {
          wants("an object of lists of names, each once");
        }
        return;
      case "count":
        if (typeof value !== "number" || !Number.isInteger(value) || value < 0) wants("a whole number of 0 or more");
        return;
      case "number":
        if (typeof value !== "number") wants("a number");
        return;
      case "positive":
        if (typeof value !== "number" || value <= 0) wants("a number above 0");
        return;
      case "flag":
        if (typeof value !== "boolean") wants("true or false");
        return;
      case "pattern":
        if (typeof value !== "string") wants("a pattern");
        else this.pattern(value, at);
        return;
      case "reference":
        if (typeof value !== "string") wants("a reference");
        else this.reference(value, at, target);
        return;
      case "schema":
        // What is no schema is told where the walk comes to it, but for the form that older drafts gave a keyword.
        if (isArray(value)) {
          const hint = name === "items" ? 'Write "prefixItems" for a schema for each place' : null;
          this.report(at, `"${name}" wants a schema, found a list`, hint);
        }
        return;
      case "schemas":
        if (!isArray(value) || value.length === 0) wants("a list of at least one schema");
        return;
      case "schema map":
      case "properties":
        if (!isObject(value)) wants("an object of schemas");
        return;
      case "pattern map":
        if (!isObject(value)) wants("an object of schemas");
        else for (const pattern of Object.keys(value)) this.pattern(pattern, pointerTo(at, pattern));
        return;
      default:
        holds satisfies never;
    }
  }

  private type(value: JsonValue, at: string): void {
    const names = isArray(value) ? value : [value];
    if (names.length === 0) this.report(at, '"type" names no type');
    if (new Set(names).size < names.length) this.report(at, '"type" names a type twice');
    for (const name of names) {
      if (typeof name === "string" && TYPES.includes(name)) continue;
      const near = typeof name === "string" ? nearest(name, TYPES) : null;
      this.report(
        at,
        `There is no type ${quoted(name)}`,
        near === null ? `Types are ${TYPES.join(", ")}` : `Did you mean "${near}"?`,
      );
    }
  }

  private pattern(source: string, at: string): void {
    // Compiling takes its time too: what stands behind one too many is not looked at.
    if (this.instructions > MAX_PATTERN_INSTRUCTIONS) return;
    const compiled = compilePattern(source);
    if (!compiled.ok) {
      this.report(at, `${quoted(source)} is no RE2 pattern: ${clip(compiled.reason, 200)}`);
      return;
    }
    this.instructions += compiled.pattern.size;
    if (this.instructions <= MAX_PATTERN_INSTRUCTIONS) return;
    this.report(
      at,
      `With ${quoted(source)} the patterns of the schema take ${this.instructions} instructions; the limit is ${MAX_PATTERN_INSTRUCTIONS}`,
      "{n} repeats its part n times: write it shorter, or bound the length with maxLength",
    );
  }

  private reference(value: string, at: string, target: (value: JsonValue, path: string) => void): void {
    const found = resolveReference(this.root, value);
    if (found === null) {
      const isLocal = value === "#" || value.startsWith("#/");
      const message = isLocal ? "leads to no place in the schema" : "does not begin with #/, and nothing is fetched";
      this.report(at, `"$ref" ${quoted(value)} ${message}`);
    } else if (!isSchema(found.value)) this.report(at, `"$ref" ${quoted(value)} leads to ${article(found.value)}`);
    else target(found.value, found.path);
  }

  private counts(): void {
    if (this.properties > MAX_PROPERTIES) {
      this.report("", `The schema has ${this.properties} properties over all depths; the limit is ${MAX_PROPERTIES}`);
    }
    if (this.enumMembers > MAX_ENUM_MEMBERS) {
      this.report("", `The schema has ${this.enumMembers} "enum" members in all; the limit is ${MAX_ENUM_MEMBERS}`);
    }
  }

  /** What comes back to itself without going into the value, and what unfolds without end though it does not. */
  private circles(): void {
    const known = new Map<JsonObject, Unfolded | "open">();
    let isReported = false;
    const unfold = (schema: JsonObject): Unfolded => {
      const before = known.get(schema);
      if (before !== undefined && before !== "open") return before;
      if (before === "open") {
        this.report(
          this.places.get(schema) ?? "",
          'The schema comes back to itself without going into the value: a circle of "$ref"s, of "allOf" and the like',
        );
        return { size: 1, chain: 1 };
      }
      known.set(schema, "open");
      let size = 1;
      let chain = 0;
      for (const each of this.heldWith(schema)) {
        const inner = unfold(each);
        size = Math.min(size + inner.size, MAX_UNFOLDED + 1);
        chain = Math.max(chain, inner.chain);
      }
      const unfolded = { size, chain: chain + 1 };
      known.set(schema, unfolded);
      if (!isReported && (size > MAX_UNFOLDED || unfolded.chain > MAX_CHAIN)) {
        isReported = true;
        const limit = size > MAX_UNFOLDED ? `more than ${MAX_UNFOLDED} schemas` : `a chain of more than ${MAX_CHAIN}`;
        this.report(this.places.get(schema) ?? "", `The schema unfolds to ${limit} for one value`);
      }
      return unfolded;
    };
    for (const schema of this.places.keys()) unfold(schema);
  }

  /** The schemas that are held against the same value as a schema is. */
  private *heldWith(schema: JsonObject): Iterable<JsonObject> {
    for (const each of subschemasOf(schema)) {
      if (each.applies === "same" && isObject(each.schema)) yield each.schema;
    }
    const reference = valueAt(schema, "$ref");
    const target = typeof reference === "string" ? resolveReference(this.root, reference)?.value : undefined;
    if (isObject(target)) yield target;
  }
}

type Unfolded = { readonly size: number; readonly chain: number };

/** A list where one schema is due has been told with its keyword. */
function isReported(schema: JsonObject, steps: readonly (string | number)[]): boolean {
  const [name] = steps;
  return steps.length === 1 && isArray(valueAt(schema, String(name)));
}

function isSchema(value: JsonValue): boolean {
  return isObject(value) || typeof value === "boolean";
}

function isNames(value: JsonValue): boolean {
  return isArray(value) && value.every((each) => typeof each === "string");
}

function isUniqueNames(value: JsonValue): boolean {
  return isNames(value) && isArray(value) && new Set(value).size === value.length;
}

function article(value: JsonValue): string {
  switch (jsonType(value)) {
    case "null":
      return "null";
    case "boolean":
      return String(value);
    case "array":
      return "a list";
    case "object":
      return "an object";
    case "string":
      return "a text";
    case "number":
      return "a number";
  }
}

function quoted(value: JsonValue): string {
  return clip(JSON.stringify(value), SHOWN);
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
