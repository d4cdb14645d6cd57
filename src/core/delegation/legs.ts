/**
 * The contract files of one call to its legs, or to everything that is wrong with all of them at once.
 *
 * Source: delegation run, sections 1.1, 4.9, 11
 */
import { counted } from "../counted.ts";
import { compactJson } from "../json/value.ts";
import { redact } from "../record/redact.ts";
import type { ContractDraft, DelegationContract, ReadContracts } from "./contract.ts";
import { contractDigest } from "./contract-digest.ts";
import { docAnchorOf } from "./docanchor.ts";
import type { DelegationIssue } from "./issue.ts";
import { CONTRACT_LIMITS } from "./limits.ts";
import { type LintWarning, lintContract, lintLine } from "./lint.ts";

/** Legs of one call, over all its files. */
export const MOST_LEGS = 64;

export type ContractFile = { readonly name: string; readonly read: ReadContracts };

/** One subtask of a call, as it is sent. */
export type CallLeg = {
  /** Its place in the call, from 0. */
  readonly index: number;
  /** The file it stands in, and where in it. */
  readonly file: string;
  readonly path: string;
  readonly contract: DelegationContract;
  readonly contract_sha256: string;
  /** What intake warns of, one line each. */
  readonly acceptance_lint: readonly string[];
  /** The same without any text of the contract, for a log. */
  readonly notices: readonly string[];
};

export type ReadLegs =
  | { readonly ok: true; readonly legs: readonly CallLeg[] }
  /** `file` stands in each where there are several files. */
  | { readonly ok: false; readonly issues: readonly DelegationIssue[] };

export type LegOptions = {
  /** Add a fingerprint to each contract with documents. */
  readonly fingerprint: boolean;
  readonly sha256: (text: string) => string;
};

/** Legs keep the order of their file, then of the files. Errors: none; how many legs there may be is the caller's to judge */
export function readLegs(files: readonly ContractFile[], options: LegOptions): ReadLegs {
  const issues = files.flatMap(({ name, read }) =>
    read.issues.map((issue) => (files.length > 1 ? { ...issue, file: name } : issue)),
  );
  if (issues.length > 0) return { ok: false, issues };
  const drafts = files.flatMap(({ name, read }) => read.subtasks.map((draft) => ({ file: name, draft })));
  return { ok: true, legs: drafts.map(({ file, draft }, index) => legOf(draft, file, index, options)) };
}

function legOf(draft: ContractDraft, file: string, index: number, { fingerprint, sha256 }: LegOptions): CallLeg {
  // What the author wrote is judged, not what is added to it.
  const warnings = lintContract(draft.contract);
  const secrets = secretWarnings(draft.contract);
  const added = fingerprint ? withFingerprint(draft.contract) : { contract: draft.contract, warnings: [] };
  const { contract } = added;
  return {
    index,
    file,
    path: draft.path,
    contract,
    contract_sha256: contractDigest(contract, sha256),
    acceptance_lint: [...warnings.map(lintLine), ...secrets, ...added.warnings],
    notices: [...unknownFields(draft), ...warnings.map(noticeOf), ...secrets, ...added.warnings],
  };
}

/** A field that is not known is passed over, and it may have been meant as one that judges the answer. */
function unknownFields({ unknown }: ContractDraft): readonly string[] {
  return unknown.map(({ path, near }) => {
    const meant = near === null ? "" : `; did you mean "${near}"?`;
    return `UNKNOWN-FIELD [${path}]: there is no such field and it is ignored${meant}`;
  });
}

/** Where and why, without the check itself and without what the documents say. */
function noticeOf({ code, path, message }: LintWarning): string {
  // This one names the field that the check reads.
  const why = code === "AUTHORITY-UNREACHABLE" ? "it can only be unknown: no seat can close it" : message;
  return `${code} [${path}]: ${why}`;
}

function withFingerprint(contract: DelegationContract): {
  readonly contract: DelegationContract;
  readonly warnings: readonly string[];
} {
  if (contract.context.length === 0) return { contract, warnings: [] };
  const refuse = (why: string) => ({ contract, warnings: [`FINGERPRINT: no check was added: ${why}`] });
  if (contract.acceptance.length >= CONTRACT_LIMITS.checks)
    return refuse("the contract has as many checks as it may have");
  const anchor = docAnchorOf(contract.goal, contract.context);
  if (!anchor.ok)
    return refuse(`the documents have ${counted(anchor.found, "word")} that would tell them from others, 6 are needed`);
  return { contract: { ...contract, acceptance: [...contract.acceptance, anchor.check] }, warnings: [] };
}

function secretWarnings({ goal, context, acceptance, output_schema }: DelegationContract): readonly string[] {
  const documents = context.flatMap(({ name, text }) => [name, text]);
  const texts = [goal, ...documents, ...acceptance, output_schema === null ? "" : compactJson(output_schema)];
  if (!texts.some((text) => redact(text, "command") !== text)) return [];
  return [
    "SECRET-SHAPED: the contract holds what looks like a key; the seat is sent it as it is, and run records mask it",
  ];
}
