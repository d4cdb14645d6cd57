/** Contracts to copy: which there are, and what has to be replaced in a copy. */
import { readContracts } from "../core/delegation/contract.ts";
import { JUDGES } from "../core/delegation/judges.ts";
import { lintContract } from "../core/delegation/lint.ts";
import { placeholdersOf } from "../core/delegation/notes.ts";
import { WritError } from "../core/error.ts";
import { nearest, nearestBySegments } from "../core/near-miss.ts";

/** The templates that writ ships, as texts by their names, in the order of the names. */
export type Templates = ReadonlyMap<string, string>;

export type Template = {
  readonly name: string;
  /** The file, byte for byte. */
  readonly text: string;
  /** The first sentence of its goal. */
  readonly summary: string;
  /** What lint says of it as it is. */
  readonly lint: readonly string[];
  /** What has to be replaced, each with its JSON pointer. */
  readonly placeholders: readonly { readonly path: string; readonly value: string }[];
};

export function listTemplates(templates: Templates): readonly Template[] {
  return [...templates].map(([name, text]) => templateOf(name, text));
}

/**
 * @param name with or without `.json`
 * Errors: `template_unknown`
 */
export function getTemplate(templates: Templates, name: string): Template {
  const wanted = name.replace(/\.json$/, "");
  const text = templates.get(wanted);
  if (text !== undefined) return templateOf(wanted, text);
  const near = nearName(wanted, [...templates.keys()]);
  const all = [...templates.keys()].map((each) => `"${each}"`).join(", ");
  throw new WritError("template_unknown", `There is no template "${name}"`, {
    hint: near === null ? `There are ${all}` : `Did you mean "${near}"?`,
  });
}

/** One word of a name is enough to be understood. */
function nearName(wanted: string, names: readonly string[]): string | null {
  const whole = nearest(wanted, names) ?? nearestBySegments(wanted, names);
  const words = new Map(names.flatMap((name) => name.split("-").map((word) => [word, name] as const)).reverse());
  return whole ?? words.get(nearest(wanted, words.keys()) ?? "") ?? null;
}

function templateOf(name: string, text: string): Template {
  const [draft] = readContracts(text, JUDGES).subtasks;
  if (draft === undefined) throw new Error(`the template "${name}" is no valid contract`);
  return {
    name,
    text,
    summary: /^.*?[.:](?=\s|$)/s.exec(draft.contract.goal)?.[0] ?? draft.contract.goal,
    lint: lintContract(draft.contract, { documents: draft.isComplete ? "all" : "some" }).map(({ code }) => code),
    placeholders: placeholdersOf(draft),
  };
}
