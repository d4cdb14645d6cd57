/**
 * A JSON object to the fields of a schema, each with its place in the text: names match in any case, `null` counts as
 * absent, integers are judged as they are spelled, and what has the wrong type is an issue for its element.
 *
 * The schemas are valibot's, read as data: `safeParse` would know neither the spelling of a number nor the key as it
 * was written.
 */
import { quote } from "../acceptance/quoting.ts";
import type { SourceNode, SourceObject } from "../json/source.ts";
import { foldName } from "./fold.ts";
import type { DelegationIssue } from "./issue.ts";
import { pointerTo } from "./pointer.ts";

/** The part of valibot's schemas that contracts are made of. */
export type Shape =
  | { readonly type: "string" }
  /** An integer. */
  | { readonly type: "number" }
  | { readonly type: "array"; readonly item: Shape }
  | ObjectShape
  /** `null` counts as absent. */
  | { readonly type: "nullish"; readonly wrapped: Shape; readonly default: unknown }
  /** `null` is a value like any other. */
  | { readonly type: "optional"; readonly wrapped: Shape }
  /** Judged elsewhere: the node is handed on as it is. */
  | { readonly type: "record" }
  /** Whatever stands there has no effect. */
  | { readonly type: "unknown" };

export type ObjectShape = { readonly type: "loose_object"; readonly entries: Readonly<Record<string, Shape>> };

/** The fields of one object as they were decoded. */
export type Decoded = {
  /** By the name of the field. Absent fields have their default, or are not there where the schema has none. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Fields that are there and have the wrong type, somewhere in them: they have no value. */
  readonly failed: ReadonlySet<string>;
  /** The pointer of each field that is there, by the key as it is written. */
  readonly places: Readonly<Record<string, string>>;
};

/** An integer literal: its digits may be more than any number holds. */
export type IntegerLiteral = { readonly literal: string; readonly value: number };

/** Elements of one list that get an issue of their own; the others are counted. */
const TOLD_ELEMENTS = 64;

/**
 * @param place  the pointer of the object
 * @param report gets an issue for each value of the wrong type, in the order of the text
 * @returns      a string for a string, `IntegerLiteral` for an integer, a list for a list, `values` for an object in a
 *               list, a `SourceNode` for a record
 * Errors:       none; time is linear in the object
 */
export function decodeObject(
  shape: ObjectShape,
  object: SourceObject,
  place: string,
  report: (issue: DelegationIssue) => void,
  label = "",
): Decoded {
  const values: Record<string, unknown> = {};
  const places: Record<string, string> = {};
  const failed = new Set<string>();
  for (const [name, field] of Object.entries(shape.entries)) {
    if (field.type === "nullish") values[name] = field.default;
  }
  for (const member of object.members) {
    const name = foldName(member.key);
    const field = Object.hasOwn(shape.entries, name) ? shape.entries[name] : undefined;
    if (field === undefined) continue;
    places[name] = pointerTo(place, member.key);
    if (member.value.kind === "null" && field.type !== "optional") continue;
    const value = decode(field, member.value, places[name], `${label}${member.key}`, report);
    if (value === WRONG) failed.add(name);
    else if (value !== undefined) values[name] = value;
  }
  return { values, failed, places };
}

/** The members of an object that are no field of it. */
export function unknownMembers(shape: ObjectShape, object: SourceObject): readonly string[] {
  return object.members.map(({ key }) => key).filter((key) => !Object.hasOwn(shape.entries, foldName(key)));
}

const WRONG = Symbol("wrong type");

function decode(
  shape: Shape,
  node: SourceNode,
  place: string,
  label: string,
  report: (issue: DelegationIssue) => void,
): unknown {
  switch (shape.type) {
    case "nullish":
    case "optional":
      return decode(shape.wrapped, node, place, label, report);
    case "record":
      return node;
    case "unknown":
      return undefined;
    case "string":
      return node.kind === "string" ? node.value : mismatch(shape, node, place, label, report);
    case "number":
      return node.kind === "number" && INTEGER.test(node.text)
        ? integerOf(node.text)
        : mismatch(shape, node, place, label, report);
    case "array":
      return node.kind === "array"
        ? decodeList(shape.item, node.items, place, label, report)
        : mismatch(shape, node, place, label, report);
    case "loose_object": {
      if (node.kind !== "object") return mismatch(shape, node, place, label, report);
      const { values, failed } = decodeObject(shape, node, place, report, `${label}.`);
      return failed.size === 0 ? values : WRONG;
    }
    default:
      return shape satisfies never;
  }
}

function decodeList(
  item: Shape,
  nodes: readonly SourceNode[],
  place: string,
  label: string,
  report: (issue: DelegationIssue) => void,
): unknown {
  const values: unknown[] = [];
  let wrong = 0;
  nodes.forEach((node, index) => {
    const told = wrong < TOLD_ELEMENTS ? report : () => {};
    const value = decode(item, node, pointerTo(place, index), `${label}[${index}]`, told);
    if (value === WRONG) wrong += 1;
    else values.push(value);
  });
  if (wrong > TOLD_ELEMENTS) {
    const message = `Field ${quote(label)} has ${wrong - TOLD_ELEMENTS} more elements of the wrong type`;
    report({ code: "type_mismatch", path: place, message, hint: null });
  }
  return wrong === 0 ? values : WRONG;
}

const INTEGER = /^-?\d+$/;

function integerOf(literal: string): IntegerLiteral {
  const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number;
  return { literal, value: Math.min(MAX_SAFE_INTEGER, Math.max(MIN_SAFE_INTEGER, Number(literal))) };
}

function mismatch(
  shape: Shape,
  node: SourceNode,
  place: string,
  label: string,
  report: (issue: DelegationIssue) => void,
): typeof WRONG {
  report({
    code: "type_mismatch",
    path: place,
    message: `Field ${quote(label)} must be ${wantedName(shape)}, not ${foundName(node)}`,
    hint: hintOf(shape, node),
  });
  return WRONG;
}

function wantedName(shape: Shape): string {
  switch (shape.type) {
    case "string":
      return "a string";
    case "number":
      return "an integer";
    case "array":
      return shape.item.type === "string" ? "a list of strings" : "a list of objects";
    default:
      return "an object";
  }
}

/** What stands in a place, in words. */
export function foundName(node: SourceNode): string {
  switch (node.kind) {
    case "null":
      return "null";
    case "boolean":
      return String(node.value);
    case "number":
      return `the number ${node.text.length <= 40 ? node.text : `${node.text.slice(0, 40)}…`}`;
    case "string":
      return "a string";
    case "array":
      return "a list";
    case "object":
      return "an object";
    default:
      return node satisfies never;
  }
}

function hintOf(shape: Shape, node: SourceNode): string | null {
  if (shape.type === "array" && node.kind === "string") return "Put it into a list, in square brackets";
  if (shape.type === "number" && (node.kind === "number" || node.kind === "string")) {
    return "Write digits alone, without quotes, point or exponent";
  }
  return null;
}
