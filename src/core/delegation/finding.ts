/** What the fixture gate finds: codes, places and messages. */

/** Something wrong in a set. `path` is a JSON pointer into the file, "" for the file as a whole. */
export type Finding = {
  readonly code: FindingCode;
  readonly file: string;
  readonly path: string;
  /** One sentence for a person; no promise to programs. */
  readonly message: string;
  readonly hint: string | null;
};

/** Every code of a finding, and what it is about. */
export const FINDING_CODES = {
  link: "a link stands in the set; links are not followed",
  not_a_file: "a .json file is no regular file",
  file_too_large: "a file is larger than what a contract file may have",
  not_utf8: "a file is no UTF-8",
  not_lf: "a file has a carriage return",
  not_json: "a file does not parse",
  missing_file: "the manifest lists a file that is not there",
  empty_set: "no acceptance list was checked in the whole set",
  not_listed: "a file has an acceptance list and is not in files_with_acceptance",
  nothing_checked: "a file is in files_with_acceptance and no list of it was checked",
  walk_and_scan_differ: "a file has a key acceptance, and the walk checked no list in it; or the other way round",
  schema_stale: "a published schema is not the one that this executable writes",
  not_a_list: "a value of acceptance is no list",
  not_a_string: "a check is no string",
  does_not_parse: "a check does not parse",
  speed_term: "a check quotes a speed",
  unreviewed_verb: "a verb is not reviewed, or the parser does not take it",
  wrong_sum: "the SHA-256 of a set is not the one in the manifest",
  not_a_set: "a digest set is no list of eight contracts",
  bad_contract: "a contract of a digest set is not valid",
  document_count: "a contract has not as many inline documents as its set claims, or reads files",
  not_in_corpus: "the name of a document is no page of the corpus",
  blank_document: "a document is blank",
  output_schema: "a contract of a digest set has no output_schema",
  no_checks: "a contract of a digest set has no check",
  ungrounded: "a check matches nothing in the documents",
  alternative_ungrounded: "an alternative of a pattern matches nothing in the documents",
  alternative_in_goal: "an alternative of a pattern matches the goal",
} as const;

export type FindingCode = keyof typeof FINDING_CODES;
