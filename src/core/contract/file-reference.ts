/**
 * An object among the files checked: a file as of a commit, `{"path", "commit"}` and nothing else. Plain paths are
 * texts and are never looked at here.
 */
import { type JsonObject, valueAt } from "../json/value.ts";
import { foldWord, isText } from "./fold.ts";

const COMMIT = /^[0-9a-f]{7,64}$/;

/** A commit as it is compared and stored, or null when the text is none. A branch, a tag or `HEAD` is none. */
export function foldCommit(text: string): string | null {
  const commit = foldWord(text);
  return COMMIT.test(commit) ? commit : null;
}

/** The keys of a reference that are wrong: `path`, `commit`, then every key that does not belong. None: it is one. */
export function referenceFaults(reference: JsonObject): readonly string[] {
  const faults: string[] = [];
  if (!isText(valueAt(reference, "path"))) faults.push("path");
  const commit = valueAt(reference, "commit");
  if (typeof commit !== "string" || foldCommit(commit) === null) faults.push("commit");
  for (const key of Object.keys(reference)) if (key !== "path" && key !== "commit") faults.push(key);
  return faults;
}
