/** `writ record verify`. */
import { counted } from "../../core/counted.ts";
import { resolveTarget } from "../../editor/target.ts";
import { verifyRecord } from "../../record/verify.ts";
import { defineCommand } from "../command.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, JSON_SWITCH } from "../contract/address.ts";
import { inWorld, openReadingWorld } from "../world.ts";

export const command = defineCommand({
  meta: { name: "record verify", description: "Recompute the chain of a turn's record" },
  args: {
    contract: { type: "positional", required: false, description: "The contract (default: as for the other verbs)" },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: ["writ record verify", "writ record verify a3f1c09d2be47a650.5d2e8c01b7f4 --json"],
  notes: [ADDRESS_NOTE],
  exits: { 0: "every record fits the one before it", 1: "one does not", 3: "there is no such turn" },
  run({ args, json, out }) {
    const address = args.contract === undefined ? addressOf(args) : { draft_id: args.contract, agent_id: null };
    const { contract_id, count, head } = inWorld(openReadingWorld(), (world) =>
      verifyRecord(world, resolveTarget(world, address).draft_id),
    );
    if (json) out.document({ ok: true, status: "ok", contract_id, count, head });
    else
      out.line(
        `OK: the record of ${contract_id} is whole (${counted(count, "entry", "entries")}, head ${head ?? "none"}).`,
      );
    return 0;
  },
});
