/**
 * `commands_run` and `files_checked` as finalize rewrites them: what the record holds first, then what only
 * the agent says, marked as such. The second lane fills a list that is still empty from a transcript.
 */
import { compactJson, isObject, type JsonObject, type JsonValue, valueAt, withKey } from "../json/value.ts";

/** Before an entry that only the agent vouches for. */
export const ANNOTATION = "[agent annotation] ";

/** Before an entry that was read from the harness's transcript. */
export const RECOVERED = "[recovered from transcript] ";

/**
 * Stamps one list. Doing it twice changes nothing.
 *
 * @param agent    the list as the agent wrote it
 * @param recorded the recorded commands or read paths in order, repeats allowed; null when the turn is not
 *                 bound to a record, and then the list stays as it is
 * Errors: none
 */
export function stampList(agent: readonly JsonValue[], recorded: readonly string[] | null): readonly JsonValue[] {
  if (recorded === null) return agent;
  const names = new Set(recorded.map((text) => text.trim()));
  const references = new Map<string, JsonValue[]>(recorded.map((text) => [text, []]));
  const own: JsonValue[] = [];
  for (const entry of agent) {
    if (typeof entry === "string") {
      if (!names.has(withoutMark(entry.trim()).trim())) own.push(isMarked(entry) ? entry : ANNOTATION + entry);
    } else if (isReference(entry)) {
      const path = String(valueAt(entry, "path"));
      const named = references.get(path);
      if (named !== undefined) named.push(entry);
      else own.push(isMarked(path) ? entry : withKey(entry, "path", ANNOTATION + path));
    } else {
      own.push(ANNOTATION + compactJson(entry));
    }
  }
  // A reference says more than the bare path and stands in its place; several of one path all stay.
  const stamped = [...references].flatMap(([text, instead]) => (instead.length > 0 ? instead : [text]));
  return [...stamped, ...own];
}

/**
 * Fills a list that is still empty with what a transcript shows; any other list stays as it is.
 *
 * @param recovered commands or paths, already redacted
 * Errors: none
 */
export function recoverList(agent: readonly JsonValue[], recovered: readonly string[]): readonly JsonValue[] {
  return agent.length > 0 ? agent : recovered.map((text) => RECOVERED + text);
}

/** An object with a path and nothing but a commit beside it, as `files_checked` takes them. */
function isReference(entry: JsonValue): entry is JsonObject {
  if (!isObject(entry)) return false;
  const path = valueAt(entry, "path");
  const known = Object.keys(entry).every((key) => key === "path" || key === "commit");
  return known && typeof path === "string" && path.trim() !== "";
}

function isMarked(text: string): boolean {
  return withoutMark(text.trimStart()) !== text.trimStart();
}

function withoutMark(text: string): string {
  const mark = [ANNOTATION, RECOVERED].find((candidate) => text.startsWith(candidate));
  return mark === undefined ? text : text.slice(mark.length);
}
