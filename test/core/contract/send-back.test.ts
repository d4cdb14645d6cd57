import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isRefusal, type Obstacle, REASON_LIMIT, sendBackReason } from "../../../src/core/contract/send-back.ts";
import { type ErrorCode, WritError } from "../../../src/core/error.ts";

const ID = "a0123456789abcdef.0a1b2c3d4e5f";

function reason(obstacle: Obstacle, more: { draft_id?: string; count?: number; limit?: number } = {}): string {
  return sendBackReason({ draft_id: ID, count: 1, limit: 2, ...more, obstacle });
}

function refused(error: WritError): Obstacle {
  return { kind: "refused", error };
}

describe("sendBackReason()", () => {
  test("of a turn that has not said how it ended", () => {
    expect(reason({ kind: "undeclared" })).toBe(
      [
        `The contract ${ID} of this turn is not finalized (sent back 1 of 2).`,
        "Its agent_status.agent_state is IN_PROGRESS: the turn has not said how it ended.",
        "Say how it ended (COMPLETE, NEEDS_VERIFICATION, BLOCKED, NEEDS_INPUT or APPROVAL_REQUEST), for example:",
        `Type: writ contract fill --draft-id ${ID} --json '{"conclusion":"...","agent_status":{"agent_state":"BLOCKED","next_action":"..."}}'`,
        `Then: writ contract validate --close --draft-id ${ID}`,
        `Then: writ contract finalize --draft-id ${ID}`,
      ].join("\n"),
    );
  });

  test("of a turn that only has to call finalize", () => {
    expect(reason({ kind: "unfinalized" }).split("\n").slice(1)).toEqual([
      "It is valid and ready to close.",
      `Type: writ contract finalize --draft-id ${ID}`,
    ]);
  });

  test("of a refusal with issues: the first of them with its hint, and how many more there are", () => {
    const issue = (code: string, path: string | null) => ({ code, path, message: "It is wrong", hint: "Mend it" });
    const issues = [issue("FIELD_TYPE", "conclusion"), issue("B", null), issue("C", null)];
    expect(
      reason(refused(new WritError("validation", "no", { issues })))
        .split("\n")
        .slice(1),
    ).toEqual([
      "FIELD_TYPE [conclusion]: It is wrong",
      "Mend it",
      "2 more; the first command below lists them all.",
      `Type: writ contract validate --close --draft-id ${ID}`,
      `Then: writ contract finalize --draft-id ${ID}`,
    ]);
  });

  test("of a refusal without issues: its code, message and hint", () => {
    const error = new WritError("conclusion_required", "A clean close needs a conclusion", { hint: "Set one" });
    expect(reason(refused(error)).split("\n").slice(1, 3)).toEqual([
      "conclusion_required: A clean close needs a conclusion",
      "Set one",
    ]);
  });

  test("a draft that is not there is made anew by looking at it", () => {
    expect(reason(refused(new WritError("no_draft", "none")))).toContain(`Type: writ contract view --draft-id ${ID}`);
  });

  test("however long and whatever it is made of, it stays short, whole, clean, and says what to type", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 6_000 }),
        fc.string({ unit: "binary", maxLength: 6_000 }),
        fc.integer({ min: 20, max: 200 }),
        (message, hint, length) => {
          const draft_id = `a0123456789abcdef.${"x".repeat(length - 18)}`;
          const issues = [{ code: "FIELD_TYPE", path: message, message, hint }];
          const text = reason(refused(new WritError("validation", message, { issues })), { draft_id });
          expect(text.length).toBeLessThanOrEqual(REASON_LIMIT);
          expect(text.isWellFormed()).toBe(true);
          expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
          expect(text).toEndWith(`Then: writ contract finalize --draft-id ${draft_id}`);
        },
      ),
    );
  });
});

test.each<[ErrorCode, boolean]>([
  ["validation", true],
  ["content_unverified", true],
  ["blind_verification_required", true],
  ["no_draft", true],
  ["store_busy", false],
  ["store_failed", false],
  ["internal", false],
  ["usage", false],
])("%s is an answer about the contract: %p", (code, expected) => {
  expect(isRefusal(new WritError(code, "x"))).toBe(expected);
});
