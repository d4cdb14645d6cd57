/**
 * The contract files of a call, read whole before anything runs: every issue of all of them at once, or the legs.
 *
 * Source: delegation run, section 1.1
 */
import { badContracts } from "../core/delegation/bad-contract.ts";
import { readContractBytes } from "../core/delegation/contract.ts";
import type { DocumentReader } from "../core/delegation/document.ts";
import type { DelegationIssue } from "../core/delegation/issue.ts";
import { JUDGES } from "../core/delegation/judges.ts";
import { type CallLeg, MOST_LEGS, readLegs } from "../core/delegation/legs.ts";
import { WritError } from "../core/error.ts";

/** A contract file as it was named, with its bytes or why there are none. */
export type OfferedFile = {
  readonly name: string;
  readonly read:
    | { readonly ok: true; readonly bytes: Uint8Array }
    | { readonly ok: false; readonly issue: DelegationIssue };
};

export type IntakeWorld = {
  readonly readDocuments: DocumentReader;
  readonly sha256: (text: string) => string;
};

/**
 * The legs of a call, in the order of each file, then of the files.
 *
 * Errors: `bad_contract` with every issue of every file; `usage` for more legs than a call may have
 */
export function takeIn(
  world: IntakeWorld,
  files: readonly OfferedFile[],
  options: { readonly fingerprint: boolean },
): readonly CallLeg[] {
  const { readDocuments, sha256 } = world;
  const contracts = files.map(({ name, read }) => ({
    name,
    read: read.ok
      ? readContractBytes(read.bytes, { ...JUDGES, readDocuments })
      : { issues: [read.issue], subtasks: [], places: [] },
  }));
  const taken = readLegs(contracts, { ...options, sha256 });
  if (!taken.ok) {
    throw badContracts(
      files.map(({ name }) => name),
      taken.issues,
    );
  }
  if (taken.legs.length > MOST_LEGS) {
    throw new WritError("usage", `The files have ${taken.legs.length} subtasks; one call takes ${MOST_LEGS} at most`, {
      hint: "Send them in several calls",
    });
  }
  return taken.legs;
}
