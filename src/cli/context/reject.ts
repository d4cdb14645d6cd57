/** `writ context reject`. */
import { rejectProposals } from "../../context/decide.ts";
import { counted } from "../../core/counted.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { inWorld, openWorld } from "../world.ts";

export const command = defineCommand({
  meta: { name: "context reject", description: "Turn down what a turn proposed to project context" },
  args: {
    id: { type: "positional", required: true, description: "A contract id or a handoff id" },
    entry: { type: "string", valueHint: "N", description: "Only the proposal of this entry" },
    reason: { type: "string", valueHint: "TEXT", description: "Why, kept with the proposal" },
    by: { type: "string", valueHint: "NAME", description: "Who decides (default: orchestrator)" },
    ...JSON_SWITCH,
  },
  examples: ["writ context reject 41 --reason 'the image is pinned on purpose'", "writ context reject 41 --entry 0"],
  exits: { 0: "rejected", 3: "no such turn, nothing is pending, or inside a turn" },
  run({ args, json, out }) {
    const entry = wholeNumber(args.entry, "--entry", 0);
    const request = { id: args.id, entry, by: args.by ?? "orchestrator", reason: args.reason ?? null };
    const { contract_id, handoff_id, rejected } = inWorld(openWorld(), (world) => rejectProposals(world, request));
    if (json) out.document({ ok: true, status: "rejected", contract_id, handoff_id, entries: rejected });
    else out.line(`${counted(rejected.length, "proposal")} rejected (${contract_id}).`);
    return 0;
  },
});
