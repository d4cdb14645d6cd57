/**
 * What weakens a claim without refuting it: the command's status says nothing, the output came from a cache, nothing
 * was tested, or a file changed afterwards. Advice never refuses a close by itself.
 *
 * It is for the caller to ask only where the command check found nothing (`restsOn` of `content-checks.ts`).
 */
import { counted } from "../counted.ts";
import type { Issue } from "../result.ts";
import { plainText } from "./excerpt.ts";
import { quoted, shortened } from "./quoted.ts";
import { type Operator, readOperators } from "./shell-operators.ts";
import type { RecordedRun } from "./tool-record.ts";

export const ADVICE_CODES = ["stale", "masked", "cached", "no_tests"] as const;

export type AdviceCode = (typeof ADVICE_CODES)[number];

/** What advice reads of a run. `truncated` is for its lines alone: head and tail of a whole output are one text. */
export type AdvisedRun = Pick<RecordedRun, "command" | "argv" | "output" | "tail"> & { readonly truncated?: boolean };

const PATH = "evidence_report.verification.command";
const MOST_PATHS = 5;

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ksh", "zsh"]);
const FILTERS: ReadonlySet<string> = new Set(
  "cat head tail tee less more sort uniq wc sed awk cut tr column nl fold ts".split(" "),
);
const HARMLESS: ReadonlySet<string> = new Set(["true", ":", "echo", "printf"]);

const CACHED = /\(cached\)|\[cached\]|from cache|cache hit|full turbo|existing outputs match the cache/i;
const NOTHING_RAN = [
  /\bno tests? (?:ran|run|found|executed|collected|to run|matched)\b/i,
  /\bno test files\b/i,
  /\bcollected 0 items\b/i,
  /\b(?:ran|running|run) 0 tests?\b/i,
  /\b0 pass(?:ed|ing)?\b/i,
  /\b0 tests? (?:ran|run|found|executed|collected|passed)\b/i,
];
const SOMETHING_RAN = /\b[1-9][0-9]* (?:tests?|pass|passed|passing|passes|ok|specs?|examples?)\b/i;

/** The codes among `masked`, `cached` and `no_tests` that a run gives rise to, in this order. */
export function adviseRun(run: AdvisedRun): readonly AdviceCode[] {
  return advise({ run, stalePaths: [] }).map((issue) => issue.code as AdviceCode);
}

/**
 * The advice on the run that a claim rests on, in the order `stale`, `masked`, `cached`, `no_tests`.
 *
 * @param input.stalePaths files that changed after the run, in any order; empty when none did or nobody could tell
 */
export function advise(input: { readonly run: AdvisedRun; readonly stalePaths: readonly string[] }): readonly Issue[] {
  const { run, stalePaths } = input;
  const advice: Issue[] = [];
  const add = (code: AdviceCode, message: string, hint: string): void => {
    advice.push({ code, path: PATH, message, hint });
  };

  if (stalePaths.length > 0) {
    const rest = stalePaths.length - MOST_PATHS;
    const paths = stalePaths.slice(0, MOST_PATHS).join(", ");
    const files = counted(stalePaths.length, "file");
    add(
      "stale",
      `${files} changed after the last run of ${quoted(run.command)}`,
      `Run it again; changed since: ${paths}${rest > 0 ? ` and ${rest} more` : ""}`,
    );
  }

  const mask = findMask(run);
  if (mask !== null) {
    add(
      "masked",
      `The exit status of ${quoted(run.command)} says nothing of the work`,
      `Run it without ${quoted(mask)}, which hides the status`,
    );
  }

  const lines = keptLines(run);
  const cached = lines.find((line) => CACHED.test(line));
  if (cached !== undefined) {
    add(
      "cached",
      `The output of ${quoted(run.command)} came from a cache`,
      `Run it without the cache; the line reads: ${shortened(cached)}`,
    );
  }

  const nothingRan = lines.find((line) => NOTHING_RAN.some((pattern) => pattern.test(line)));
  if (nothingRan !== undefined && !lines.some((line) => SOMETHING_RAN.test(line))) {
    add(
      "no_tests",
      `The output of ${quoted(run.command)} says that no test ran`,
      `Check what it selects; the line reads: ${shortened(nothingRan)}`,
    );
  }
  return advice;
}

/** The part of a command that hides the status of what stands before it, or null. */
function findMask(run: AdvisedRun): string | null {
  const text = shellTextOf(run);
  if (text === null) return null;
  const { operators, end } = readOperators(text);
  const last = operators.at(-1);
  if (last === undefined) return null;
  const behind = text.slice(last.end, end).trim();
  const hides = behind === "" ? last.text === "&" : hidesStatus(last, behind);
  return hides && !(isPipe(last) && setsPipefail(run)) ? text.slice(last.start, end).trim() : null;
}

function hidesStatus(operator: Operator, behind: string): boolean {
  const word = /^[^\s;&|()<>]*/.exec(behind)?.[0] ?? "";
  switch (operator.text) {
    case "||":
    case ";":
    case "\n":
      return HARMLESS.has(word) || /^exit\s+0$/.test(behind);
    case "|":
    case "|&":
      return FILTERS.has(word);
    default:
      return false;
  }
}

function isPipe(operator: Operator): boolean {
  return operator.text === "|" || operator.text === "|&";
}

function setsPipefail(run: AdvisedRun): boolean {
  return run.command.includes("pipefail") || (run.argv ?? []).some((word) => word.includes("pipefail"));
}

/** What a shell read of the command, or null when no shell did: words that are known were not read by one. */
function shellTextOf(run: AdvisedRun): string | null {
  if (!run.argv) return run.command;
  const [program, ...words] = run.argv;
  if (program === undefined || !SHELLS.has(program.slice(program.lastIndexOf("/") + 1))) return null;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (/^-[A-Za-z]*c[A-Za-z]*$/.test(word)) return words[at + 1] ?? null;
    // `-o NAME` takes a word of its own.
    if (/^[-+][A-Za-z]*[oO]$/.test(word)) at++;
    else if (!/^[-+]./.test(word)) return null;
  }
  return null;
}

function keptLines(run: AdvisedRun): readonly string[] {
  const head = run.output ?? "";
  const tail = run.tail ?? "";
  const texts = run.truncated === true ? [head, tail] : [head + tail];
  return texts.flatMap((text) => plainText(text).split("\n"));
}
