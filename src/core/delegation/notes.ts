/** What an author may want to know of a contract that is valid: no fault, and nothing that acceptance is judged by. */
import { quote } from "../acceptance/quoting.ts";
import { counted } from "../counted.ts";
import { isObject, type JsonObject, valueAt } from "../json/value.ts";
import { nearest } from "../near-miss.ts";
import { propertyOf } from "../schema/keyword.ts";
import { type ObjectShape, shapeOf } from "../schema/shape.ts";
import type { ContractDraft } from "./contract.ts";
import { pointerTo } from "./pointer.ts";

/** What a template has in the place of a path. */
const PLACEHOLDER = "REPLACE";

/** As many schema properties are named. */
const NAMED = 16;

/**
 * The notes on a subtask, one sentence each.
 *
 * Errors: none
 * Source: delegation contract, section 7.1
 */
export function contractNotes(draft: ContractDraft): readonly string[] {
  const { contract, unknown, clamped } = draft;
  const notes: string[] = [];
  for (const { path, key, near } of unknown) {
    const meant = near === null ? "it is ignored" : `did you mean ${quote(near)}? It is ignored`;
    notes.push(`${path}: there is no field ${quote(key)}; ${meant}`);
  }
  for (const { path, asked, given } of clamped) notes.push(`${path}: ${asked} becomes ${given}`);
  for (const { path, value } of placeholdersOf(draft))
    notes.push(`${path}: ${quote(value)} is a placeholder to be replaced`);
  for (const [index, line] of contract.acceptance.entries()) {
    const meant = meantQualifier(line);
    if (meant !== null) {
      notes.push(
        `${pointerTo(pointerTo(draft.path, "acceptance"), index)}: it looks for this very text; did you mean ${quote(meant)}?`,
      );
    }
  }
  if (!draft.isComplete) notes.push("documents not read: --read-root says where the files of context_paths are");
  if (contract.output_schema === null) notes.push("local only: without output_schema no remote place can take it");
  else {
    const loose = looseProperties(
      contract.output_schema,
      shapeOf(contract.output_schema),
      pointerTo(draft.path, "output_schema"),
    );
    for (const path of loose.slice(0, NAMED)) {
      notes.push(`${path}: its type is beyond what an answer can be forced into; it reads as a string`);
    }
    const rest = loose.length - NAMED;
    if (rest > 0) {
      notes.push(
        `${counted(rest, "further property", "further properties")} of output_schema read as ${rest === 1 ? "a string" : "strings"}`,
      );
    }
  }
  return notes;
}

const QUALIFIERS = ["@answer", "@grounded", "@field"] as const;

/** The qualifier that the head of an argument nearly spells: `@answr:`, `@Answer:`, `@grounded :`. Null for any other. */
function meantQualifier(line: string): string | null {
  const head = /^(?:contains|not_contains|regex):\s*(@[A-Za-z]{3,12})\s*[:=]/.exec(line)?.[1];
  if (head === undefined || /^(?:contains|not_contains|regex):@(?:answer|grounded):|:@field=/.test(line)) return null;
  const near = nearest(head.toLowerCase(), QUALIFIERS);
  return near === null ? null : near === "@field" ? "@field=<name>:" : `${near}:`;
}

/** The paths of a subtask that still have to be filled in. */
export function placeholdersOf({
  path,
  context_paths,
  contract,
}: ContractDraft): readonly { readonly path: string; readonly value: string }[] {
  const places = [
    ...context_paths.map((value, index) => ({ path: pointerTo(`${path}/context_paths`, index), value })),
    ...contract.context.map(({ name }, index) => ({
      path: pointerTo(pointerTo(`${path}/context`, index), "name"),
      value: name,
    })),
    { path: `${path}/write_root`, value: contract.write_root },
  ];
  // Documents that were read stand behind the inline ones, under the names of their paths.
  const seen = new Set<string>();
  return places.filter(({ value }) => {
    if (!value.includes(PLACEHOLDER) || seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}

/** The pointers of properties that the shape reads as a string though they say something else. */
function looseProperties(schema: JsonObject, shape: ObjectShape, path: string): readonly string[] {
  return shape.fields.flatMap(({ key, shape: field }) => {
    const property = propertyOf(schema, key);
    if (property === null) return [];
    const place = pointerTo(pointerTo(path, "properties"), key);
    if (field.kind === "string") return valueAt(property, "type") === "string" ? [] : [place];
    if (field.kind === "object") return looseProperties(property, field, place);
    const items = valueAt(property, "items");
    if (field.kind !== "list" || field.item.kind !== "object" || !isObject(items)) return [];
    return looseProperties(items, field.item, pointerTo(place, "items"));
  });
}
