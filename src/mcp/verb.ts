/**
 * A command as a tool: its declaration makes the arguments, and it runs as it does in a shell, with `--json`; what it
 * prints is the answer. So there is one way of doing each thing.
 */
import { realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type { AnyCommand, Arguments, Call, Command, Output } from "../cli/command.ts";
import { declarationOf } from "../cli/declaration.ts";
import { errorDocument, errorOf } from "../cli/print.ts";
import { WritError } from "../core/error.ts";
import type { JsonObject, JsonValue } from "../core/json/value.ts";
import { badInput, type Parameter, type Parameters, readArguments, schemaOf } from "./arguments.ts";
import { inArguments, type Spoken } from "./in-arguments.ts";
import { answered, produced, type ServerSetting, type Tool, type ToolAnswer } from "./tool.ts";

/** The largest answer, in bytes: a turn may have a record of thousands of runs. */
const MOST_BYTES = 1024 * 1024;

/** What a tool says beyond the declaration of its command. */
export type VerbTool = Pick<Tool, "name" | "description" | "reads"> & {
  /** Arguments, by the declared name, that take any JSON: a text is what one types, anything else is the value itself. */
  readonly json?: Readonly<Record<string, { readonly schema: JsonObject; readonly description: string }>>;
  /** Declared names that take a whole number. */
  readonly numbers?: readonly string[];
  /** What is said of an argument here, by its declared name, where the declaration speaks of a shell. */
  readonly about?: Readonly<Record<string, string>>;
  /** Declared names that are left out: they read standard input, which is the protocol here. */
  readonly without?: readonly string[];
};

/** Where a declared argument comes from: the argument of the tool, in the spelling of documents. */
type Binding = {
  readonly declared: string;
  readonly names: readonly string[];
  readonly preset: unknown;
  /** It came as JSON, as it was written. */
  readonly isJson: boolean;
};

export function verbTool<A extends Arguments>(command: Command<A>, own: VerbTool): Tool {
  const { parameters, bindings, spoken } = bind(command, own);
  const { name, description, reads } = own;
  return {
    name,
    description,
    reads,
    inputSchema: schemaOf(parameters),
    async run(call) {
      const given: Readonly<Record<string, unknown>> = readArguments(parameters, call.arguments);
      const args = Object.fromEntries(bindings.map((binding) => [binding.declared, argumentFor(binding, given)]));
      const files = bindings.filter(({ declared }) => /(?:^|-)file$/.test(declared));
      const odd = files.find(({ declared }) => !isPlain(args[declared]));
      if (odd !== undefined) return answered(errorDocument(noPlainFile(odd, args[odd.declared])), true);
      const far = files.find(({ declared }) => !isInReach(args[declared], call.server));
      if (far !== undefined) return answered(errorDocument(outOfReach(far, args[far.declared], call.server)), true);
      // The declaration is what both the type and the values were made from; the type system cannot see that.
      const answer = await runCommand(command, { args, rest: [], json: true } as unknown as Omit<Call<A>, "out">);
      return answer.isError && answer.value !== null
        ? answered(inArguments(answer.value, spoken, new Set(namesGiven(given))), true, answer.talk)
        : answer;
    },
  };
}

/** True for what names a regular file: opening a pipe would wait for its writer, and the whole server with it. */
function isPlain(path: unknown): boolean {
  if (typeof path !== "string") return true;
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false; // a path that cannot be looked at
  }
}

/** A server that was started with a read root reads no file elsewhere, wherever a link leads. */
function isInReach(path: unknown, { readRoot, isReadRootGiven }: ServerSetting): boolean {
  if (typeof path !== "string" || !isReadRootGiven) return true;
  try {
    const root = realpathSync(readRoot);
    const file = realpathSync(path);
    const way = relative(root, file);
    return way !== ".." && !way.startsWith(`..${sep}`) && resolve(root, way) === file;
  } catch {
    return false; // gone meanwhile
  }
}

function outOfReach({ names }: Binding, path: unknown, { readRoot }: ServerSetting): WritError {
  const [name = ""] = names;
  const message = `${name} lies outside of the read root of this server, "${readRoot}": "${String(path)}"`;
  return new WritError("file_unreadable", message, {
    hint: "Give the value itself, or name a file below the read root",
  });
}

function noPlainFile({ names }: Binding, path: unknown): WritError {
  return new WritError("file_unreadable", `${names[0]} names no regular file: "${String(path)}"`, {
    hint: "Give the value itself, or name a regular file",
  });
}

/** Runs a command as `--json` does, and takes what it prints for the answer. Errors: only defects are thrown */
async function runCommand<A extends Arguments>(command: Command<A>, call: Omit<Call<A>, "out">): Promise<ToolAnswer> {
  const talk: string[] = [];
  let printed: JsonValue | undefined;
  const out: Output = {
    document: ({ ok, ...value }) => {
      printed = { ok, ...value };
    },
    product: (value) => {
      printed = (value ?? null) as JsonValue;
    },
    exact: (json) => {
      printed = JSON.parse(json) as JsonValue;
    },
    exactPieces: (pieces) => {
      printed = JSON.parse([...pieces].join("")) as JsonValue;
    },
    // With --json no verb prints text.
    raw: () => {},
    line: () => {},
    talk: (text) => void talk.push(text),
    columns: () => null,
  };
  try {
    const exit = await command.run({ ...call, out });
    if (printed === undefined) throw new Error(`"writ ${command.meta.name}" printed nothing`);
    const answer = exit === 0 ? produced(printed, talk) : answered(printed as JsonObject, true, talk);
    return Buffer.byteLength(answer.text) <= MOST_BYTES ? answer : answered(errorDocument(tooLarge(command)), true);
  } catch (thrown) {
    const error = errorOf(thrown);
    if (error.code === "internal") throw thrown;
    return answered(errorDocument(error), true, talk);
  }
}

function tooLarge(command: AnyCommand): WritError {
  return new WritError("answer_too_large", "The answer has more than 1 MiB, which is more than a tool call may bring", {
    hint: `Ask for less, or type in a shell: writ ${command.meta.name} --json`,
  });
}

type Bound = {
  readonly parameters: Parameters;
  readonly bindings: readonly Binding[];
  readonly spoken: readonly Spoken[];
};

function bind(command: AnyCommand, own: VerbTool): Bound {
  const { operands, options } = declarationOf(command);
  const parameters: Record<string, Parameter> = {};
  const bindings: Binding[] = [];
  const spoken: Spoken[] = [];
  const left = new Set(own.without);
  for (const operand of operands) {
    if (left.has(operand.key)) continue;
    spoken.push({ name: spelled(operand.key), typed: operand.name, valueName: null });
    add(operand.key, [], operand.default, {
      kind: "text",
      ...(operand.required ? { required: true } : {}),
      description: operand.description,
    });
  }
  for (const option of options) {
    const isSwitch = option.valueName === null;
    if (option.standard || left.has(option.key) || (option.key === "json" && isSwitch)) continue;
    const { choices, default: preset, valueName } = option;
    for (const typed of [option.flag, ...option.aliases]) spoken.push({ name: spelled(typed), typed, valueName });
    // As it is declared: what a shell is told beside it, a schema says by itself.
    const description = own.about?.[option.key] ?? command.args[option.key]?.description ?? "";
    add(
      option.key,
      option.aliases,
      preset ?? (isSwitch ? false : undefined),
      isSwitch
        ? { kind: "flag", description }
        : { kind: "text", description, ...(choices === null ? {} : { choices }) },
    );
  }
  return { parameters, bindings, spoken };

  function add(declared: string, aliases: readonly string[], preset: unknown, parameter: Parameter): void {
    const name = spelled(declared);
    const names = [name, ...aliases.map(spelled)];
    const json = own.json?.[declared];
    const required = parameter.required ? ({ required: true } as const) : {};
    if (json !== undefined) parameters[name] = { kind: "json", ...required, ...json };
    else if (own.numbers?.includes(declared) && parameter.kind === "text") {
      parameters[name] = { ...parameter, orNumber: true };
    } else parameters[name] = parameter;
    for (const alias of names.slice(1)) {
      parameters[alias] = { kind: "text", description: `Another name of ${name}` };
    }
    bindings.push({ declared, names, preset, isJson: json !== undefined });
  }
}

/** The command line's `--draft-id` as documents spell keys: `draft_id`. */
function spelled(flag: string): string {
  return flag.replace(/^-+/, "").replaceAll("-", "_");
}

function namesGiven(given: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(given).filter((name) => given[name] !== undefined);
}

/** Errors: `bad_input` where one thing is said under two names, or is to come from standard input */
function argumentFor({ declared, names, preset, isJson }: Binding, given: Readonly<Record<string, unknown>>): unknown {
  const said = names.filter((name) => given[name] !== undefined);
  const [name = ""] = said;
  if (said.length > 1) {
    const message = `${said.map((each) => `"${each}"`).join(" and ")} are one argument`;
    throw badInput([{ code: "duplicate_argument", path: `/${said[1]}`, message, hint: "Give one of them" }]);
  }
  const value = said.length === 0 ? preset : given[name];
  if (declared === "json-file" && value === "-") {
    const message = 'A tool call has no standard input, which "-" stands for';
    throw badInput([{ code: "bad_argument", path: `/${name}`, message, hint: null }]);
  }
  return isJson && typeof value === "string" ? typedAs(value) : value;
}

/** A JSON value as one would type it in a shell: a text as it is, anything else as it is written. */
function typedAs(json: string): string {
  const value: unknown = json.startsWith('"') ? JSON.parse(json) : null;
  if (typeof value !== "string") return json;
  // Typed without quotes it would stand for standard input.
  return value === "-" ? json : value;
}
