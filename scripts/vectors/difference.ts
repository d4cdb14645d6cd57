/** Where two values differ: `path` from the root in dots, both sides as short JSON; "nothing" where one has no such key. */
export type Difference = { readonly path: string; readonly expected: string; readonly actual: string };

const SHOWN_LENGTH = 160;

/**
 * Holds a value against what was expected, whole and exact: the order of keys does not count, the order of an array
 * does, and a key too many is a difference like one too few.
 *
 * What JSON cannot hold (`undefined` behind a key, a bigint, a Date, a Map) equals nothing.
 *
 * @param expected a JSON value
 * @returns        all differences, in the order of the expected keys, then of those too many; empty when equal
 */
export function differences(expected: unknown, actual: unknown, path = ""): readonly Difference[] {
  if (isPlain(expected) && isPlain(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) => {
      const place = path === "" ? key : `${path}.${key}`;
      if (!Object.hasOwn(actual, key)) return [{ path: place, expected: show(expected[key]), actual: "nothing" }];
      if (!Object.hasOwn(expected, key)) return [{ path: place, expected: "nothing", actual: show(actual[key]) }];
      return differences(expected[key], actual[key], place);
    });
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const shared = expected.slice(0, actual.length);
    const inside = shared.flatMap((entry, index) => differences(entry, actual[index], `${path}[${index}]`));
    if (expected.length === actual.length) return inside;
    return [...inside, { path, expected: `${expected.length} entries`, actual: `${actual.length} entries` }];
  }
  const equal = expected === actual && (typeof expected !== "object" || expected === null);
  return equal ? [] : [{ path, expected: show(expected), actual: show(actual) }];
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function show(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = String(value); // a bigint, or a circle
  }
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}
