/** What several commands read from their words in the same way. */
import { WritError } from "../core/error.ts";
import { nearest } from "../core/near-miss.ts";
import { quoted } from "./arguments.ts";

/**
 * The id of a row, as it is typed.
 *
 * Errors: `usage` for what is no whole number from 1; `no_row` for one that no store of ours can hold
 */
export function idOperand(text: string, name: string): number {
  if (!/^0*[1-9]\d{0,18}$/.test(text)) {
    throw new WritError("usage", `${name} takes the number of a row, not ${quoted(text)}`, {
      hint: `For example: 7; what a command made prints as id=7`,
    });
  }
  const id = Number(text);
  if (Number.isSafeInteger(id)) return id;
  throw new WritError("no_row", `There is no row ${text}`, { path: name });
}

/** The trimmed text of an option; null when it was not given, or is blank. */
export function textOf(option: string | undefined): string | null {
  const text = option?.trim() ?? "";
  return text === "" ? null : text;
}

export const WORKSPACE_OPTION = {
  workspace: {
    type: "string",
    valueHint: "W",
    description: "The workspace (default: WRIT_WORKSPACE, else the turn's, else me)",
  },
} as const;

/** One of a closed set, as an operand. Errors: `usage`. */
export function choiceOperand<const C extends readonly string[]>(text: string, name: string, choices: C): C[number] {
  const choice = choices.find((one) => one === text);
  if (choice !== undefined) return choice;
  const close = nearest(text, choices);
  throw new WritError("usage", `${name} is one of ${choices.join(", ")}, not ${quoted(text)}`, {
    hint: close === null ? null : `Did you mean "${close}"?`,
  });
}
