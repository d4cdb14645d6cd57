/**
 * The words behind a command's name, read strictly against its declaration.
 *
 * Nothing is guessed: an option that was not declared, given twice or without its value, a word too many or
 * too few is a usage error that names what was expected. Only `--` ends the options.
 */
import { WritError } from "../core/error.ts";
import { nearest, nearestBySegments } from "../core/near-miss.ts";
import { quoteWords } from "../core/record/words.ts";
import type { AnyCommand, Call, Command } from "./command.ts";
import { type Declaration, declarationOf, type Option } from "./declaration.ts";

const LONGEST_QUOTE = 80;
/** A longer call is not typed out in a hint. */
const LONGEST_CALL = 400;

/** A call without the place where it prints. */
export type ArgumentsOf<C extends AnyCommand> = C extends Command<infer A> ? Omit<Call<A>, "out"> : Omit<Call, "out">;

/**
 * The arguments of one call.
 *
 * @param argv the words behind the command's name; `--debug` and `--help` among them are read by the frame
 * @returns    by declared name: a string, a boolean, a list where `multiple`, `undefined` where nothing was given
 * Errors: `usage`, and no other, whatever the words
 */
export function parseArguments<C extends AnyCommand>(command: C, argv: readonly string[]): ArgumentsOf<C> {
  const { operands, options } = declarationOf(command);
  const given = readWords(command, argv, { operands, options });
  const words = command.rest === undefined ? [...given.operands, ...given.behind] : given.operands;
  const values: [string, unknown][] = [];
  values.push(...placeOperands({ operands, options }, words));
  let json = command.output === "always";
  for (const option of options) {
    const found = given.options.get(option.key);
    if (!option.standard) values.push([option.key, handedOver(option, found)]);
    // A command may describe its switch in its own words; a `--json` that takes a value is no switch.
    if (option.key === "json" && option.valueName === null && found !== undefined) json = true;
  }
  const missing = options.filter((option) => option.required && !given.options.has(option.key));
  if (missing.length > 0) {
    const names = missing.map((option) => `"${option.flag} ${option.valueName ?? ""}"`).join(", ");
    throw new WritError("usage", `Missing option${missing.length > 1 ? "s" : ""} ${names}`);
  }
  const rest = command.rest === undefined ? [] : given.behind;
  // The declaration is what both the type and the values were made from; the type system cannot see that.
  return { args: Object.fromEntries(values), rest, json } as ArgumentsOf<C>;
}

/** True when one of the words before `--` is this flag; nothing else about the words has to make sense. */
export function hasFlag(argv: readonly string[], ...flags: readonly string[]): boolean {
  for (const word of argv) {
    if (word === "--") return false;
    if (flags.includes(word)) return true;
  }
  return false;
}

type Given = {
  readonly operands: readonly string[];
  readonly options: ReadonlyMap<string, readonly (string | boolean)[]>;
  readonly behind: readonly string[];
};

function readWords(command: AnyCommand, argv: readonly string[], declaration: Declaration): Given {
  const { options } = declaration;
  const declared = declaration.operands.length;
  const byFlag = new Map<string, Option>();
  for (const option of options) {
    for (const flag of [option.flag, ...option.aliases]) byFlag.set(flag, option);
    if (option.negated !== null) byFlag.set(option.negated, option);
  }
  const operands: string[] = [];
  const given = new Map<string, (string | boolean)[]>();
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (word === "--") return { operands, options: given, behind: argv.slice(index + 1) };
    if (isOperand(word)) {
      if (command.rest !== undefined && operands.length === declared) throw missingDashes(command, argv, index);
      operands.push(word);
      continue;
    }
    const equals = word.startsWith("--") ? word.indexOf("=") : -1;
    const flag = equals < 0 ? word : word.slice(0, equals);
    const attached = equals < 0 ? null : word.slice(equals + 1);
    const option = byFlag.get(flag);
    if (option === undefined) throw unknownOption(command, flag, byFlag);
    const sofar = given.get(option.key) ?? [];
    if (sofar.length > 0 && !option.multiple) throw givenTwice(option, flag);
    if (option.valueName === null) {
      if (attached !== null) throw new WritError("usage", `Option "${flag}" takes no value`);
      sofar.push(flag !== option.negated);
    } else {
      const next = argv[index + 1];
      const value = attached ?? (next !== undefined && isOperand(next) ? next : undefined);
      if (value === undefined) throw missingValue(option, flag, next);
      if (attached === null) index += 1;
      sofar.push(checked(option, flag, value));
    }
    given.set(option.key, sofar);
  }
  return { operands, options: given, behind: [] };
}

/** A word that is no option: it does not start with "-", is "-" alone, or is a number like -5 or -.5. */
function isOperand(word: string): boolean {
  return !word.startsWith("-") || word === "-" || /^-[0-9.]/.test(word);
}

function checked(option: Option, flag: string, value: string): string {
  if (option.choices === null || option.choices.includes(value)) return value;
  const close = nearest(value, option.choices);
  throw new WritError("usage", `Option "${flag}" takes ${oneOf(option.choices)}, not ${quoted(value)}`, {
    hint: close === null ? null : `Did you mean "${close}"?`,
  });
}

function handedOver(option: Option, found: readonly (string | boolean)[] | undefined): unknown {
  if (option.multiple) return found ?? [];
  if (found !== undefined) return found[0];
  return option.default ?? (option.valueName === null ? false : undefined);
}

function placeOperands({ operands, options }: ReturnType<typeof declarationOf>, words: readonly string[]) {
  const values: [string, unknown][] = [];
  let next = 0;
  for (const operand of operands) {
    if (operand.multiple) {
      values.push([operand.key, words.slice(next)]);
      if (words.length > next) next = words.length;
      continue;
    }
    values.push([operand.key, words[next] ?? operand.default]);
    next += 1;
  }
  const surplus = words[next];
  if (surplus !== undefined) {
    // A command that takes its file by an option: the word is what was meant for it.
    const meant = operands.length === 0 ? options.find(({ valueName }) => valueName === "FILE") : undefined;
    const call = `${meant?.flag} ${quoteWords([surplus])}`;
    const hint = meant === undefined || call.length > LONGEST_CALL ? null : `Did you mean ${call}?`;
    throw new WritError("usage", `Unexpected operand ${quoted(surplus)}`, { hint });
  }
  const missing = operands.filter((operand, place) => operand.required && words[place] === undefined);
  if (missing.length > 0) {
    const names = missing.map((operand) => `"${operand.name}"`).join(", ");
    throw new WritError("usage", `Missing operand${missing.length > 1 ? "s" : ""} ${names}`);
  }
  return values;
}

/** A command of the machine that stands where only options may: the hint is the same call, as it is to be typed. */
function missingDashes(command: AnyCommand, argv: readonly string[], index: number): WritError {
  const words = ["writ", ...command.meta.name.split(" "), ...argv.slice(0, index), "--", ...argv.slice(index)];
  const call = quoteWords(words);
  const hint =
    call.length > LONGEST_CALL ? `${command.rest?.name ?? "The command"} stands behind "--"` : `Type: ${call}`;
  return new WritError("usage", `Unexpected operand ${quoted(argv[index] ?? "")}`, { hint });
}

function unknownOption(command: AnyCommand, flag: string, byFlag: ReadonlyMap<string, Option>): WritError {
  // "-cVALUE" and "-ab" are read as one option that does not exist, so that no letter is taken for another.
  const letter = byFlag.get(flag.slice(0, 2));
  const glued = letter !== undefined && !flag.startsWith("--");
  const close = glued ? flag.slice(0, 2) : flag.startsWith("--") ? nearFlag(flag, byFlag) : null;
  const hint =
    flag === "--json" && command.withoutJson !== undefined
      ? command.withoutJson
      : glued
        ? letter.valueName === null
          ? `Options of one letter stand apart: "${close}"`
          : `The value of "${close}" stands apart: "${close} ${letter.valueName}"`
        : close !== null
          ? `Did you mean "${close}"?`
          : `${operandHint(command)}"writ ${command.meta.name} --help" lists the options`;
  return new WritError("usage", `Unknown option ${quoted(flag)}`, { hint });
}

/** The nearest spelling; else one that has the words of the other in it, as --json-file has those of --file. */
function nearFlag(flag: string, byFlag: ReadonlyMap<string, Option>): string | null {
  return nearest(flag, byFlag.keys()) ?? nearestBySegments(flag, byFlag.keys());
}

function operandHint(command: AnyCommand): string {
  const takesOperands = command.rest === undefined && declarationOf(command).operands.length > 0;
  return takesOperands ? 'An operand that starts with "-" stands behind "--"; ' : "";
}

function givenTwice({ faults }: Option, flag: string): WritError {
  if (faults !== null) return new WritError("usage", faults.twice(flag), { layout: "plain" });
  return new WritError("usage", `Option "${flag}" is given twice`);
}

function missingValue(option: Option, flag: string, next: string | undefined): WritError {
  const what = option.choices === null ? (option.valueName ?? "") : oneOf(option.choices);
  const long = [option.flag, ...option.aliases].find((spelling) => spelling.startsWith("--"));
  const dashed = next !== undefined && next !== "--" && long !== undefined;
  const hint = dashed ? `A value that starts with "-" is given as ${long}=VALUE` : null;
  if (option.faults !== null) return new WritError("usage", option.faults.missing(flag), { layout: "plain", hint });
  return new WritError("usage", `Option "${flag}" needs a value: ${what}`, { hint });
}

/** A word in a message: in quotes, and no longer than a line. */
export function quoted(word: string): string {
  return word.length > LONGEST_QUOTE ? `"${word.slice(0, LONGEST_QUOTE)}..."` : `"${word}"`;
}

function oneOf(choices: readonly string[]): string {
  const quoted = choices.map((choice) => `"${choice}"`);
  const last = quoted.pop() ?? "nothing";
  return quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
}
