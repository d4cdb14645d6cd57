/**
 * The shape of a contract file, once: the reader walks these schemas (`decode.ts`), the types come from them, and
 * `contracts/schemas/contract.schema.json` is written from them (`scripts/schemas.ts`).
 *
 * What a type cannot say (blanks, names, limits with a code of their own) stands in `contract.ts`; the lengths here are
 * for those who read the published schema.
 */
import * as v from "valibot";
import { CONTRACT_LIMITS } from "./limits.ts";

/** What the numbers of a contract are without being asked for, and what they are clamped to. */
export const BUDGETS = {
  max_steps: { preset: 12, most: 12 },
  timeout_sec: { preset: 300, most: 900 },
} as const;

export const THINKING = ["auto", "on", "off"] as const;

const { subtasks, documents, checks } = CONTRACT_LIMITS;

export const DocumentFields = v.looseObject({
  name: v.pipe(
    v.nullish(v.string(), ""),
    v.description("Path relative to the read root, with / between folders, kept as written. Required in effect"),
  ),
  text: v.pipe(v.nullish(v.string(), ""), v.description("The whole text of the document")),
});

export const ContractFields = v.looseObject({
  goal: v.pipe(
    v.string(),
    v.minLength(1),
    v.description("What is asked for; not blank. The seat sees this and the documents, and nothing else"),
  ),
  context: v.pipe(
    v.nullish(v.pipe(v.array(DocumentFields), v.maxLength(documents)), []),
    v.description(`Inline documents; at most ${documents} together with those of context_paths, 256 KiB in total`),
  ),
  context_paths: v.pipe(
    v.nullish(v.pipe(v.array(v.string()), v.maxLength(documents)), []),
    v.description("Files below the read root, at most 128 KiB each, that become documents behind those of context"),
  ),
  output_schema: v.pipe(
    v.optional(v.record(v.string(), v.unknown())),
    v.description("JSON Schema (draft 2020-12) with properties; a contract without it can only run locally"),
  ),
  acceptance: v.pipe(
    v.nullish(v.pipe(v.array(v.string()), v.maxLength(checks)), []),
    v.description("Checks, one a line, that the delegator holds the result against"),
  ),
  profile: v.pipe(v.nullish(v.string(), ""), v.description('Name of a profile of the place; empty is "research"')),
  thinking: v.pipe(
    v.nullish(v.string(), ""),
    v.description('"auto", "on" or "off", in any case; empty is "auto"'),
    v.metadata({ examples: [...THINKING] }),
  ),
  max_steps: v.pipe(
    v.nullish(v.pipe(v.number(), v.integer()), BUDGETS.max_steps.preset),
    v.description(`Steps of the seat, clamped to ${BUDGETS.max_steps.most}; 0 or less is ${BUDGETS.max_steps.preset}`),
  ),
  timeout_sec: v.pipe(
    v.nullish(v.pipe(v.number(), v.integer()), BUDGETS.timeout_sec.preset),
    v.description(
      `Seconds for the leg, clamped to ${BUDGETS.timeout_sec.most}; 0 or less is ${BUDGETS.timeout_sec.preset}`,
    ),
  ),
  write_root: v.pipe(
    v.nullish(v.string(), ""),
    v.description("Folder relative to the read root that the seat may create and change files under; empty: none"),
  ),
  schema_version: v.pipe(v.optional(v.unknown()), v.description("Minted by the delegator; ignored in a file")),
  depth: v.pipe(v.optional(v.unknown()), v.description("Minted by the delegator; ignored in a file")),
});

export const ContractFile = v.pipe(
  v.union([ContractFields, v.pipe(v.array(ContractFields), v.minLength(1), v.maxLength(subtasks))]),
  v.title("Delegation contract"),
  v.description(
    "One subtask, or a list of them. Names of fields match in any case; unknown members are allowed and ignored",
  ),
);

export type ContractField = keyof (typeof ContractFields)["entries"];
