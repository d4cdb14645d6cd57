/** What a close and `show` say of a turn's proposals, one line each. Texts of the agent's are kept on their line. */
import { quoted, shortened } from "../record/quoted.ts";
import type { UpdateRefusal } from "./updates.ts";

export type Proposed = {
  readonly contract_id: string;
  /** The dispatch's project, else the goal's project token; null when there is neither. */
  readonly project: string | null;
  /** How many proposals of the contract are pending. */
  readonly pending: number;
};

/** An applied correction. */
export type Changed = { readonly project: string; readonly section: string; readonly key_path: string };

/** The line that asks the orchestrator to decide; null when nothing is pending. */
export function proposalNotice({ contract_id, project, pending }: Proposed): string | null {
  if (pending <= 0) return null;
  const updates = pending === 1 ? "1 project-context update" : `${pending} project-context updates`;
  const target = project === null || project.trim() === "" ? "an unresolved project" : shortened(project);
  return `${updates} proposed for ${target} — contract ${contract_id}`;
}

/** The line that names a refused entry, or a refused key of one. */
export function refusalNotice({ index, contract, key, code, reason }: UpdateRefusal): string {
  const place = `update_contracts[${index}]`;
  const named = contract === null ? place : `${place} ${quoted(contract)}`;
  const at = key === null ? named : `${named} key ${quoted(key)}`;
  return `refused: ${at}: ${code} -- ${reason.trim().replace(/\s+/g, " ")}`;
}

/** The line that announces a correction which was applied without the orchestrator. */
export function changedNotice({ project, section, key_path }: Changed): string {
  return `changed: project context ${shortened(project)}/${shortened(section)}.${shortened(key_path)}`;
}

/**
 * All lines of one contract: what is proposed, what was refused, what was applied.
 *
 * Source: spec/contract.md 13.4, 13.7
 */
export function updateNotices(
  proposed: Proposed,
  refused: readonly UpdateRefusal[],
  changed: readonly Changed[],
): readonly string[] {
  const notice = proposalNotice(proposed);
  return [...(notice === null ? [] : [notice]), ...refused.map(refusalNotice), ...changed.map(changedNotice)];
}
