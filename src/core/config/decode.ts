/**
 * A JSON tree with its source text to the values of a schema, with every issue in it and the place of every key.
 *
 * The schemas are valibot's, read as data: `safeParse` would stop at the first unknown key, and would know neither how
 * a number is spelled nor where it stands. What is wrong has the value `undefined`, and what is right beside it stays.
 */
import { foundName } from "../delegation/decode.ts";
import { parseJson } from "../json/parse.ts";
import type { SourceMember, SourceNode, SourceObject } from "../json/source.ts";
import { nearest } from "../near-miss.ts";
import type { ConfigIssueCode } from "./issue.ts";

/** A valibot action, as far as it says something about a value. */
type Action = { readonly type: string; readonly requirement?: unknown; readonly message?: unknown };
type Piped = { readonly pipe?: readonly Action[] };

/** The part of valibot's schemas that the config is made of. */
export type Shape =
  | ({ readonly type: "string" | "number" | "boolean" } & Piped)
  | ({ readonly type: "picklist"; readonly options: readonly string[] } & Piped)
  | ({ readonly type: "array"; readonly item: Shape } & Piped)
  | ({ readonly type: "union"; readonly options: readonly Shape[] } & Piped)
  /** Any JSON object. */
  | ({ readonly type: "record" } & Piped)
  | ({ readonly type: "nullable"; readonly wrapped: Shape } & Piped)
  | ({ readonly type: "optional"; readonly wrapped: Shape; readonly default: unknown } & Piped)
  /** Has no value where it is absent. */
  | ({ readonly type: "exact_optional"; readonly wrapped: Shape } & Piped)
  | ({ readonly type: "strict_object"; readonly entries: Readonly<Record<string, Shape>> } & Piped);

export type Decoding = {
  readonly text: string;
  /** Where each key that is given stands: offsets by path. Filled on the way. */
  readonly places: Map<string, number>;
  /** Values that are not looked at: they are judged elsewhere. */
  readonly skipped: ReadonlyMap<SourceNode, string>;
  /** A hint that costs time is a function: it is asked for only where it will be told. */
  readonly tell: (
    code: ConfigIssueCode,
    path: string,
    at: number,
    message: string,
    hint?: string | null | (() => string | null),
  ) => void;
};

/** The depth of the values inside a key that takes any object. */
const ANY_DEPTH = 32;

/**
 * @param path of the value: `limits.width`, `seats[0].name`; "" is the document
 * @returns    the value, defaults filled in; `undefined` where it is wrong, in place of a key or an item as well
 * Errors:     none; time is linear in the text
 */
export function decode(shape: Shape, node: SourceNode, path: string, decoding: Decoding): unknown {
  if (decoding.skipped.has(node)) return undefined;
  switch (shape.type) {
    case "optional":
    case "exact_optional":
      return decode(shape.wrapped, node, path, decoding);
    case "nullable":
      return node.kind === "null" ? null : decode(shape.wrapped, node, path, decoding);
    case "boolean":
      return node.kind === "boolean" ? node.value : mismatch(shape, node, path, decoding);
    case "string":
      return node.kind === "string"
        ? stringOf(shape, node.value, node, path, decoding)
        : mismatch(shape, node, path, decoding);
    case "picklist":
      return node.kind === "string"
        ? chosen(shape.options, node.value, node, path, decoding)
        : mismatch(shape, node, path, decoding);
    case "number":
      return node.kind === "number"
        ? numberOf(shape, node.text, node, path, decoding)
        : mismatch(shape, node, path, decoding);
    case "record":
      return node.kind === "object" ? anyObject(node, path, decoding) : mismatch(shape, node, path, decoding);
    case "array":
      return node.kind === "array"
        ? listOf(shape, node.items, node, path, decoding)
        : mismatch(shape, node, path, decoding);
    case "strict_object":
      return node.kind === "object"
        ? objectOf(shape.entries, node, path, decoding)
        : mismatch(shape, node, path, decoding);
    case "union": {
      const fit = shape.options.find((option) => isOfKind(option, node));
      return fit === undefined ? mismatch(shape, node, path, decoding) : decode(fit, node, path, decoding);
    }
    default:
      return shape satisfies never;
  }
}

/** What stands for a key that is not given; `undefined` where it has no default. */
export function presetOf(shape: Shape): unknown {
  if (shape.type !== "optional") return undefined;
  if (shape.wrapped.type !== "strict_object") return shape.default;
  return Object.fromEntries(
    Object.entries(shape.wrapped.entries).flatMap(([key, entry]) => {
      const preset = presetOf(entry);
      return preset === undefined ? [] : [[key, preset]];
    }),
  );
}

/** The path of a member. */
export function keyPath(parent: string, key: string): string {
  if (!/^[\w$-]{1,64}$/.test(key)) return `${parent}[${JSON.stringify(clip(key, 64))}]`;
  return parent === "" ? key : `${parent}.${key}`;
}

function objectOf(
  entries: Readonly<Record<string, Shape>>,
  node: SourceObject,
  path: string,
  decoding: Decoding,
): Readonly<Record<string, unknown>> {
  const given = new Map<string, SourceMember>();
  for (const member of node.members) {
    if (Object.hasOwn(entries, member.key)) given.set(member.key, member);
    else unknownKey(Object.keys(entries), member, path, decoding);
  }
  const values: Record<string, unknown> = {};
  for (const [key, shape] of Object.entries(entries)) {
    const member = given.get(key);
    const place = keyPath(path, key);
    if (member !== undefined) {
      decoding.places.set(place, member.start);
      values[key] = decode(shape, member.value, place, decoding);
    } else if (shape.type === "optional") values[key] = presetOf(shape);
    else if (shape.type !== "exact_optional") {
      decoding.tell("missing_key", place, node.start, `${nameOf(path)} needs the key "${key}"`);
    }
  }
  return values;
}

function unknownKey(known: readonly string[], { key, start }: SourceMember, path: string, { tell }: Decoding): void {
  const message = `${nameOf(path)} has no key ${JSON.stringify(clip(key, 64))}`;
  tell("unknown_key", keyPath(path, key), start, message, () => {
    const near = nearest(key, known);
    if (near !== null) return `Did you mean "${near}"?`;
    return `Known are ${known.filter((each) => each !== "$schema").join(", ")}`;
  });
}

function listOf(
  shape: Extract<Shape, { type: "array" }>,
  items: readonly SourceNode[],
  node: SourceNode,
  path: string,
  decoding: Decoding,
): readonly unknown[] {
  const most = numberIn(shape, "max_length") ?? items.length;
  if (items.length > most) {
    decoding.tell("out_of_range", path, node.start, `It has ${items.length} entries; at most ${most} are allowed`);
  }
  return items.slice(0, most).map((item, index) => {
    const place = `${path}[${index}]`;
    decoding.places.set(place, item.start);
    return decode(shape.item, item, place, decoding);
  });
}

function anyObject(node: SourceObject, path: string, { text, tell, places }: Decoding): unknown {
  for (const member of node.members) places.set(keyPath(path, member.key), member.start);
  const parsed = parseJson(text.slice(node.start, node.end), { maxDepth: ANY_DEPTH });
  if (parsed.ok) return parsed.value;
  const { code, message, at } = parsed.fault;
  tell(code === "too_deep" ? "too_deep" : "bad_value", path, node.start + at, capitalized(message));
  return undefined;
}

function stringOf(shape: Shape, value: string, node: SourceNode, path: string, { tell }: Decoding): string | undefined {
  const most = numberIn(shape, "max_length");
  if (most !== null && value.length > most) {
    tell("out_of_range", path, node.start, `It has ${value.length} characters; at most ${most} are allowed`);
    return undefined;
  }
  const rule = shape.pipe?.find((action) => action.type === "regex");
  if (!(rule?.requirement instanceof RegExp) || rule.requirement.test(value)) return value;
  // The value is not shown: a key may stand where a name is due.
  tell("bad_value", path, node.start, `It must be ${String(rule.message)}`);
  return undefined;
}

function chosen(
  options: readonly string[],
  value: string,
  node: SourceNode,
  path: string,
  { tell }: Decoding,
): string | undefined {
  if (options.includes(value)) return value;
  const near = nearest(value, options);
  const hint = near === null ? null : `Did you mean "${near}"?`;
  tell("bad_value", path, node.start, `It must be ${listed(options)}, not ${JSON.stringify(clip(value, 40))}`, hint);
  return undefined;
}

function numberOf(
  shape: Shape,
  literal: string,
  node: SourceNode,
  path: string,
  decoding: Decoding,
): number | undefined {
  const isInteger = shape.pipe?.some((action) => action.type === "integer") === true;
  if (isInteger && !/^-?\d+$/.test(literal)) {
    mismatch(shape, node, path, decoding);
    return undefined;
  }
  const value = Number(literal) + 0;
  const least = numberIn(shape, "min_value") ?? Number.NEGATIVE_INFINITY;
  const most = numberIn(shape, "max_value") ?? Number.POSITIVE_INFINITY;
  if (value >= least && value <= most) return value;
  decoding.tell("out_of_range", path, node.start, `It must be from ${least} to ${most}, not ${clip(literal, 40)}`);
  return undefined;
}

function mismatch(shape: Shape, node: SourceNode, path: string, { tell }: Decoding): undefined {
  const integer = shape.type === "number" && (node.kind === "number" || node.kind === "string");
  const hint = integer ? "Write digits alone, without quotes, point or exponent" : null;
  tell(
    "type_mismatch",
    path,
    node.start,
    `${path === "" ? "The config" : "It"} must be ${wantedName(shape)}, not ${foundName(node)}`,
    hint,
  );
}

function isOfKind(shape: Shape, node: SourceNode): boolean {
  return shape.type === "strict_object" ? node.kind === "object" : shape.type === node.kind;
}

function wantedName(shape: Shape): string {
  switch (shape.type) {
    case "optional":
    case "exact_optional":
      return wantedName(shape.wrapped);
    case "nullable":
      return `${wantedName(shape.wrapped)} or null`;
    case "boolean":
      return "true or false";
    case "string":
      return "a string";
    case "picklist":
      return listed(shape.options);
    case "number":
      return shape.pipe?.some((action) => action.type === "integer") === true ? "an integer" : "a number";
    case "array":
      return "a list";
    case "record":
    case "strict_object":
      return "an object";
    case "union":
      return shape.options.map(wantedName).join(" or ");
    default:
      return shape satisfies never;
  }
}

function nameOf(path: string): string {
  return path === "" ? "The config" : `"${path}"`;
}

function listed(options: readonly string[]): string {
  return options.map((option) => JSON.stringify(option)).join(" or ");
}

function numberIn(shape: Shape, type: string): number | null {
  const found = shape.pipe?.find((action) => action.type === type)?.requirement;
  return typeof found === "number" ? found : null;
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
