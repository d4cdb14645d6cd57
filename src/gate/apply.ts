/** Which diff of a result is applied: that of one leg, and only where the leg succeeded. */
import { UNVERIFIED_PATCH } from "../core/delegation/result.ts";
import { readSavedAnswers, type SavedAnswer } from "../core/delegation/saved-answer.ts";
import { WritError } from "../core/error.ts";

/** A patch begins with its first section, a result document with a brace. */
const PATCH_START = "diff --git ";

/**
 * Chooses the diff.
 *
 * @param text  a result document, an element of its results, or a patch
 * @param index the leg, from 0; null: the only one that has a diff
 * Errors: `bad_result`, `no_leg`, `leg_unproved`
 */
export function chooseDiff(file: string, text: string, index: number | null): string {
  if (text.startsWith(PATCH_START)) {
    if (file.split(/[\\/]/).at(-1) === UNVERIFIED_PATCH)
      throw unproved(`"${file}" is the diff of a leg that did not succeed`);
    return text;
  }
  const saved = readSavedAnswers(text);
  if (!saved.ok) {
    const hint = "What can be applied is a result document, an element of its results, or a patch as writ makes it";
    throw new WritError("bad_result", `"${file}" is no result: ${saved.message}`, { path: saved.path, hint });
  }
  const { answer, place } = chosen(file, saved.answers, index);
  if (answer.status !== null && answer.status !== "succeeded") {
    const why = answer.reason === null ? "" : `: ${answer.reason}`;
    throw unproved(`Leg ${place} of "${file}" is ${answer.status}${why}`);
  }
  if (answer.diff === "") throw new WritError("no_leg", `Leg ${place} of "${file}" has no diff`);
  return answer.diff;
}

function unproved(message: string): WritError {
  return new WritError("leg_unproved", message, { hint: "Only the diff of a leg that succeeded is applied" });
}

function chosen(file: string, answers: readonly SavedAnswer[], index: number | null) {
  const numbered = answers.map((answer, at) => ({ answer, place: answer.index ?? at }));
  const withDiff = numbered.filter(({ answer }) => answer.diff !== "");
  const found = index === null ? withDiff : numbered.filter(({ place }) => place === index);
  const [one, ...others] = found;
  if (one !== undefined && others.length === 0) return one;
  if (index !== null) {
    throw new WritError("no_leg", `"${file}" has no leg ${index}: it has ${answers.length}`, {
      hint: "Legs are counted from 0",
    });
  }
  if (one === undefined) throw new WritError("no_leg", `No leg of "${file}" has a diff`);
  const places = withDiff.map(({ place }) => place).join(", ");
  throw new WritError("no_leg", `Several legs of "${file}" have a diff: ${places}`, { hint: "Name one: --index N" });
}
