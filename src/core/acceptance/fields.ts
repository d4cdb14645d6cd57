/** The fields of a structured result that checks name. */
import type { Check } from "./check.ts";
import { parseCheck } from "./parse.ts";

/**
 * The accepted fields: what `min_items`, `nonempty` and `@field=` checks name, in the order of the checks, each once.
 * They join what the contract's schema requires.
 *
 * @param lines those that do not parse are passed over
 * Errors: none
 */
export function acceptedFields(lines: readonly string[]): readonly string[] {
  const fields = new Set<string>();
  for (const line of lines) {
    const parsed = parseCheck(line);
    if (parsed.ok) for (const field of fieldsOf(parsed.check)) fields.add(field);
  }
  return [...fields];
}

function fieldsOf(check: Check): readonly string[] {
  switch (check.verb) {
    case "contains":
    case "not_contains":
    case "regex":
      return check.authority === "field" ? [check.field] : [];
    case "min_items":
      return [check.field];
    case "nonempty":
      return check.fields;
    case "diff_touches":
    case "diff_max_files":
      return [];
    default:
      return check satisfies never;
  }
}
