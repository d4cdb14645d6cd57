/** Grades a saved answer by the contract that it answers. */
import { badContract } from "../core/delegation/bad-contract.ts";
import type { ContractDraft } from "../core/delegation/contract.ts";
import { contractDigest } from "../core/delegation/contract-digest.ts";
import { type Grade, gradeAnswer } from "../core/delegation/grade.ts";
import { readSavedAnswers, type SavedAnswer } from "../core/delegation/saved-answer.ts";
import { WritError } from "../core/error.ts";
import { type AuthorWorld, readContractFile } from "./read.ts";

export type GradeWorld = AuthorWorld & {
  /** The text of a saved answer. Errors: `file_unreadable`, `body_too_large`, `bad_json` */
  readResult(file: string): Promise<string>;
  /** Of the UTF-8 of a text, in lower-case hex digits. */
  sha256(text: string): string;
};

export type GradeRequest = {
  readonly file: string;
  readonly result: string;
  /** The subtask, and with it the element of a result document; null: all. */
  readonly index: number | null;
};

export type SubtaskGrade = Grade & { readonly index: number };

/**
 * Pairs subtasks and answers by their index, and grades each pair; a job's result goes to the subtask whose digest it
 * names. A subtask without an answer is graded as one that
 * nothing was measured of.
 *
 * Errors: `bad_contract`, `bad_result`, `no_pair`, and those of reading
 */
export async function gradeSaved(world: GradeWorld, request: GradeRequest): Promise<readonly SubtaskGrade[]> {
  const { file } = request;
  const read = readContractFile(world, file);
  if (read.issues.length > 0) throw badContract(file, read.issues);
  return gradeAnswers(world, read.subtasks, await world.readResult(request.result), request);
}

/**
 * The same for contracts and answers that are at hand.
 *
 * @param drafts  all subtasks of a contract without an issue
 * @param text    the saved answer
 * @param request what both are called in messages, and the subtask
 * Errors: `bad_result`, `no_pair`
 */
export function gradeAnswers(
  world: Pick<GradeWorld, "sha256">,
  drafts: readonly ContractDraft[],
  text: string,
  request: GradeRequest,
): readonly SubtaskGrade[] {
  return gradePairs(world, drafts, text, request).map(({ grade }) => grade);
}

/** A subtask, the answer to it where there is one, and what it is worth. */
export type GradedPair = Pair & { readonly grade: SubtaskGrade };

/** The same, with what was graded. */
export function gradePairs(
  world: Pick<GradeWorld, "sha256">,
  drafts: readonly ContractDraft[],
  text: string,
  request: GradeRequest,
): readonly GradedPair[] {
  const { file, result, index } = request;
  const saved = readSavedAnswers(text);
  if (!saved.ok) {
    throw new WritError("bad_result", `"${result}" is no saved answer: ${saved.message}`, {
      path: saved.path,
      hint: "A saved answer is a result document, an element of its results, a file of run/recovered, or an object with output, structured, diff or diff_files",
    });
  }
  const pairs = pairUp(world, drafts, saved.answers, request);
  if (pairs.every(({ answer }) => answer === null)) {
    const which = index === null ? "any subtask" : `subtask ${index}`;
    throw new WritError("no_pair", `"${result}" has no answer to ${which} of "${file}"`, {
      hint: "Subtasks and results are paired by index, from 0",
    });
  }
  return pairs.map(({ draft, answer }) => {
    const grade = gradeAnswer(draft, answer);
    const notes = isOfAnother(world, draft, answer) ? [...grade.notes, OTHER_DIGEST] : grade.notes;
    return { draft, answer, grade: { index: draft.index, ...grade, notes } };
  });
}

const OTHER_DIGEST =
  "the result names the digest of another contract: the file or its documents were changed since, the call added a fingerprint, or this was a second attempt with less time";

/** Whether a job's result was made for something else; false where the documents were not read, since nobody can say then. */
function isOfAnother(
  { sha256 }: Pick<GradeWorld, "sha256">,
  draft: ContractDraft,
  answer: SavedAnswer | null,
): boolean {
  if (answer === null || answer.wire === null || !draft.isComplete) return false;
  return contractDigest(draft.contract, sha256) !== answer.wire.contract_sha256;
}

type Pair = { readonly draft: ContractDraft; readonly answer: SavedAnswer | null };

function pairUp(
  { sha256 }: Pick<GradeWorld, "sha256">,
  drafts: readonly ContractDraft[],
  answers: readonly SavedAnswer[],
  { file, result, index }: GradeRequest,
): readonly Pair[] {
  const chosen = index === null ? drafts : drafts.filter((draft) => draft.index === index);
  if (chosen.length === 0) {
    throw new WritError("no_pair", `"${file}" has no subtask ${index}: it has ${drafts.length}`, {
      hint: "Subtasks are counted from 0",
    });
  }
  const bare = answers.find((answer) => answer.index === null);
  if (bare !== undefined) {
    const [draft] = chosen;
    if (draft !== undefined && chosen.length === 1) return [{ draft, answer: bare }];
    const [sent, ...twins] = chosen.filter(
      ({ contract }) => contractDigest(contract, sha256) === bare.wire?.contract_sha256,
    );
    if (sent !== undefined && twins.length === 0) return [{ draft: sent, answer: bare }];
    throw new WritError("no_pair", `"${result}" does not say which of the ${drafts.length} subtasks it answers`, {
      hint: "Name the subtask with --index N",
    });
  }
  const surplus = answers.find((answer) => answer.index !== null && answer.index >= drafts.length);
  if (surplus !== undefined && index === null) {
    throw new WritError("no_pair", `"${result}" answers subtask ${surplus.index}, and "${file}" has ${drafts.length}`, {
      hint: "The result belongs to another contract file",
    });
  }
  return chosen.map((draft) => ({ draft, answer: answers.find((answer) => answer.index === draft.index) ?? null }));
}
