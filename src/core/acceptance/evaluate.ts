/**
 * Judges an answer by its contract's checks. It never throws, waits or reads a clock, and looks at nothing but what it
 * is given.
 *
 * Three outcomes: `fail`, we looked and it is wrong; `unknown`, there was nothing to look at; `pass`. Only a qualified
 * check can be unknown, and absent evidence never passes one.
 */
import { counted } from "../counted.ts";
import { type Authority, authorityOf, type Check, type GroundedCheck, type TextCheck, type Verb } from "./check.ts";
import { type Answer, Evidence, emptinessOf, kindOf, valuesOf } from "./evidence.ts";
import { occursInAny } from "./occurrence.ts";
import { parseCheck } from "./parse.ts";
import { cut, oneLine, quote } from "./quoting.ts";

export type { Answer } from "./evidence.ts";

/** How one check ended. A reason is one line: the check as written, a colon, and what was observed. */
export type Outcome = {
  /** As written. */
  readonly check: string;
  /** Null for a line that does not parse. */
  readonly verb: Verb | null;
  readonly authority: Authority;
} & ({ readonly outcome: "pass" } | { readonly outcome: "fail" | "unknown"; readonly reason: string });

/** What was found, before the check is named. */
type Measurement = { readonly outcome: "pass" } | { readonly outcome: "fail" | "unknown"; readonly observed: string };

const PASS: Measurement = { outcome: "pass" };

/**
 * Judges an answer by acceptance lines.
 *
 * @returns one outcome for each line, in their order; a line that does not parse is a fail with that as its reason
 * Errors:  none, whatever the texts. Time is linear in their sizes for each check
 * Source:  docs/acceptance.md
 */
export function evaluateChecks(lines: readonly string[], answer: Answer): readonly Outcome[] {
  const evidence = new Evidence(answer);
  return lines.map((line) => {
    const parsed = parseCheck(line);
    if (parsed.ok) return outcomeOf(parsed.check, evidence);
    const reason = `${oneLine(line)}: does not parse: ${parsed.error.message}`;
    return { check: line, verb: null, authority: "none", outcome: "fail", reason };
  });
}

/** Judges an answer by one check. */
export function evaluateCheck(check: Check, answer: Answer): Outcome {
  return outcomeOf(check, new Evidence(answer));
}

function outcomeOf(check: Check, evidence: Evidence): Outcome {
  const head = { check: check.line, verb: check.verb, authority: authorityOf(check) };
  const measured = measure(check, evidence);
  if (measured.outcome === "pass") return { ...head, outcome: "pass" };
  const { outcome, observed } = measured;
  const level = outcome === "unknown" ? `unknown at ${head.authority} authority: ` : "";
  return { ...head, outcome, reason: `${oneLine(check.line)}: ${level}${observed}` };
}

function measure(check: Check, evidence: Evidence): Measurement {
  switch (check.verb) {
    case "contains":
    case "not_contains":
    case "regex":
      return measureText(check, evidence);
    case "min_items":
      return measureItems(check.field, check.n, evidence);
    case "nonempty":
      return measureNonempty(check.fields, evidence);
    case "diff_touches":
      return measureTouched(check.arg, evidence.answer.diff_files);
    case "diff_max_files":
      return measureFiles(check.n, evidence.answer.diff_files);
    default:
      return check satisfies never;
  }
}

function measureText(check: TextCheck, evidence: Evidence): Measurement {
  switch (check.authority) {
    case "none": {
      const { text, name } = evidence.text;
      return holdAgainst(check, [text], name);
    }
    case "answer":
      return evidence.output === null
        ? unknown("the output is empty")
        : holdAgainst(check, [evidence.output], "the output");
    case "field":
      return measureField(check, check.field, evidence);
    case "grounded":
      return measureGrounded(check, evidence);
    default:
      return check satisfies never;
  }
}

/** A check on texts of which none spans into another. `name` is what reasons call them. */
function holdAgainst(check: TextCheck, texts: readonly string[], name: string): Measurement {
  switch (check.verb) {
    case "contains":
      return texts.some((text) => text.includes(check.arg)) ? PASS : fail(`${quote(check.arg)} is not in ${name}`);
    case "not_contains":
      return texts.some((text) => text.includes(check.arg)) ? fail(`${quote(check.arg)} is in ${name}`) : PASS;
    case "regex":
      return texts.some((text) => check.pattern.test(text)) ? PASS : fail(`the pattern does not match ${name}`);
    default:
      return check satisfies never;
  }
}

function measureField(check: TextCheck, field: string, evidence: Evidence): Measurement {
  const { structured } = evidence;
  if (!structured.ok) return unknown(structured.why);
  const name = `field ${quote(field)}`;
  const empty = emptinessOf(structured.members, field);
  if (empty !== null) return unknown(`${name} ${empty}`);
  const values = valuesOf(structured.members.get(field) ?? null);
  return values.length === 0 ? unknown(`${name} holds no text, number or boolean`) : holdAgainst(check, values, name);
}

function measureGrounded(check: GroundedCheck, evidence: Evidence): Measurement {
  const { documents, output, values } = evidence;
  if (documents.length === 0) return unknown("the contract has no document with text");
  const texts = output === null ? values : [output, ...values];
  if (texts.length === 0) return unknown("neither the output nor the structured result says anything");
  if (check.verb === "contains") {
    const { arg } = check;
    if (!texts.some((text) => text.includes(arg)))
      return fail(`${quote(arg)} is neither in the output nor in a structured value`);
    return documents.some((text) => text.includes(arg))
      ? PASS
      : fail(`${quote(arg)} is in the answer but in no document`);
  }
  const { pattern } = check;
  let first: string | null = null;
  function* matches(): Iterable<string> {
    for (const text of texts) {
      for (const match of pattern.matches(text)) {
        if (match === "") continue;
        first ??= match;
        yield match;
      }
    }
  }
  if (occursInAny(matches(), documents)) return PASS;
  return fail(
    first === null
      ? "the pattern matches nothing in the output and the structured values"
      : `${quote(first)} is in the answer but in no document, and nor is another match`,
  );
}

function measureItems(field: string, least: number, evidence: Evidence): Measurement {
  const { structured } = evidence;
  if (!structured.ok) return fail(structured.why);
  const node = structured.members.get(field);
  const name = `field ${quote(field)}`;
  if (node === undefined) return fail(`${name} is absent`);
  if (node.kind !== "array") return fail(`${name} is ${kindOf(node)}, not a list`);
  const found = node.items.length;
  return found >= least ? PASS : fail(`${name} has ${counted(found, "item")}, wanted at least ${least}`);
}

function measureNonempty(fields: readonly string[], evidence: Evidence): Measurement {
  const { structured } = evidence;
  if (!structured.ok) return fail(structured.why);
  const reasons: string[] = [];
  for (const field of fields) {
    const empty = emptinessOf(structured.members, field);
    if (empty === null) return PASS;
    reasons.push(`${cut(field)} ${empty}`);
  }
  return fail(reasons.join("; "));
}

const NO_WRITE_SET = "nothing was written, or the contract opened no door to write";

function measureTouched(prefix: string, paths: readonly string[]): Measurement {
  if (paths.length === 0) return fail(NO_WRITE_SET);
  if (paths.some((path) => path.startsWith(prefix))) return PASS;
  return fail(`no changed path begins with ${quote(prefix)}; changed: ${listed(paths)}`);
}

function measureFiles(most: number, paths: readonly string[]): Measurement {
  if (paths.length === 0) return fail(NO_WRITE_SET);
  if (paths.length <= most) return PASS;
  return fail(`${counted(paths.length, "path")} changed, wanted at most ${most}; changed: ${listed(paths)}`);
}

/** As many paths are named; a write door lets no more through. */
const NAMED_PATHS = 8;

function listed(paths: readonly string[]): string {
  const named = paths.slice(0, NAMED_PATHS).map(cut).join(", ");
  return paths.length > NAMED_PATHS ? `${named} and ${paths.length - NAMED_PATHS} more` : named;
}

function fail(observed: string): Measurement {
  return { outcome: "fail", observed };
}

function unknown(observed: string): Measurement {
  return { outcome: "unknown", observed };
}
