/**
 * An acceptance line to a check, or to the one thing that is wrong with it. Nothing is trimmed and nothing is folded.
 *
 * What does not parse and what could not fail (or could only fail) is refused here, before any seat is asked.
 */
import { nearest } from "../near-miss.ts";
import { compilePattern } from "../pattern/re2.ts";
import { type Check, MAX_COUNT, type Reach } from "./check.ts";
import { quote } from "./quoting.ts";
import { isVerb, VERB_NAMES } from "./verbs.ts";

export type CheckErrorCode =
  | "no_verb"
  | "unknown_verb"
  | "empty_argument"
  | "bad_pattern"
  | "min_items_shape"
  | "field_required"
  | "not_an_integer"
  | "minimum_below_one"
  | "negative_count"
  | "empty_alternative"
  | "repeated_alternative"
  | "qualifier_field_colon"
  | "qualifier_field_name"
  | "qualifier_empty_tail"
  | "qualifier_field_spelling"
  | "qualifier_grounded_absence";

/** `message` begins with the check, quoted; one sentence without full stop. */
export type CheckError = { readonly code: CheckErrorCode; readonly message: string };

export type ParsedCheck =
  | { readonly ok: true; readonly check: Check }
  | { readonly ok: false; readonly error: CheckError };

/**
 * Reads one acceptance line.
 *
 * Errors: none is thrown, whatever the line
 * Source: docs/acceptance.md
 */
export function parseCheck(line: string): ParsedCheck {
  const parsed = read(line);
  if (!("code" in parsed)) return { ok: true, check: parsed };
  return { ok: false, error: { code: parsed.code, message: `${quote(line)} ${parsed.says}` } };
}

/** What is wrong, without the check in front. */
type Fault = { readonly code: CheckErrorCode; readonly says: string };

function read(line: string): Check | Fault {
  const colon = line.indexOf(":");
  if (colon < 0) {
    return {
      code: "no_verb",
      says: `is no check: it has the form <verb>:<argument>, with the verb one of ${VERB_WORDS}`,
    };
  }
  const verb = line.slice(0, colon);
  const rest = line.slice(colon + 1);
  if (!isVerb(verb)) return unknownVerb(verb);
  switch (verb) {
    case "contains":
    case "not_contains":
    case "regex":
      return readText(line, verb, rest);
    case "min_items":
      return readMinItems(line, rest);
    case "nonempty":
      return readNonempty(line, rest);
    case "diff_touches":
      if (rest === "") return { code: "empty_argument", says: "names no path: every write would pass it" };
      return { line, verb, arg: rest.replaceAll("\\", "/") };
    case "diff_max_files": {
      const count = countOf(rest);
      if (count === null) return notAnInteger(rest);
      if (count < 0n) return { code: "negative_count", says: "asks for a negative count: a count is 0 or more" };
      return { line, verb, n: Number(count) };
    }
    default:
      return verb satisfies never;
  }
}

const VERB_WORDS = VERB_NAMES.join(", ");

function unknownVerb(verb: string): Fault {
  const near = nearest(verb, VERB_NAMES);
  const meant = near === null ? "" : `; did you mean ${near}?`;
  return {
    code: "unknown_verb",
    says: `has the verb ${quote(verb)}, which is none of ${VERB_WORDS}${meant}`,
  };
}

function readText(line: string, verb: "contains" | "not_contains" | "regex", rest: string): Check | Fault {
  if (rest === "") {
    const always = verb === "not_contains" ? "never" : "always";
    return { code: "empty_argument", says: `has nothing to look for: it would ${always} pass` };
  }
  const qualified = readQualifier(rest);
  if ("code" in qualified) return qualified;
  const { reach, arg } = qualified;
  if (verb === "not_contains") {
    if (reach.authority === "grounded") {
      return {
        code: "qualifier_grounded_absence",
        says: "has no grounded form, since documents cannot corroborate an absence: use @answer: or @field=<name>:",
      };
    }
    if (arg === "") return EMPTY_TAIL;
    return reach.authority === "field"
      ? { line, verb, ...reach, arg }
      : { line, verb, authority: reach.authority, arg };
  }
  if (arg === "") return EMPTY_TAIL;
  if (verb === "contains") return { line, verb, ...reach, arg };
  const compiled = compilePattern(arg);
  if (!compiled.ok) {
    return {
      code: "bad_pattern",
      says: `has no valid pattern: ${quote(compiled.reason)}; patterns are RE2, as in Go${adviceOn(arg)}`,
    };
  }
  return { line, verb, ...reach, arg, pattern: compiled.pattern };
}

const EMPTY_TAIL: Fault = { code: "qualifier_empty_tail", says: "has nothing to look for behind its qualifier" };

/** What stands before the argument; a line without a reserved prefix has no qualifier. */
function readQualifier(rest: string): { readonly reach: Reach; readonly arg: string } | Fault {
  if (rest.startsWith("@answer:")) return { reach: { authority: "answer" }, arg: rest.slice("@answer:".length) };
  if (rest.startsWith("@grounded:")) return { reach: { authority: "grounded" }, arg: rest.slice("@grounded:".length) };
  if (rest.startsWith("@field:")) {
    return { code: "qualifier_field_spelling", says: "spells its field with a colon: write @field=<name>:" };
  }
  if (!rest.startsWith("@field=")) return { reach: { authority: "none" }, arg: rest };
  const tail = rest.slice("@field=".length);
  const colon = tail.indexOf(":");
  if (colon < 0)
    return { code: "qualifier_field_colon", says: "lacks the colon behind the field name: @field=<name>:" };
  if (colon === 0) return { code: "qualifier_field_name", says: "lacks a field name behind @field=" };
  return { reach: { authority: "field", field: tail.slice(0, colon) }, arg: tail.slice(colon + 1) };
}

/** For forms that JavaScript has and RE2 has not. */
function adviceOn(source: string): string {
  if (/\(\?<?[=!]/.test(source)) return ", which has no lookaround";
  if (/\\(?:[1-9]|k<)/.test(source)) return ", which has no backreferences";
  return "";
}

function readMinItems(line: string, rest: string): Check | Fault {
  const colon = rest.lastIndexOf(":");
  if (colon < 0) return { code: "min_items_shape", says: "has not the form min_items:<field>:<n>" };
  const field = rest.slice(0, colon);
  if (field === "") return { code: "field_required", says: "lacks a field name: min_items:<field>:<n>" };
  const count = countOf(rest.slice(colon + 1));
  if (count === null) return notAnInteger(rest.slice(colon + 1));
  if (count < 1n) return { code: "minimum_below_one", says: "could never fail: the least number of items is 1" };
  return { line, verb: "min_items", field, n: Number(count) };
}

function readNonempty(line: string, rest: string): Check | Fault {
  if (rest === "") return { code: "field_required", says: "lacks a field name: nonempty:<field>" };
  const fields = rest.split("|");
  if (fields.includes("")) return { code: "empty_alternative", says: "has an empty name between pipes" };
  const seen = new Set<string>();
  for (const field of fields) {
    if (seen.has(field)) return { code: "repeated_alternative", says: `names ${quote(field)} twice` };
    seen.add(field);
  }
  return { line, verb: "nonempty", fields };
}

/** A decimal integer of 64 bits, or null. */
function countOf(text: string): bigint | null {
  if (!/^[+-]?[0-9]+$/.test(text)) return null;
  const digits = text.replace(/^[+-]/, "").replace(/^0+(?=[0-9])/, "");
  // Nineteen digits are as many as 2^63 has; more are not worth their time.
  if (digits.length > 19) return null;
  const count = BigInt(digits) * (text.startsWith("-") ? -1n : 1n);
  return count > MAX_COUNT || count < -MAX_COUNT - 1n ? null : count;
}

function notAnInteger(text: string): Fault {
  return { code: "not_an_integer", says: `ends in ${quote(text)}, which is no whole number of 64 bits` };
}
