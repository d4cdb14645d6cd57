/**
 * The arguments of a tool, declared once: the JSON Schema that clients see, and the reader that tells of everything that
 * is wrong with a call at once.
 *
 * Only the first level is read here. What has a reader of its own (a contract, an envelope's value) is handed on as it is
 * written.
 */
import { cut, quote } from "../core/acceptance/quoting.ts";
import { pointerTo } from "../core/delegation/pointer.ts";
import { WritError } from "../core/error.ts";
import { partsOf } from "../core/json/parts.ts";
import type { JsonObject, JsonValue } from "../core/json/value.ts";
import { nearest } from "../core/near-miss.ts";

export type Parameter = {
  readonly required?: true;
  readonly description?: string;
} & (
  | {
      readonly kind: "text";
      /** The only values there are. */
      readonly choices?: readonly string[];
      readonly default?: string;
      /** A number is taken for its digits. */
      readonly orNumber?: true;
    }
  /** A whole number that a double holds. */
  | { readonly kind: "number"; readonly least?: number; readonly most?: number }
  | { readonly kind: "flag" }
  | { readonly kind: "texts" }
  /** Any JSON, handed over as it is written; `schema` is what clients see of it. */
  | { readonly kind: "json"; readonly schema: JsonObject }
);

export type Parameters = Readonly<Record<string, Parameter>>;

type Kinds = {
  readonly text: string;
  readonly number: number;
  readonly flag: boolean;
  readonly texts: readonly string[];
  readonly json: string;
};

/** By name; what was not given, or is null, is undefined. A `json` is its text, `null` too. */
export type ValuesOf<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends { readonly required: true }
    ? Kinds[P[K]["kind"]]
    : Kinds[P[K]["kind"]] | undefined;
};

/** The JSON Schema of an object with these members and no others. */
export function schemaOf(parameters: Parameters): JsonObject & { readonly type: "object" } {
  const entries = Object.entries(parameters);
  const required = entries.filter(([, parameter]) => parameter.required).map(([name]) => name);
  return {
    type: "object",
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(entries.map(([name, parameter]) => [name, propertyOf(parameter)])),
  };
}

function propertyOf(parameter: Parameter): JsonObject {
  const told = parameter.description === undefined ? {} : { description: parameter.description };
  switch (parameter.kind) {
    case "text": {
      const { choices, orNumber } = parameter;
      const preset = parameter.default === undefined ? {} : { default: parameter.default };
      const type = orNumber ? ["string", "integer"] : "string";
      return { type, ...(choices === undefined ? {} : { enum: choices }), ...preset, ...told };
    }
    case "number": {
      const { least, most } = parameter;
      const bounds = {
        ...(least === undefined ? {} : { minimum: least }),
        ...(most === undefined ? {} : { maximum: most }),
      };
      return { type: "integer", ...bounds, ...told };
    }
    case "flag":
      return { type: "boolean", ...told };
    case "texts":
      return { type: "array", items: { type: "string" }, ...told };
    case "json":
      return { ...parameter.schema, ...told };
    default:
      return parameter satisfies never;
  }
}

/** The last five are those of a command whose value was read and makes no sense. */
export type ArgumentCode =
  | "not_an_object"
  | "unknown_argument"
  | "duplicate_argument"
  | "missing_argument"
  | "bad_argument"
  | "bad_json"
  | "inexact_number"
  | "too_deep"
  | "empty_path"
  | "invalid_draft_id";

/** What is wrong with one argument. */
export type ArgumentIssue = {
  readonly code: ArgumentCode;
  /** A JSON pointer into the arguments. */
  readonly path: string;
  readonly message: string;
  readonly hint: string | null;
};

/** Issues that are told of one call, where a hostile one could have millions. */
const TOLD = 64;

/**
 * Reads the arguments of a call.
 *
 * @param text as they were written: JSON, of any kind
 * Errors: `bad_input` with every issue
 */
export function readArguments<const P extends Parameters>(parameters: P, text: string): ValuesOf<P> {
  const { kind, parts } = partsOf(text);
  const issues: ArgumentIssue[] = [];
  const values: Record<string, unknown> = {};
  const given = new Set<string>();
  if (kind !== "object") {
    issues.push({ code: "not_an_object", path: "", message: "The arguments of a call are an object", hint: null });
  }
  for (const { key, start, end } of kind === "object" ? parts : []) {
    if (issues.length >= TOLD) break;
    const parameter = Object.hasOwn(parameters, key) ? parameters[key] : undefined;
    const path = pointerTo("", key);
    if (given.has(key)) {
      issues.push({
        code: "duplicate_argument",
        path,
        message: `The argument ${quote(key)} is given twice`,
        hint: null,
      });
      continue;
    }
    given.add(key);
    if (parameter === undefined) {
      const near = nearest(key, Object.keys(parameters));
      const hint = near === null ? `There are: ${Object.keys(parameters).join(", ")}` : `Did you mean ${quote(near)}?`;
      issues.push({ code: "unknown_argument", path, message: `There is no argument ${quote(key)}`, hint });
      continue;
    }
    const read = readValue(parameter, text.slice(start, end));
    if (read.ok) values[key] = read.value;
    else issues.push({ code: "bad_argument", path, message: `${quote(key)} ${read.why}`, hint: read.hint });
  }
  for (const [name, { required }] of Object.entries(parameters)) {
    const isMissing =
      required && values[name] === undefined && !issues.some(({ path }) => path === pointerTo("", name));
    if (isMissing && kind === "object") {
      issues.push({
        code: "missing_argument",
        path: pointerTo("", name),
        message: `${quote(name)} is missing`,
        hint: null,
      });
    }
  }
  if (issues.length > 0) throw badInput(issues);
  // Each value was read by the declaration that its type is made from.
  return values as ValuesOf<P>;
}

/** The arguments of a call make no sense. @param issues at least one */
export function badInput(issues: readonly ArgumentIssue[]): WritError {
  const { code, message, path, hint, ...details } = badInputDetails(issues);
  return new WritError(code, message, { path, hint, details });
}

/** What the document of `bad_input` says. @param issues at least one */
export function badInputDetails(issues: readonly ArgumentIssue[]) {
  const [first] = issues;
  const only = issues.length === 1 && first !== undefined ? first : null;
  return {
    code: "bad_input" as const,
    path: only?.path ?? null,
    message: only?.message ?? `The arguments of the call have ${issues.length} issues`,
    hint: only?.hint ?? null,
    issues: issues.map((issue) => ({ ...issue })),
  };
}

type ReadValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string; readonly hint: string | null };

function readValue(parameter: Parameter, text: string): ReadValue {
  if (parameter.kind === "json") return { ok: true, value: text };
  const wrong = (wanted: string, hint: string | null = null): ReadValue => {
    return { ok: false, why: `is ${wanted}, not ${cut(text)}`, hint };
  };
  const value = JSON.parse(text) as JsonValue;
  if (value === null) return { ok: true, value: undefined };
  switch (parameter.kind) {
    case "text": {
      const given = parameter.orNumber && typeof value === "number" ? text : value;
      if (typeof given !== "string") return wrong(parameter.orNumber ? "a text or a whole number" : "a text");
      const { choices } = parameter;
      if (choices === undefined || choices.includes(given)) return { ok: true, value: given };
      const near = nearest(given, choices);
      return wrong(`one of ${choices.join(", ")}`, near === null ? null : `Did you mean ${quote(near)}?`);
    }
    case "number": {
      const { least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER } = parameter;
      if (typeof value !== "number" || !/^-?\d+$/.test(text)) return wrong("a whole number");
      return value >= least && value <= most ? { ok: true, value } : wrong(`a whole number from ${least} to ${most}`);
    }
    case "flag":
      return typeof value === "boolean" ? { ok: true, value } : wrong("true or false");
    case "texts":
      return Array.isArray(value) && value.every((each) => typeof each === "string")
        ? { ok: true, value }
        : wrong("a list of texts");
    default:
      return parameter satisfies never;
  }
}
