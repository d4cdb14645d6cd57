/** Which diff of a result is applied: that of one leg, and only where the leg succeeded. */
import { UNVERIFIED_PATCH } from "../core/delegation/result.ts";
import { readSavedAnswers, type SavedAnswer } from "../core/delegation/saved-answer.ts";
import { WritError } from "../core/error.ts";

/** A patch begins with its first section, a result document with a brace. */
const PATCH_START = "diff --git ";

/**
 * Chooses the diff.
 *
 * @param file  what the result is called; `real` is the path behind every link, null for standard input
 * @param text  a result document, an element of its results, or a patch, which has no verdict: it is the caller's own act
 * @param index the leg, from 0; null: the only one that has a diff
 * Errors: `bad_result`, `no_leg`, `leg_unproved`
 * Source: delegation run, section 10.7
 */
export function chooseDiff(
  { file, real }: { readonly file: string; readonly real: string | null },
  text: string,
  index: number | null,
): string {
  if (isPatch(text)) {
    if ([file, real ?? ""].some(isUnverified)) throw unproved(`"${file}" is the diff of a leg that did not succeed`);
    return text;
  }
  const saved = readSavedAnswers(text);
  if (!saved.ok) {
    const hint = "What can be applied is a result document, an element of its results, or a patch as writ makes it";
    throw new WritError("bad_result", `"${file}" is no result: ${saved.message}`, { path: saved.path, hint });
  }
  const { answer, place } = chosen(file, saved.answers, index);
  assertSucceeded(file, place, answer);
  if (answer.diff === "") throw new WritError("no_leg", `Leg ${place} of "${file}" has no diff`);
  return answer.diff;
}

export function isPatch(text: string): boolean {
  return text.startsWith(PATCH_START);
}

/** Where case does not count the file has either name. */
function isUnverified(path: string): boolean {
  return path.split(/[\\/]/).at(-1)?.toLowerCase() === UNVERIFIED_PATCH;
}

/** Only a verdict that says so, and that nothing beside it denies, is a success. Errors: `leg_unproved` */
function assertSucceeded(file: string, place: number, answer: SavedAnswer): void {
  const { status, reason, contradiction, wire } = answer;
  if (status === null && wire !== null) {
    const message = `Nobody has graded "${file}": it is the result of a job as its node handed it out`;
    throw new WritError("leg_unproved", message, {
      hint: "This grades it first, and applies it where it passes: writ gate apply RESULT --contract FILE --read-root DIR --to DIR",
    });
  }
  if (status === null) throw unproved(`"${file}" does not say how leg ${place} ended`);
  if (status !== "succeeded") {
    throw unproved(`Leg ${place} of "${file}" is ${status}${reason === null ? "" : `: ${reason}`}`);
  }
  if (contradiction !== null) {
    throw unproved(`Leg ${place} of "${file}" contradicts itself: it is succeeded, and ${contradiction}`);
  }
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
