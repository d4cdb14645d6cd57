/** `writ approvals grant`. */
import { decideApproval } from "../../approval/decide.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { textOf } from "../operand.ts";
import { inWorld, openWorld } from "../world.ts";
import { documentOf, requestLines } from "./row.ts";

export const command = defineCommand({
  meta: { name: "approvals grant", description: "Consent to a pending request" },
  args: {
    id: { type: "positional", required: true, description: "The id that approvals request printed" },
    by: { type: "string", valueHint: "NAME", description: "Who decides" },
    ...JSON_SWITCH,
  },
  examples: [
    "writ approvals grant P-0123456789abcdef0123456789abcdef",
    "writ approvals grant P-0123456789abcdef0123456789abcdef --by ada --json",
  ],
  notes: ["A turn does not consent to itself: it is refused where WRIT_CONTRACT_ID is set."],
  exits: { 0: "approved", 3: "no such request, decided before, or inside a turn" },
  run({ args, json, out }) {
    const verdict = { id: args.id, status: "approved", by: textOf(args.by), reason: null } as const;
    const approval = inWorld(openWorld(), (world) => decideApproval(world, verdict));
    if (json) out.document({ ok: true, ...documentOf(approval) });
    else {
      out.line(`Approved: ${approval.id}`);
      for (const line of requestLines(approval)) out.line(line);
    }
    return 0;
  },
});
