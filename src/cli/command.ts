/**
 * How a command is declared: one file a command, at the path one types. citty's shapes declare the
 * arguments; `cli/arguments.ts` reads them strictly, since citty lets unknown options pass.
 */
import type { ArgDef, ParsedArgs } from "citty";
import type { JsonObject } from "../core/json/value.ts";

/** citty's argument, or one that may be given several times (then its value is a list of strings). */
export type Argument = ArgDef & {
  readonly multiple?: boolean;
  /** Values that a shell may offer, where others will do as well. */
  readonly offers?: readonly string[];
  /** Values that a shell may offer behind these words. */
  readonly offersAfter?: Readonly<Record<string, readonly string[]>>;
  /** What is said of an option without a value, or given twice, where the words are fixed: from the option as typed. */
  readonly faults?: OptionFaults;
};
export type OptionFaults = { readonly missing: (flag: string) => string; readonly twice: (flag: string) => string };
export type Arguments = Readonly<Record<string, Argument>>;

type ValuesOf<A extends Arguments> = {
  [K in keyof A]: A[K] extends { readonly multiple: true }
    ? readonly string[]
    : A[K] extends { readonly type: "boolean" }
      ? boolean
      : ParsedArgs<{ [P in K]: A[K] }>[K];
};

/** What a command gets: its arguments, what stood behind `--`, and where to print. */
export type Call<A extends Arguments = Arguments> = {
  /** By declared name; an option that was not given is `undefined` (a boolean `false`, a `multiple` one `[]`). */
  readonly args: ValuesOf<A>;
  /** The words behind `--`, for commands that declare `rest`; else they are operands. */
  readonly rest: readonly string[];
  readonly json: boolean;
  readonly out: Output;
};

/** Where a command prints. Standard output is data, standard error is talk. */
export type Output = {
  /** One JSON document on standard output, compact, on one line; `ok` comes first. */
  document(value: JsonObject & { readonly ok: boolean }): void;
  /** A JSON value that is the product itself, two-space indented (`view`, `view --field`). */
  product(value: unknown): void;
  /** A JSON text that is the product itself, byte for byte: what was signed is what is printed. */
  exact(json: string): void;
  /** The same where it comes in pieces, of which none ends inside of a character. */
  exactPieces(pieces: Iterable<string>): void;
  /** A text that is the product itself, byte for byte and without a line end of its own; on a terminal it is stripped. */
  raw(text: string): void;
  /** A line for a person on standard output, control sequences stripped. */
  line(text: string): void;
  /** A line for a person on standard error, control sequences stripped. */
  talk(text: string): void;
  /** The columns of the terminal that standard output is; null when it is none: there a table is as wide as it is. */
  columns(): number | null;
};

export type Command<A extends Arguments = Arguments> = {
  readonly meta: {
    /** The words one types: "contract set". */
    readonly name: string;
    /** One line in the imperative, no full stop. */
    readonly description: string;
  };
  readonly args: A;
  /** Two real examples or more, each a line to type. */
  readonly examples: readonly [string, string, ...string[]];
  /** The usage lines, where the one made from the declaration would mislead. */
  readonly usage?: readonly [string, ...string[]];
  /** What else a person should know: one paragraph each, laid out where it is printed, behind the options. */
  readonly notes?: readonly string[];
  /** Says what the words behind `--` are; without it they are plain operands. */
  readonly rest?: { readonly name: string; readonly description: string };
  /** `--json` on this command: an output switch (default), "always" (prints JSON whatever is given), "none". */
  readonly output?: "switch" | "always" | "none";
  /** Why it has none, and what to type instead: what `--json` is answered with there. */
  readonly withoutJson?: string;
  /** The command's own lines of the table of exit statuses. */
  readonly exits: Readonly<Record<number, string>>;
  /** Prints, and answers with the exit status. A thrown `WritError` is printed by the caller. */
  readonly run: (call: Call<A>) => number | Promise<number>;
};

/** A command whose arguments are not known to the type system: what the command tree holds. */
export type AnyCommand = Omit<Command, "run"> & { readonly run: (call: never) => number | Promise<number> };

/** Declares a command; the identity, for its types. */
export function defineCommand<const A extends Arguments>(command: Command<A>): Command<A> {
  return command;
}
