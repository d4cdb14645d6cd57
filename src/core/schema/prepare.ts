/**
 * The copy of a schema that the validator gets. It holds judged keywords only, so that nothing is asserted that writ
 * does not assert (`format`, `id`), and no pattern: the validator would hand those to JavaScript's RegExp.
 *
 * - `pattern` becomes a `format` of a private name, whose function asks the compiled RE2;
 * - `patternProperties` becomes `properties`, over the names that occur in the value that is judged;
 * - a `$ref` leads into the copy's own `$defs`, whatever place it named;
 * - properties whose value is no object are left out, and so are names repeated in `required`.
 */
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import { compilePattern, type Pattern } from "../pattern/re2.ts";
import { KEYWORDS, resolveReference } from "./keyword.ts";

/** A schema as the validator takes it: it writes marks of its own into the objects. */
export type Judged = boolean | { [keyword: string]: unknown };

export type Prepared = {
  readonly schema: Exclude<Judged, boolean>;
  /** By the private names under which schemas ask for them. */
  readonly formats: ReadonlyMap<string, Pattern>;
  /** True when the copy depends on the names that it was made for. */
  readonly isForNames: boolean;
};

/** Names times patterns that are matched to expand `patternProperties`. */
const MAX_MATCHES = 1_000_000;

/**
 * @param schema accepted by `lintSchema`
 * @param names  every key that occurs in the value, at any depth, each once
 * @returns      null when expanding the patterns over the names is too much work
 */
export function prepareSchema(schema: JsonObject, names: readonly string[]): Prepared | null {
  const copier = new Copier(schema, names);
  const copy = copier.root();
  return copy === null ? null : { schema: copy, formats: copier.formats, isForNames: copier.isForNames };
}

class Copier {
  readonly formats = new Map<string, Pattern>();
  isForNames = false;
  private matches = 0;
  /** Places that a `$ref` leads to, or that an expanded pattern needs, each with its name in `$defs`. */
  private readonly names = new Map<JsonValue, string>();
  private readonly waiting: { readonly schema: JsonValue; readonly name: string }[] = [];

  constructor(
    private readonly schema: JsonObject,
    private readonly keys: readonly string[],
  ) {}

  root(): Exclude<Judged, boolean> | null {
    const copy = this.copy(this.schema);
    const $defs: { [name: string]: Judged } = {};
    for (let next = this.waiting.pop(); next !== undefined; next = this.waiting.pop()) {
      $defs[next.name] = this.copy(next.schema);
    }
    if (this.matches > MAX_MATCHES || typeof copy === "boolean") return null;
    return { ...copy, $defs };
  }

  private copy(schema: JsonValue): Judged {
    if (!isObject(schema)) return schema !== false;
    const copy: { [keyword: string]: unknown } = {};
    for (const name of Object.keys(schema)) {
      const holds = KEYWORDS.get(name)?.holds;
      const value = valueAt(schema, name) ?? null;
      if (holds === undefined || holds === "pattern map" || name === "$defs") continue;
      if (holds === "pattern") copy.format = this.format(String(value));
      else if (holds === "reference") copy[name] = this.reference(String(value));
      else if (holds === "schema") copy[name] = this.copy(value);
      else if (holds === "schemas") copy[name] = isArray(value) ? value.map((each) => this.copy(each)) : [];
      else if (holds === "schema map") copy[name] = this.map(value, () => true);
      else if (holds === "properties") copy[name] = this.map(value, isObject);
      else if (holds === "names") copy[name] = isArray(value) ? [...new Set(value)] : [];
      else copy[name] = value;
    }
    const patterns = valueAt(schema, "patternProperties");
    if (isObject(patterns)) this.expand(copy, patterns);
    return copy;
  }

  private map(value: JsonValue, isTaken: (schema: JsonValue) => boolean): { [name: string]: Judged } {
    const map: { [name: string]: Judged } = {};
    if (!isObject(value)) return map;
    for (const name of Object.keys(value)) {
      const schema = valueAt(value, name) ?? null;
      if (isTaken(schema)) define(map, name, this.copy(schema));
    }
    return map;
  }

  private expand(copy: { [keyword: string]: unknown }, patterns: JsonObject): void {
    this.isForNames = true;
    const properties = (copy.properties ?? {}) as { [name: string]: Judged };
    for (const source of Object.keys(patterns)) {
      this.matches += this.keys.length;
      const compiled = compilePattern(source);
      if (this.matches > MAX_MATCHES || !compiled.ok) continue;
      const schema = valueAt(patterns, source) ?? null;
      const reference = { $ref: this.place(schema) };
      for (const key of this.keys) {
        if (!compiled.pattern.test(key)) continue;
        const already = Object.hasOwn(properties, key) ? properties[key] : true;
        define(properties, key, already === true ? reference : { allOf: [already, reference] });
      }
    }
    copy.properties = properties;
  }

  private format(source: string): string {
    const name = `writ-pattern-${this.formats.size}`;
    const compiled = compilePattern(source);
    if (compiled.ok) this.formats.set(name, compiled.pattern);
    return name;
  }

  private reference(reference: string): string {
    return this.place(resolveReference(this.schema, reference)?.value ?? true);
  }

  /** Where the copy of a place stands. */
  private place(schema: JsonValue): string {
    let name = this.names.get(schema);
    if (name === undefined) {
      name = `place-${this.names.size}`;
      this.names.set(schema, name);
      this.waiting.push({ schema, name });
    }
    return `#/$defs/${name}`;
  }
}

function define(map: { [name: string]: Judged }, name: string, value: Judged): void {
  // A property may be called "__proto__".
  Object.defineProperty(map, name, { value, enumerable: true, configurable: true, writable: true });
}
