/** How much of a schema and of an answer is taken. */

/** Of one `output_schema`: bytes of its compact text; members of all `properties` and of all `enum` together. */
export const MAX_SCHEMA_BYTES = 65_536;
export const MAX_PROPERTIES = 1_000;
export const MAX_ENUM_MEMBERS = 1_000;
/** Instructions of all its patterns: each is held against many texts of an answer, by the node that has it made too. */
export const MAX_PATTERN_INSTRUCTIONS = 8_192;
/** Levels of containers, of a schema as of a contract. */
export const MAX_SCHEMA_DEPTH = 64;

/**
 * How often a schema may be unfolded for one value, through `$ref`, `allOf` and their like, and how long one chain of
 * them may be: two `$ref`s to the next place, forty times over, are 2^40 comparisons.
 */
export const MAX_UNFOLDED = 10_000;
export const MAX_CHAIN = 100;

/** How an answer is read: half a surrogate pair in a model's text is U+FFFD where values are compared. */
export const ANSWER_LIMITS = { maxDepth: 64, surrogates: "keep" } as const;

/** Errors that are told about one answer, and bytes of each. */
export const MAX_ERRORS = 5;
export const MAX_ERROR_BYTES = 160;
