/** `writ contract validate`. */

import { refusalNotice } from "../../core/contract/proposal-notices.ts";
import { WritError } from "../../core/error.ts";
import { continuedBy } from "../../editor/look.ts";
import { validateClose, validateDraft } from "../../editor/validate.ts";
import { defineCommand } from "../command.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, JSON_SWITCH, talkContinued } from "./address.ts";
import { STRICT_TEXT, talkUnclosed, talkVerdict } from "./verdict.ts";

export const command = defineCommand({
  meta: { name: "contract validate", description: "Check the draft as it stands, or its close" },
  args: {
    close: { type: "boolean", description: "Run every refusal of finalize, writing nothing" },
    strict: { type: "boolean", description: `${STRICT_TEXT}; goes with --close` },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: ["writ contract validate", "writ contract validate --close --strict"],
  notes: [
    "Writes nothing, repairs nothing, and makes no missing draft.",
    ADDRESS_NOTE,
    "Of a closed contract that is continued it judges the very contract named; with --close the live link.",
  ],
  exits: {
    0: "valid",
    1: "not valid, or finalize would refuse",
    3: "no such draft, several that could be meant, or the state forbids a close",
  },
  async run({ args, json, out }) {
    if (args.strict && !args.close) {
      throw new WritError("usage", "--strict goes with --close", {
        hint: "Type: writ contract validate --close --strict",
      });
    }
    if (args.close) {
      const { openCheckWorld } = await import("../close-world.ts");
      const { draft_id, would, advice, claims, incomplete, refused } = inWorld(openCheckWorld(), (world) =>
        validateClose(world, addressOf(args), args.strict),
      );
      if (json)
        out.document({
          ok: true,
          status: "ok",
          draft_id,
          would,
          advice,
          skipped: claims.skipped,
          unheld: claims.unheld,
          refused,
        });
      else {
        out.line(
          `OK: draft ${draft_id} is valid; finalize would ${would === "finalize" ? "close it" : "keep it as a checkpoint"}.`,
        );
        talkVerdict(out, advice, claims);
        for (const refusal of refused) {
          out.talk(refusalNotice(refusal));
          out.talk(`    ${refusal.hint}`);
        }
        if (would === "checkpoint") talkUnclosed(out, draft_id, incomplete);
      }
      return 0;
    }
    const { draft_id, cross_check, live } = inWorld(openReadingWorld(), (world) => {
      const validated = validateDraft(world, addressOf(args));
      return { ...validated, live: continuedBy(world, validated.draft_id) };
    });
    talkContinued(out, draft_id, live);
    if (json) out.document({ ok: true, status: "ok", draft_id, ...(cross_check === "done" ? {} : { cross_check }) });
    else out.line(`OK: draft ${draft_id} is valid.`);
    return 0;
  },
});
