/** Giving or refusing consent. */
import type { ApprovalRow } from "../core/approval/repository.ts";
import { WritError } from "../core/error.ts";
import type { World } from "./world.ts";

export type Verdict = {
  readonly id: string;
  readonly status: "approved" | "rejected";
  readonly by: string | null;
  readonly reason: string | null;
};

/**
 * Decides a request that is pending, once.
 *
 * Errors: `not_inside_a_turn` before anything is looked up; `no_row`; `not_pending`; `store_busy`, `store_failed`.
 */
export function decideApproval(
  world: Pick<World, "store" | "clock" | "contractId">,
  { id, status, by, reason }: Verdict,
): ApprovalRow {
  if (world.contractId !== null) throw insideTurn(world.contractId);
  return world.store.write((tables) => {
    const decided = tables.approvals.decide(id, {
      status,
      decided_at: world.clock.now(),
      decided_by: by,
      reason,
    });
    const approval = tables.approvals.find(id);
    if (approval === null) {
      throw new WritError("no_row", `There is no approval "${id}"`, { hint: "See them with: writ approvals list" });
    }
    if (!decided) {
      throw new WritError("not_pending", `The approval "${id}" is ${approval.status}, not pending`, {
        hint: "See what is pending with: writ approvals list --status pending",
        details: { approval_id: id, approval_status: approval.status },
      });
    }
    return approval;
  });
}

function insideTurn(contractId: string): WritError {
  return new WritError("not_inside_a_turn", `A turn does not consent to itself: WRIT_CONTRACT_ID is "${contractId}"`, {
    hint: "Whoever dispatched the turn decides, in a shell without WRIT_CONTRACT_ID",
  });
}
