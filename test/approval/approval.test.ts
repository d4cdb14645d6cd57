/** Asking for consent and giving it, in a scripted world. */
import { describe, expect, test } from "bun:test";
import { decideApproval } from "../../src/approval/decide.ts";
import { listApprovals } from "../../src/approval/look.ts";
import { requestApproval } from "../../src/approval/request.ts";
import type { World } from "../../src/approval/world.ts";
import type { ApprovalRequest } from "../../src/core/approval/request.ts";
import { born, fill, refusalOf } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const ASKED: ApprovalRequest = {
  commands: ["npm publish"],
  operation: null,
  rationale: null,
  scope: null,
  risk_level: null,
  rollback: null,
};
const NOBODY = { agent_id: null, session_id: null };

function on(world: ScriptedWorld, more: Partial<World> = {}): World {
  let minted = 0;
  return { ...world, mint: { approvalId: () => `P-${(++minted).toString(16).padStart(32, "0")}` }, ...more };
}

const ID = `P-${"1".padStart(32, "0")}`;
const YES = { id: ID, status: "approved", by: "ada", reason: null } as const;

describe("requestApproval()", () => {
  test("is pending, and what a contract may cite", () => {
    using world = scriptedWorld();
    const { approval, created } = requestApproval(on(world), ASKED, { agent_id: "a1", session_id: "s" });
    expect(created).toBe(true);
    expect(approval).toMatchObject({ id: ID, status: "pending", agent_id: "a1", session_id: "s" });
    expect(fill(world, born(world), { approval_request: { approval_id: ID } }).change_id).not.toBeNull();
  });

  test("the same while it is pending is the same; another one, or one that was decided, is new", () => {
    using world = scriptedWorld();
    const asking = on(world);
    const again = (asked = ASKED) => requestApproval(asking, asked, NOBODY);
    expect([again().created, again().created]).toEqual([true, false]);
    expect(again().approval.id).toBe(ID);
    expect(again({ ...ASKED, rationale: "why" }).created).toBe(true);
    decideApproval(world, YES);
    expect(again().created).toBe(true);
    expect(again().approval.id).not.toBe(ID);
  });

  test("the next turn that asks the same gets the same id, and the first asker stays named", () => {
    using world = scriptedWorld();
    const asking = on(world, { contractId: "a0123456789abcdef.0a1b2c3d4e5f" });
    expect(requestApproval(asking, ASKED, NOBODY).approval.agent_id).toBe("a0123456789abcdef");
    const second = requestApproval({ ...asking, contractId: "afedcba9876543210.0a1b2c3d4e5f" }, ASKED, NOBODY);
    expect(second).toMatchObject({ created: false, approval: { id: ID, agent_id: "a0123456789abcdef" } });
  });

  test.each([[[]], [["ls", "a && b"]], [[" ls"]], [["ls", ""]]])(
    "%j is a usage error, and nothing is asked",
    (commands) => {
      using world = scriptedWorld();
      const error = refusalOf(() => requestApproval(on(world), { ...ASKED, commands }, NOBODY));
      expect(error).toMatchObject({ code: "usage", path: "--command" });
      expect(listApprovals(world, null)).toEqual([]);
    },
  );
});

describe("decideApproval()", () => {
  test.each([
    ["approved", null],
    ["rejected", "not now"],
  ] as const)("%s once, by whom, when and why", (status, reason) => {
    using world = scriptedWorld();
    requestApproval(on(world), ASKED, NOBODY);
    world.advance(60);
    const decided_at = "2026-01-01T00:01:00Z";
    expect(decideApproval(world, { id: ID, status, by: "ada", reason })).toMatchObject({
      id: ID,
      status,
      reason,
      decided_at,
      decided_by: "ada",
    });
    for (const second of ["approved", "rejected"] as const) {
      const error = refusalOf(() => decideApproval(world, { id: ID, status: second, by: "eve", reason: null }));
      expect(error).toMatchObject({ code: "not_pending", details: { approval_status: status } });
    }
    expect(listApprovals(world, status)).toMatchObject([{ decided_by: "ada", decided_at }]);
  });

  test.each(["revoked", "expired"])("what is %s is not pending", (status) => {
    using world = scriptedWorld();
    requestApproval(on(world), ASKED, NOBODY);
    world.sql("UPDATE approvals SET status = ?", status);
    expect(refusalOf(() => decideApproval(world, YES))).toMatchObject({ code: "not_pending" });
  });

  test("an unknown id is no row", () => {
    using world = scriptedWorld();
    expect(refusalOf(() => decideApproval(world, YES))).toMatchObject({ code: "no_row" });
  });

  test("a turn does not consent to itself, not even to what is not there", () => {
    using world = scriptedWorld();
    requestApproval(on(world), ASKED, NOBODY);
    for (const id of [ID, "P-none"]) {
      const error = refusalOf(() => decideApproval({ ...world, contractId: born(world) }, { ...YES, id }));
      expect(error).toMatchObject({ code: "not_inside_a_turn" });
    }
    expect(listApprovals(world, "pending")).toHaveLength(1);
  });
});

test("listApprovals() is empty where no store is", () => {
  expect(listApprovals({ store: null }, null)).toEqual([]);
});
