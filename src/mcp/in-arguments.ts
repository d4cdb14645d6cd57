/**
 * An error of a command as whoever called its tool reads it. A command speaks of options and of standard input; a call has
 * arguments, and an argument that makes no sense is `bad_input`, whatever the command line calls it.
 */
import type { JsonObject } from "../core/json/value.ts";
import { type ArgumentIssue, badInputDetails } from "./arguments.ts";

/** One argument, and what the command line says in its place. */
export type Spoken = {
  /** `draft_id` */
  readonly name: string;
  /** `--draft-id`, or `VALUE` of an operand. */
  readonly typed: string;
  /** Behind an option: `ID`; null: nothing. */
  readonly valueName: string | null;
};

/** Codes of a command that say that what it was given makes no sense, and what an issue calls that. */
const NO_SENSE = {
  usage: "bad_argument",
  bad_json: "bad_json",
  not_an_object: "not_an_object",
  inexact_number: "inexact_number",
  too_deep: "too_deep",
  empty_path: "empty_path",
  invalid_draft_id: "invalid_draft_id",
} as const satisfies Readonly<Record<string, ArgumentIssue["code"]>>;

/**
 * @param document the error as the command prints it
 * @param spoken   every argument of the tool, each name of it
 * @param given    the names that came
 */
export function inArguments(document: JsonObject, spoken: readonly Spoken[], given: ReadonlySet<string>): JsonObject {
  const { code, path, message, hint, ...rest } = document;
  if (typeof message !== "string") return document;
  const hintText = typeof hint === "string" ? hint : null;
  const issue =
    typeof code === "string" && Object.hasOwn(NO_SENSE, code) ? NO_SENSE[code as keyof typeof NO_SENSE] : null;
  const named =
    [path, message, hintText].map((text) => (typeof text === "string" ? nameIn(text, spoken) : null)).find(Boolean) ??
    null;
  const isGiven = named !== null && given.has(named);
  // What stands wrong in the environment, or in a file, is no argument of this call.
  if (issue === null || (code !== "usage" && named !== null && !isGiven)) {
    return {
      ...document,
      message: optionsIn(message, spoken),
      hint: hintText === null ? null : optionsIn(hintText, spoken),
    };
  }
  const name = named ?? [...given].find((each) => each.endsWith("_file")) ?? null;
  const { ok: _, status: __, ...details } = rest;
  const told: ArgumentIssue = {
    code: code === "usage" && name !== null && !given.has(name) ? "missing_argument" : issue,
    path: name === null ? "" : `/${name}`,
    message: asCalled(message, spoken),
    hint: hintText === null ? null : asCalled(hintText, spoken),
  };
  return { ok: false, status: "error", ...badInputDetails([told]), ...details };
}

/** The argument that a text speaks of first: an option, else an operand, else its words. */
function nameIn(text: string, spoken: readonly Spoken[]): string | null {
  const first = (wordsOf: (each: Spoken) => string | null) => {
    const found = spoken.flatMap((each) => {
      const words = wordsOf(each);
      const at = words === null ? -1 : placeOf(text, words);
      return at < 0 ? [] : [{ at, name: each.name }];
    });
    return found.toSorted((left, right) => left.at - right.at)[0]?.name ?? null;
  };
  return (
    first(({ typed }) => (typed.startsWith("--") ? typed : null)) ??
    first(({ typed }) => (typed.startsWith("--") ? null : typed)) ??
    first(({ name }) => name.replaceAll("_", " "))
  );
}

/** Where words stand by themselves, whatever their case but for an option; -1: nowhere. */
function placeOf(text: string, words: string): number {
  const [inText, wanted] = words.startsWith("--") ? [text, words] : [text.toLowerCase(), words.toLowerCase()];
  for (let at = inText.indexOf(wanted); at >= 0; at = inText.indexOf(wanted, at + 1)) {
    const around = [inText.charAt(at - 1), inText.charAt(at + wanted.length)];
    if (!around.some((each) => /[\w-]/.test(each))) return at;
  }
  return -1;
}

/** A text that stays one of the command: options by their names here, unless it says what to type. */
function optionsIn(text: string, spoken: readonly Spoken[]): string {
  if (/\bwrit [a-z]/.test(text)) return text;
  return text.replaceAll(/--[a-z][a-z-]*/g, (flag) => spoken.find(({ typed }) => typed === flag)?.name ?? flag);
}

/** A text without a word of a shell. */
function asCalled(text: string, spoken: readonly Spoken[]): string {
  const argumentOf = (flag: string) => spoken.find(({ typed }) => typed === flag);
  const nameOf = (flag: string) => argumentOf(flag)?.name ?? flag.slice(2).replaceAll("-", "_");
  const operands = spoken.filter(({ typed }) => !typed.startsWith("--"));
  const isExample = text.startsWith("For example: ");
  return text
    .replace(/^Type: /, "Call: ")
    .replaceAll(/\bwrit contract ([a-z]+)((?: --?[a-z][a-z-]*(?: [A-Z]+\b)?)*)/g, (_, verb: string, typed: string) => {
      const names = [...typed.matchAll(/--[a-z-]+/g)].map(([flag]) => nameOf(flag));
      return `contract_${verb}${names.length === 0 ? "" : ` with ${names.join(" and ")}`}`;
    })
    .replaceAll(/,? (?:or|and) - (?:to read it from|for) standard input/g, "")
    .replaceAll(/--([a-z][a-z-]*)( [A-Z]+\b)?/g, (whole, _, word: string | undefined) => {
      const flag = word === undefined ? whole : whole.slice(0, -word.length);
      const known = argumentOf(flag);
      if (known === undefined) return whole;
      const isValueName = word !== undefined && word.slice(1) === known.valueName;
      return `${known.name}${isExample ? ":" : ""}${isValueName ? "" : (word ?? "")}`;
    })
    .replaceAll(/\b[A-Z][A-Z_]+\b/g, (word) => operands.find(({ typed }) => typed === word)?.name ?? word);
}
