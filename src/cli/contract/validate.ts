/** `writ contract validate`. */

import { WritError } from "../../core/error.ts";
import type { Issue } from "../../core/result.ts";
import { validateClose, validateDraft } from "../../editor/validate.ts";
import { defineCommand, type Output } from "../command.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, JSON_SWITCH } from "./address.ts";

export const command = defineCommand({
  meta: { name: "contract validate", description: "Check the draft as it stands, or its close" },
  args: {
    close: { type: "boolean", description: "Run every refusal of finalize, writing nothing" },
    strict: { type: "boolean", description: "With --close: advice refuses too" },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: ["writ contract validate", "writ contract validate --close --strict"],
  notes: ["Writes nothing, repairs nothing, and makes no missing draft.", ADDRESS_NOTE],
  exits: { 0: "valid", 1: "not valid, or finalize would refuse", 3: "no such draft, or the state forbids a close" },
  async run({ args, json, out }) {
    if (args.strict && !args.close) {
      throw new WritError("usage", "--strict goes with --close", {
        hint: "Type: writ contract validate --close --strict",
      });
    }
    if (args.close) {
      const { openCloseWorld } = await import("../close-world.ts");
      const { draft_id, would, advice } = inWorld(openCloseWorld(), (world) =>
        validateClose(world, addressOf(args), args.strict),
      );
      if (json) out.document({ ok: true, status: "ok", draft_id, would, advice });
      else {
        out.line(
          `OK: draft ${draft_id} is valid; finalize would ${would === "finalize" ? "close it" : "keep it as a checkpoint"}.`,
        );
        talkAdvice(out, advice);
      }
      return 0;
    }
    const { draft_id, cross_check } = inWorld(openReadingWorld(), (world) => validateDraft(world, addressOf(args)));
    if (json) out.document({ ok: true, status: "ok", draft_id, ...(cross_check === "done" ? {} : { cross_check }) });
    else out.line(`OK: draft ${draft_id} is valid.`);
    return 0;
  },
});

/** Each advice on a line of its own, and what to do about it under it. */
export function talkAdvice(out: Output, advice: readonly Issue[]): void {
  for (const issue of advice) {
    out.talk(`[ADVICE ${issue.code}] ${issue.message}`);
    if (issue.hint !== null) out.talk(`    ${issue.hint}`);
  }
}
