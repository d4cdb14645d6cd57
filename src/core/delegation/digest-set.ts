/**
 * What a digest set must be: eight contracts, each over its own pages of the corpus, each check grounded in them, and no
 * alternative of a pattern that the goal gives away.
 */
import { kindOf } from "../acceptance/evidence.ts";
import { parseCheck } from "../acceptance/parse.ts";
import type { SourceNode } from "../json/source.ts";
import { compilePattern } from "../pattern/re2.ts";
import { alternativesOf } from "./alternatives.ts";
import { isBlank } from "./blank.ts";
import { type ContractDraft, type DelegationContract, readContracts } from "./contract.ts";
import type { Finding, FindingCode } from "./finding.ts";
import { JUDGES } from "./judges.ts";
import { lintContract } from "./lint.ts";
import type { DigestSet } from "./manifest.ts";
import { pointerTo } from "./pointer.ts";

/** Contracts in a set, to the number. */
export const SET_SIZE = 8;

/** The pages that documents may be taken from, by name; null where the text of a page is not known. */
export type Corpus = ReadonlyMap<string, string | null>;

export type JudgedSet = {
  readonly subtasks: number;
  readonly findings: readonly Finding[];
  /** Documents that differ from their page: they may be older, or cut. */
  readonly notes: readonly string[];
};

/**
 * Judges one set.
 *
 * @param node the file as it was parsed; null where it does not parse, of which the gate has told already
 * Errors: none
 * Source: delegation contract, section 8.5
 */
export function digestSetFindings(set: DigestSet, text: string, node: SourceNode | null, corpus: Corpus): JudgedSet {
  const judge = new SetJudge(set, corpus);
  if (node === null) return judge.result(0);
  const count = node.kind === "array" ? node.items.length : 1;
  if (node.kind !== "array" || count !== SET_SIZE) {
    const found = node.kind === "array" ? `a list of ${count}` : kindOf(node);
    judge.find("not_a_set", "", `a digest set is a list of ${SET_SIZE} contracts, this is ${found}`, null);
  }
  const read = readContracts(text, JUDGES);
  for (const issue of read.issues) {
    // A check that does not parse has been told of by the walk.
    if (issue.cause === undefined)
      judge.find("bad_contract", issue.path, `${issue.code}: ${issue.message}`, issue.hint);
  }
  // A contract that is not valid is no draft: the other rules wait until it is mended.
  for (const draft of read.subtasks) judge.contract(draft);
  return judge.result(count);
}

class SetJudge {
  private readonly findings: Finding[] = [];
  private readonly notes: string[] = [];

  constructor(
    private readonly set: DigestSet,
    private readonly corpus: Corpus,
  ) {}

  result(subtasks: number): JudgedSet {
    return { subtasks, findings: this.findings, notes: this.notes };
  }

  find(code: FindingCode, path: string, message: string, hint: string | null): void {
    this.findings.push({ code, file: this.set.file, path, message, hint });
  }

  contract({ contract, context_paths, path }: ContractDraft): void {
    const wanted = this.set.docs_per_subtask;
    const context = pointerTo(path, "context");
    if (contract.context.length !== wanted) {
      const message = `the contract has ${contract.context.length} inline documents, the set claims ${wanted}`;
      this.find("document_count", context, message, null);
    }
    if (context_paths.length > 0) {
      const hint = "Put the documents into context: a set needs no read root";
      this.find("document_count", pointerTo(path, "context_paths"), "the contract reads files", hint);
    }
    for (const [index, { name, text }] of contract.context.entries()) {
      const place = pointerTo(context, index);
      const page = this.corpus.get(name);
      if (page === undefined) {
        this.find("not_in_corpus", pointerTo(place, "name"), `"${name}" is no page of the corpus`, null);
      } else if (page !== null && page !== text) {
        this.notes.push(`stale: ${this.set.file} ${place}: "${name}" differs from the page of the corpus`);
      }
      if (isBlank(text)) this.find("blank_document", pointerTo(place, "text"), `document "${name}" is blank`, null);
    }
    if (contract.output_schema === null) this.find("output_schema", path, "the contract has no output_schema", null);
    if (contract.acceptance.length === 0) this.find("no_checks", path, "the contract has no check", null);
    for (const warning of lintContract(contract)) {
      if (warning.code !== "UNGROUNDED") continue;
      this.find(
        "ungrounded",
        path + warning.path,
        `${JSON.stringify(warning.check)}: ${warning.message}`,
        warning.hint,
      );
    }
    this.alternatives(contract, pointerTo(path, "acceptance"));
  }

  private alternatives(contract: DelegationContract, path: string): void {
    const documents = contract.context.map(({ text }) => `${text}\n`).join("");
    for (const [index, line] of contract.acceptance.entries()) {
      const parsed = parseCheck(line);
      if (!parsed.ok || parsed.check.verb !== "regex") continue;
      for (const alternative of alternativesOf(parsed.check.arg)) {
        const compiled = compilePattern(alternative);
        const place = pointerTo(path, index);
        const name = JSON.stringify(alternative);
        if (!compiled.ok || !compiled.pattern.test(documents)) {
          const hint = "Take it out, or spell it as the documents do";
          this.find("alternative_ungrounded", place, `alternative ${name} matches nothing in the documents`, hint);
        }
        if (compiled.ok && compiled.pattern.test(contract.goal)) {
          const hint = "An answer that repeats the goal would pass; take a term that the goal has not";
          this.find("alternative_in_goal", place, `alternative ${name} matches the goal`, hint);
        }
      }
    }
  }
}
