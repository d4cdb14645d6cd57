/**
 * The diff of a result that nobody has graded, once it is graded: what `writ runs recover` kept of a job has no verdict,
 * and no word of the node that made it is one.
 */
import { oneLine } from "../core/acceptance/quoting.ts";
import { badContract } from "../core/delegation/bad-contract.ts";
import { WritError } from "../core/error.ts";
import { type GradeRequest, type GradeWorld, gradePairs, type SubtaskGrade } from "./grade.ts";
import { type AuthorWorld, readContractFile } from "./read.ts";

export type ProvenDiff = { readonly diff: string; readonly grade: SubtaskGrade };

/**
 * Grades the result of a job as `writ grade` does, and gives its diff where a live leg would have succeeded with it: every
 * check passes, the contract opens a write door, and the diff is safe and fits the documents.
 *
 * @param text what the file of the request holds
 * Errors: `leg_unproved`, `no_leg`, `bad_contract`, `bad_result`, `no_pair`, and those of reading the contract
 * Source: delegation run, sections 7.7 and 10.7
 */
export function provenDiff(
  world: AuthorWorld & Pick<GradeWorld, "sha256">,
  text: string,
  request: GradeRequest,
): ProvenDiff {
  const { file, result } = request;
  const read = readContractFile(world, file);
  if (read.issues.length > 0) throw badContract(file, read.issues);
  const [pair] = gradePairs(world, read.subtasks, text, request);
  const wire = pair?.answer?.wire ?? null;
  if (pair === undefined || wire === null) {
    throw new WritError("leg_unproved", `"${result}" is no result of a job as its node handed it out`, {
      hint: "What writ runs recover kept is graded here; a result document has its verdict, and is applied without --contract",
    });
  }
  const { draft, grade } = pair;
  const place = `"${result}", held against "${file}"[${draft.index}]`;
  if (grade.verdict !== "pass") throw unproved(`${place}, does not pass: ${whyNot(grade)}`);
  if (!draft.isComplete) {
    throw new WritError("leg_unproved", `${place}: without its documents nobody can say whether the diff fits them`, {
      hint: "Name the read root of the delegation: --read-root DIR",
    });
  }
  if (wire.diff === "") throw new WritError("no_leg", `"${result}" has no diff`);
  return { diff: wire.diff, grade };
}

function unproved(message: string): WritError {
  return new WritError("leg_unproved", message, {
    hint: "Only a diff is applied with which a live leg would have succeeded; writ grade shows every check",
  });
}

/** The checks that do not pass; what kept them from being evaluated where none was. */
function whyNot({ outcomes, notes }: SubtaskGrade): string {
  const failed = outcomes.flatMap((each) =>
    each.outcome === "pass" ? [] : [`${each.outcome} ${oneLine(each.reason)}`],
  );
  return (failed.length > 0 ? failed : notes).join("; ");
}
