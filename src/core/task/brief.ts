/** Finding a brief by its name, in the workspace that is meant. */
import type { Tables } from "../contract/repository.ts";
import { resolveWorkspace } from "../workspace/resolve.ts";
import type { BriefRow } from "./repository.ts";

/** `WRIT_CONTRACT_ID` and `WRIT_WORKSPACE`, null when unset or blank. */
export type AtWork = { readonly contractId: string | null; readonly workspace: string | null };

/** A brief by its name; `workspace` null: no workspace was given. */
export type BriefName = { readonly name: string; readonly workspace: string | null };

/** The workspace that was given, else the environment's, else the one of the turn at work, else "me". */
export function workspaceAtWork(tables: Tables | null, atWork: AtWork, option: string | null): string {
  const turn = atWork.contractId === null ? null : (tables?.handoffs.find(atWork.contractId) ?? null);
  return resolveWorkspace({ option, environment: atWork.workspace, row: turn?.workspace ?? null });
}

/**
 * The brief of that name, and where it was looked for.
 *
 * @param tables null where there is no store: then there is no brief
 */
export function seekBrief(
  tables: Tables | null,
  atWork: AtWork,
  { name, workspace: option }: BriefName,
): { readonly workspace: string; readonly brief: BriefRow | null } {
  const workspace = workspaceAtWork(tables, atWork, option);
  return { workspace, brief: tables?.tasks.findBrief(workspace, name) ?? null };
}
