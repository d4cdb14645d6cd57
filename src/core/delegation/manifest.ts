/** The manifest of a set of fixtures: what the set claims to hold, which the fixture gate proves. */
import * as v from "valibot";
import { oneLine } from "../acceptance/quoting.ts";
import { type JsonFault, parseJson } from "../json/parse.ts";
import { pointerTo } from "./pointer.ts";

/** Its name, in the folder of the set. */
export const MANIFEST_FILE = "manifest.json";

/** A file of the set: segments with `/` between them, none of them `.` or `..`. */
const FilePath = v.pipe(
  v.string(),
  v.regex(/^(?!\.{1,2}(?:\/|$))[^/\\\u0000]+(?:\/(?!\.{1,2}(?:\/|$))[^/\\\u0000]+)*$/, "a path inside the set is due"),
);

const Paths = v.pipe(
  v.array(FilePath),
  v.check((paths) => new Set(paths).size === paths.length, "a file is listed twice"),
);

export const DigestSet = v.strictObject({
  file: FilePath,
  /** Inline documents in each of its eight contracts. */
  docs_per_subtask: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(16)),
  /** Of the file's bytes as committed. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits in lower case are due")),
});
export type DigestSet = v.InferOutput<typeof DigestSet>;

export const Manifest = v.strictObject({
  schema_version: v.literal(1),
  /** Names of the pages that documents are taken from; stands in where `corpus_dir` is not on disk. */
  corpus: v.array(v.pipe(v.string(), v.nonEmpty())),
  /** Where those pages lie, from the folder of the set. */
  corpus_dir: v.optional(v.pipe(v.string(), v.nonEmpty())),
  digest_sets: v.pipe(
    v.array(DigestSet),
    v.check((sets) => new Set(sets.map(({ file }) => file)).size === sets.length, "a set is listed twice"),
  ),
  files_with_acceptance: Paths,
  /** Published JSON Schemas, which have a key `acceptance` of their own. */
  schemas: Paths,
});
export type Manifest = v.InferOutput<typeof Manifest>;

export type ReadManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  /** `problems`: one line each, with its place. */
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Reads a manifest strictly; an unknown key is a problem.
 *
 * Errors: none, whatever the text
 */
export function readManifest(text: string): ReadManifest {
  const parsed = parseJson(text);
  if (!parsed.ok) return { ok: false, problems: [faultText(parsed.fault)] };
  const result = v.safeParse(Manifest, parsed.value);
  if (result.success) return { ok: true, manifest: result.output };
  return {
    ok: false,
    problems: result.issues.map((issue) => {
      const steps = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)));
      const place = steps.reduce<string>(pointerTo, "");
      return oneLine(`${place === "" ? "" : `${place}: `}${problemOf(issue)}`);
    }),
  };
}

/** A fault of a text with its place. */
export function faultText(fault: JsonFault): string {
  return `line ${fault.line}, column ${fault.column}: ${fault.message}`;
}

function problemOf(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === "never") return "there is no such key in a manifest";
  if (issue.received === "undefined") return "this key is missing";
  return issue.message;
}
