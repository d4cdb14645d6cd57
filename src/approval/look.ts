/** Looking at approvals. It reads and writes nothing. */
import type { ApprovalRow } from "../core/approval/repository.ts";
import type { ContractStore } from "../core/contract/repository.ts";

/** Newest first; `status` null: all. Empty when nothing matches, also when there is no store yet. */
export function listApprovals(
  world: { readonly store: ContractStore | null },
  status: string | null,
): readonly ApprovalRow[] {
  return world.store?.read((tables) => tables.approvals.list(status)) ?? [];
}
