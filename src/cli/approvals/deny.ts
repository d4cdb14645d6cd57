/** `writ approvals deny`. */
import { decideApproval } from "../../approval/decide.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { textOf } from "../operand.ts";
import { inWorld, openWorld } from "../world.ts";
import { documentOf, requestLines } from "./row.ts";

export const command = defineCommand({
  meta: { name: "approvals deny", description: "Refuse a pending request" },
  args: {
    id: { type: "positional", required: true, description: "The id that approvals request printed" },
    reason: { type: "string", valueHint: "TEXT", description: "Why not" },
    by: { type: "string", valueHint: "NAME", description: "Who decides" },
    ...JSON_SWITCH,
  },
  examples: [
    "writ approvals deny P-0123456789abcdef0123456789abcdef --reason 'not before the release'",
    "writ approvals deny P-0123456789abcdef0123456789abcdef --by ada --json",
  ],
  notes: ["A turn does not consent to itself: it is refused where WRIT_CONTRACT_ID is set."],
  exits: { 0: "rejected", 3: "no such request, decided before, or inside a turn" },
  run({ args, json, out }) {
    const verdict = { id: args.id, status: "rejected", by: textOf(args.by), reason: textOf(args.reason) } as const;
    const approval = inWorld(openWorld(), (world) => decideApproval(world, verdict));
    if (json) out.document({ ok: true, ...documentOf(approval) });
    else {
      out.line(`Rejected: ${approval.id}`);
      for (const line of requestLines(approval)) out.line(line);
    }
    return 0;
  },
});
