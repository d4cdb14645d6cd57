/** A contract file as its author's commands read it. */
import { type ReadContracts, readContractBytes } from "../core/delegation/contract.ts";
import type { DocumentReader } from "../core/delegation/document.ts";
import type { DelegationIssue } from "../core/delegation/issue.ts";
import { JUDGES } from "../core/delegation/judges.ts";

/** What an author's command needs of the world. */
export type AuthorWorld = {
  /** A file's bytes, or those of standard input for "-"; `issue` says why there are none. */
  read(
    file: string,
  ): { readonly ok: true; readonly bytes: Uint8Array } | { readonly ok: false; readonly issue: DelegationIssue };
  /** Null: nobody said where the files of `context_paths` are, and they stay unread. */
  readonly readDocuments: DocumentReader | null;
};

/** Errors: none; what is wrong with the file is among the issues */
export function readContractFile(world: AuthorWorld, file: string): ReadContracts {
  const found = world.read(file);
  if (!found.ok) return { issues: [found.issue], subtasks: [], places: [] };
  const { readDocuments } = world;
  return readContractBytes(found.bytes, readDocuments === null ? JUDGES : { ...JUDGES, readDocuments });
}
