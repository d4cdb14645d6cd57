/**
 * A JSON document from outside to a value of a valibot schema, or everything that is wrong with it at once: a config, a
 * script, a gate file. Unknown keys are issues when the schema's objects are strict, each with the key that may have
 * been meant.
 */
import * as v from "valibot";
import { nearest } from "../near-miss.ts";
import type { Issue } from "../result.ts";
import { decodeUtf8 } from "../utf8.ts";
import { parseJson } from "./parse.ts";
import type { JsonValue } from "./value.ts";

export type ReadDocument<T> =
  | { readonly ok: true; readonly value: T }
  /** At least one; `path` is a JSON pointer, "" for the document as a whole. */
  | { readonly ok: false; readonly issues: readonly DocumentIssue[] };

export type DocumentIssue = Issue & { readonly path: string };

/** Issues that are told of one document, where a hostile one could hold millions. */
const TOLD = 64;
const MAX_DEPTH = 64;
const SHOWN = 80;

/**
 * Reads the bytes of a document strictly: UTF-8, no key twice, no number that cannot be held exactly, no YAML.
 *
 * @param what     the document as a message names it: "the config", "the gate file"
 * @param maxBytes of the whole document
 * Errors: none is thrown, whatever the bytes
 */
export function readDocument<S extends v.GenericSchema>(
  schema: S,
  bytes: Uint8Array,
  { what, maxBytes }: { readonly what: string; readonly maxBytes: number },
): ReadDocument<v.InferOutput<S>> {
  if (bytes.length > maxBytes) {
    return refused("too_large", `Cannot read ${what}: it has ${bytes.length} bytes, at most ${maxBytes} are allowed`);
  }
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) return refused("not_json", `Cannot read ${what}: byte ${decoded.offset} is no UTF-8`);
  const parsed = parseJson(decoded.text, { maxDepth: MAX_DEPTH });
  if (!parsed.ok) {
    const { line, column, message } = parsed.fault;
    return refused("not_json", `Cannot read ${what}: line ${line}, column ${column}: ${message}`);
  }
  return readValue(schema, parsed.value);
}

/** The value of a document that was parsed before. See `readDocument`. */
export function readValue<S extends v.GenericSchema>(schema: S, value: JsonValue): ReadDocument<v.InferOutput<S>> {
  const lists = listsForObjects(unwrapped(schema), value, "");
  const result = v.safeParse(schema, value);
  if (result.success && lists.length === 0) return { ok: true, value: result.output };
  const others = (result.issues ?? []).flatMap((issue) => toldOf(issue, schema));
  const isWithinList = (path: string) => lists.some((list) => path === list.path || path.startsWith(`${list.path}/`));
  return { ok: false, issues: [...lists, ...others.filter(({ path }) => !isWithinList(path))].slice(0, TOLD) };
}

/** Lists where an object is due: to valibot a list is an object with numbers for keys. */
function listsForObjects(
  schemas: readonly Record<string, unknown>[],
  value: unknown,
  path: string,
): readonly DocumentIssue[] {
  const below = (step: string | number, inner: unknown) =>
    listsForObjects(
      schemas.flatMap((each) => childrenOf(each, step)).flatMap(unwrapped),
      inner,
      `${path}/${escapeStep(String(step))}`,
    );
  if (schemas.length === 0) return [];
  if (!Array.isArray(value))
    return isRecord(value) ? Object.entries(value).flatMap(([key, inner]) => below(key, inner)) : [];
  const isObject = ({ type, entries }: Record<string, unknown>) => entries !== undefined || type === "record";
  const isMistaken =
    schemas.some(isObject) && schemas.every((each) => isObject(each) || SCALARS.has(String(each.type)));
  if (!isMistaken) return value.flatMap((inner, index) => below(index, inner));
  return [{ code: "type_mismatch", path, message: "Expected an object, found a list", hint: null }];
}

/** Schemas that take no list in any case. */
const SCALARS: ReadonlySet<string> = new Set(["string", "number", "boolean", "null", "literal", "picklist"]);

function refused<T>(code: string, message: string): ReadDocument<T> {
  return { ok: false, issues: [{ code, path: "", message, hint: null }] };
}

/** valibot's issue in our words; a union's is that of the choice that came closest. */
function toldOf(issue: v.BaseIssue<unknown>, schema: v.GenericSchema): readonly DocumentIssue[] {
  const steps = (issue.path ?? []).map(({ key }) => key);
  const path = steps.reduce<string>((pointer, step) => `${pointer}/${escapeStep(String(step))}`, "");
  const last = steps.at(-1);
  if (issue.expected === "never" && typeof last === "string") {
    // valibot tells of the first unknown key of an object; all of them are wanted.
    const parent = issue.path?.at(-1)?.input;
    const known = keysAt(schema, steps.slice(0, -1), parent);
    const unknown = isRecord(parent) ? Object.keys(parent).filter((key) => !known.includes(key)) : [];
    return (unknown.includes(last) ? unknown : [last]).map((key) => unknownKey(path, key, known));
  }
  const choice = issue.type === "union" ? closestChoice(issue, schema, steps) : null;
  if (choice !== null) return choice.map((inner) => ({ ...inner, path: path + inner.path }));
  if (issue.received === "undefined") {
    return [{ code: "missing_key", path, message: `The key ${shown(String(last))} is missing`, hint: null }];
  }
  const isType = issue.kind === "schema";
  const message = isType ? `Expected ${expectedOf(issue.expected)}, found ${found(issue.input)}` : issue.message;
  return [{ code: isType ? "type_mismatch" : "bad_value", path, message, hint: null }];
}

/** @param path the pointer of one of the unknown keys of the object */
function unknownKey(path: string, key: string, known: readonly string[]): DocumentIssue {
  const near = nearest(key, known);
  const hint = near !== null ? `Did you mean ${near}?` : known.length > 0 ? `Known are: ${known.join(", ")}` : null;
  const place = `${path.slice(0, path.lastIndexOf("/"))}/${escapeStep(key)}`;
  return { code: "unknown_key", path: place, message: `There is no key ${shown(key)} here`, hint };
}

/** What is wrong by the choice of a union that has the right kind and the fewest issues; null where none has the kind. */
function closestChoice(
  issue: v.BaseIssue<unknown>,
  schema: v.GenericSchema,
  steps: readonly unknown[],
): readonly DocumentIssue[] | null {
  let best: readonly DocumentIssue[] | null = null;
  for (const option of schemasAt(schema, steps).flatMap(unwrapped)) {
    const own = option as unknown as v.GenericSchema;
    const result = v.safeParse(own, issue.input);
    if (result.success || result.issues.some(({ path }) => path === undefined)) continue;
    const told = result.issues.flatMap((inner) => toldOf(inner, own));
    if (best === null || told.length < best.length) best = told;
  }
  return best;
}

function escapeStep(step: string): string {
  return step.replaceAll("~", "~0").replaceAll("/", "~1");
}

function expectedOf(expected: string | null): string {
  return (expected ?? "another value").replaceAll(/\bObject\b/g, "an object").replaceAll(/\bArray\b/g, "a list");
}

function found(input: unknown): string {
  if (Array.isArray(input)) return "a list";
  if (typeof input === "object" && input !== null) return "an object";
  return shown(JSON.stringify(input) ?? String(input), false);
}

function shown(text: string, isQuoted = true): string {
  const cut = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return isQuoted ? `"${cut}"` : cut;
}

/**
 * The keys that an object at a place of the schema may have; none where that depends on the document. Of several kinds
 * of object it is the one that the object says it is.
 */
function keysAt(schema: unknown, steps: readonly unknown[], object: unknown): readonly string[] {
  const kinds = schemasAt(schema, steps).flatMap(unwrapped);
  const meant = kinds.filter((each) => saysItIs(object, each));
  return [...new Set((meant.length > 0 ? meant : kinds).flatMap(entriesOf))];
}

/** Whether every key with one possible value has it, and there is such a key. */
function saysItIs(object: unknown, { entries }: Record<string, unknown>): boolean {
  if (!isRecord(entries) || !isRecord(object)) return false;
  const fixed = Object.entries(entries).filter(([, each]) => isRecord(each) && each.type === "literal");
  return fixed.length > 0 && fixed.every(([key, each]) => isRecord(each) && object[key] === each.literal);
}

function schemasAt(schema: unknown, steps: readonly unknown[]): readonly unknown[] {
  let at: readonly unknown[] = [schema];
  for (const step of steps) at = at.flatMap((each) => childrenOf(each, step));
  return at;
}

function childrenOf(schema: unknown, step: unknown): readonly unknown[] {
  return unwrapped(schema).flatMap((each) => {
    if (isRecord(each.entries)) return typeof step === "string" && step in each.entries ? [each.entries[step]] : [];
    if (typeof step === "number" && each.item !== undefined) return [each.item];
    return each.value !== undefined && each.type === "record" ? [each.value] : [];
  });
}

function entriesOf(schema: unknown): readonly string[] {
  return unwrapped(schema).flatMap(({ entries }) => (isRecord(entries) ? Object.keys(entries) : []));
}

/** The schemas that a schema stands for: an optional's own, each choice of a union. */
function unwrapped(schema: unknown): readonly Record<string, unknown>[] {
  if (!isRecord(schema)) return [];
  if (Array.isArray(schema.options)) return schema.options.flatMap(unwrapped);
  return schema.wrapped === undefined ? [schema] : unwrapped(schema.wrapped);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
