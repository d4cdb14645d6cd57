/**
 * The one door to regular expressions that came from outside: RE2 syntax as Go's `regexp` takes it, matched in linear
 * time. JavaScript's RegExp never sees them.
 *
 * The engine is heavy to load: a command that starts for every tool call must not reach this file by its imports.
 */
import { RE2JS, RE2JSException } from "re2js";
import { canSearch, nextCharacter, type Span, spansFrom } from "./all-matches.ts";
import { foreignProperty } from "./properties.ts";

export type Pattern = {
  /** As written. */
  readonly source: string;
  /** Instructions of its program: a letter, a class or `.` is one, and `{n}` repeats what stands before it n times. */
  readonly size: number;
  /** Names of capture groups, in the order of the groups. */
  readonly groupNames: readonly string[];
  /** Whether the pattern matches anywhere, an empty match counting. */
  test(text: string): boolean;
  /** The leftmost match; null where there is none, which an empty match is not. */
  first(text: string): string | null;
  /**
   * All matches that do not overlap, from the left, as Go's `FindAllString(-1)` gives them: an empty match that touches
   * the match before it is none. Each is searched for when it is asked for.
   */
  matches(text: string): Iterable<string>;
};

export type CompiledPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly reason: string };

/**
 * Compiles a pattern without flags; flags come from the pattern. A pattern that is kept holds its source alone, so that
 * many large ones take no memory between their uses.
 *
 * @returns the pattern; or the reason why it is none, in the engine's words and with the part of the pattern that it is
 *          about
 * Errors:  none, whatever the source
 * Source:  https://github.com/google/re2/wiki/Syntax as Go 1.26 reads it; group names are unique beyond it
 */
export function compilePattern(source: string): CompiledPattern {
  let engine: RE2JS;
  try {
    engine = engineOf(source);
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
  const foreign = foreignProperty(source);
  if (foreign !== null) return { ok: false, reason: `invalid character class range: \`${foreign}\`` };
  return { ok: true, pattern: new CompiledRe2(source, engine) };
}

/** A contract's checks are compiled at intake, for lint and for grading; what fits is kept from one to the next. */
const KEPT_ENGINES = 128;
/** Instructions of all kept programs, about 40 MiB; one program alone may have more. */
const KEPT_INSTRUCTIONS = 2 ** 18;
/** By source, the one used last at the end. */
const kept = new Map<string, RE2JS>();
let keptInstructions = 0;

function engineOf(source: string): RE2JS {
  const known = kept.get(source);
  if (known !== undefined) {
    kept.delete(source);
    kept.set(source, known);
    return known;
  }
  const engine = RE2JS.compile(source);
  kept.set(source, engine);
  keptInstructions += sizeOf(engine);
  for (const [oldest, old] of kept) {
    const fits = kept.size <= KEPT_ENGINES && keptInstructions <= KEPT_INSTRUCTIONS;
    if (fits || kept.size === 1) break;
    kept.delete(oldest);
    keptInstructions -= sizeOf(old);
  }
  return engine;
}

/** How many engines are kept, and how many instructions they have together. */
export function keptEngines(): { readonly count: number; readonly instructions: number } {
  return { count: kept.size, instructions: keptInstructions };
}

function sizeOf(engine: RE2JS): number {
  return engine.re2().prog.inst.length;
}

function reasonOf(error: unknown): string {
  if (error instanceof RE2JSException) return error.message.replace(/^error parsing regexp: /, "");
  // What the engine does not refuse in its own words ran out of stack or memory on the way.
  return "expression too large";
}

class CompiledRe2 implements Pattern {
  readonly size: number;
  readonly groupNames: readonly string[];

  constructor(
    readonly source: string,
    engine: RE2JS,
  ) {
    this.size = sizeOf(engine);
    const groups = Object.entries(engine.namedGroups());
    this.groupNames = groups.sort(([, left], [, right]) => left - right).map(([name]) => name);
  }

  test(text: string): boolean {
    return engineOf(this.source).test(text);
  }

  first(text: string): string | null {
    const matcher = engineOf(this.source).matcher(text);
    return matcher.find() ? matcher.group() : null;
  }

  *matches(text: string): Iterable<string> {
    let lastEnd = -1;
    for (const [start, end] of this.spans(text)) {
      if (start !== end || start !== lastEnd) yield text.slice(start, end);
      lastEnd = end;
    }
  }

  /** By the engine as long as there are few; each of its searches may read to the end of the text. */
  private *spans(text: string): Iterable<Span> {
    const engine = engineOf(this.source);
    const { prog } = engine.re2();
    const isSearchable = canSearch(prog, text.length);
    const matcher = engine.matcher(text);
    let end = 0;
    for (let count = 0; count < FEW_MATCHES || text.length - end < SHORT_REST || !isSearchable; count++) {
      if (!matcher.find()) return;
      const start = matcher.start();
      end = matcher.end();
      yield [start, end];
      if (start === end) end = nextCharacter(text, end);
    }
    yield* spansFrom(prog, text, end);
  }
}

/** So many matches, and so many code units behind them, are left to the engine. */
const FEW_MATCHES = 8;
const SHORT_REST = 1024;
