import { expect, test } from "bun:test";
import { scriptedWorld } from "../support/world.ts";

function asked(id: string, fingerprint: string, created_at = "2026-01-01T00:00:00Z") {
  return { id, agent_id: null, session_id: "s", fingerprint, payload: "{}", created_at };
}

const APPROVED = { status: "approved", decided_at: "2026-01-02T00:00:00Z", decided_by: "ada", reason: null } as const;

test("a request is pending, and found by its id and by what it asks", () => {
  using world = scriptedWorld();
  world.store.write(({ approvals }) => {
    approvals.insert(asked("P-1", "f"));
    const row = { ...asked("P-1", "f"), status: "pending", decided_at: null, decided_by: null, reason: null };
    expect(approvals.find("P-1")).toEqual(row as never);
    expect(approvals.findPending("f")).toEqual(row as never);
    expect([approvals.find("p-1"), approvals.findPending("g")]).toEqual([null, null]);
  });
});

test("it is decided once, and then no longer pending: the same may be asked anew", () => {
  using world = scriptedWorld();
  world.store.write(({ approvals }) => {
    approvals.insert(asked("P-1", "f"));
    expect(approvals.decide("P-1", APPROVED)).toBe(true);
    expect(approvals.decide("P-1", { ...APPROVED, status: "rejected" })).toBe(false);
    expect(approvals.decide("P-2", APPROVED)).toBe(false);
    expect(approvals.find("P-1")).toMatchObject(APPROVED);
    expect(approvals.findPending("f")).toBeNull();
    approvals.insert(asked("P-2", "f"));
    expect(approvals.findPending("f")?.id).toBe("P-2");
  });
});

test("of two that ask the same the table holds one pending", () => {
  using world = scriptedWorld();
  expect(() =>
    world.store.write(({ approvals }) => {
      approvals.insert(asked("P-1", "f"));
      approvals.insert(asked("P-2", "f"));
    }),
  ).toThrow("UNIQUE");
});

test("they are listed newest first, and by status", () => {
  using world = scriptedWorld();
  world.store.write(({ approvals }) => {
    approvals.insert(asked("P-3", "a", "2026-01-01T00:00:00Z"));
    approvals.insert(asked("P-2", "b", "2026-01-03T00:00:00Z"));
    approvals.insert(asked("P-1", "c", "2026-01-03T00:00:00Z"));
    approvals.decide("P-2", APPROVED);
    const ids = (status: string | null) => approvals.list(status).map((row) => row.id);
    expect([ids(null), ids("pending"), ids("approved"), ids("revoked")]).toEqual([
      ["P-1", "P-2", "P-3"],
      ["P-1", "P-3"],
      ["P-2"],
      [],
    ]);
  });
});
