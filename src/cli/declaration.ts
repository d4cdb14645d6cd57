/**
 * A command's declared arguments as two lists, operands and options, the options that every command has included.
 *
 * The parser, the help, the completions and the reference page all read these lists, so they cannot disagree.
 */
import type { AnyCommand, Argument, OptionFaults } from "./command.ts";

export type Operand = {
  /** The declared name, under which its value is handed over. */
  readonly key: string;
  /** What a person sees: "FIELD". */
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly multiple: boolean;
  readonly default: string | undefined;
  /** What a shell may offer for it; null: nothing is known. */
  readonly offers: readonly string[] | null;
  /** What a shell may offer for it behind other words. */
  readonly offersAfter: Readonly<Record<string, readonly string[]>>;
};

export type Option = {
  readonly key: string;
  /** As typed: "--draft-id", "-c". */
  readonly flag: string;
  /** Other spellings of the same, in declared order. */
  readonly aliases: readonly string[];
  /** "--no-progress", for a boolean that is on by default. */
  readonly negated: string | null;
  /** What a person sees for its value, "ID"; null for a boolean. */
  readonly valueName: string | null;
  /** The only values there are; null when any will do. */
  readonly choices: readonly string[] | null;
  /** What a shell may offer for it besides; null: nothing is known. */
  readonly offers: readonly string[] | null;
  readonly description: string;
  readonly required: boolean;
  readonly multiple: boolean;
  readonly default: string | boolean | undefined;
  /** The words for its faults; null: the usual ones. */
  readonly faults: OptionFaults | null;
  /** One that the frame reads itself: `--json`, `--debug`, `--help`. */
  readonly standard: boolean;
};

export type Declaration = { readonly operands: readonly Operand[]; readonly options: readonly Option[] };

/** Longer lists of choices are told in the description. */
const LONGEST_VALUE_NAME = 24;

const STANDARD: Readonly<Record<"json" | "debug" | "help", Argument>> = {
  json: { type: "boolean", description: "Print one JSON document on standard output" },
  debug: { type: "boolean", description: "Show the stack of a defect" },
  help: { type: "boolean", alias: "h", description: "Show this help" },
};

/** The operands in the order they are typed, and the options: the command's own first, then the standard ones. */
export function declarationOf(command: AnyCommand): Declaration {
  const operands: Operand[] = [];
  const options: Option[] = [];
  for (const [key, argument] of Object.entries(command.args)) {
    if (argument.type === "positional") operands.push(operandOf(key, argument));
    else options.push(optionOf(key, argument, false));
  }
  for (const [key, argument] of Object.entries(STANDARD)) {
    const flag = flagOf(key);
    const taken = new Set(options.flatMap((option) => [option.flag, ...option.aliases]));
    if (taken.has(flag) || (key === "json" && command.output === "none")) continue;
    const option = optionOf(key, argument, true);
    options.push({ ...option, aliases: option.aliases.filter((alias) => !taken.has(alias)) });
  }
  return { operands, options };
}

/** The usage of a command, one line or more: `writ contract set FIELD [VALUE] [options]`. */
export function usageOf(command: AnyCommand): readonly string[] {
  if (command.usage !== undefined) return command.usage;
  const { operands, options } = declarationOf(command);
  const words = ["writ", command.meta.name];
  for (const operand of operands) {
    const name = operand.multiple ? `${operand.name}...` : operand.name;
    words.push(operand.required ? name : `[${name}]`);
  }
  for (const option of options) if (option.required) words.push(`${option.flag} ${option.valueName ?? ""}`.trim());
  words.push("[options]");
  if (command.rest !== undefined) words.push("--", command.rest.name);
  return [words.join(" ")];
}

function operandOf(key: string, argument: Argument): Operand {
  return {
    key,
    name: argument.valueHint ?? capitals(key),
    description: argument.description ?? "",
    required: argument.required === true && argument.default === undefined,
    multiple: argument.multiple === true,
    default: typeof argument.default === "string" ? argument.default : undefined,
    offers: argument.offers ?? null,
    offersAfter: argument.offersAfter ?? {},
  };
}

function optionOf(key: string, argument: Argument, standard: boolean): Option {
  const boolean = argument.type === "boolean";
  const choices = argument.type === "enum" ? (argument.options ?? []) : null;
  const alternatives = choices?.join("|") ?? "";
  const listed = alternatives.length > LONGEST_VALUE_NAME ? ` (one of ${choices?.join(", ")})` : "";
  const alias = "alias" in argument ? argument.alias : undefined;
  return {
    key,
    flag: flagOf(key),
    aliases: (alias === undefined ? [] : typeof alias === "string" ? [alias] : alias).map(flagOf),
    negated: boolean && argument.default === true ? `--no-${hyphens(key)}` : null,
    valueName: boolean
      ? null
      : (argument.valueHint ?? (alternatives === "" || listed !== "" ? capitals(key) : alternatives)),
    choices,
    offers: argument.offers ?? null,
    description: `${argument.description ?? ""}${listed}`.trimStart(),
    required: argument.required === true && argument.default === undefined,
    multiple: argument.multiple === true,
    default: argument.default,
    faults: argument.faults ?? null,
    standard,
  };
}

/** How a declared name is typed: `draftId` and `draft-id` are both `--draft-id`, `c` is `-c`. */
function flagOf(name: string): string {
  return name.length === 1 ? `-${name}` : `--${hyphens(name)}`;
}

function hyphens(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function capitals(name: string): string {
  return hyphens(name).replaceAll("-", "_").toUpperCase();
}
