/** `writ contract init`. */
import { initDraft } from "../../editor/init.ts";
import { defineCommand } from "../command.ts";
import { inWorld, openWorld } from "../world.ts";
import { ADDRESS, JSON_SWITCH } from "./address.ts";

export const command = defineCommand({
  meta: { name: "contract init", description: "Start a draft for a turn that received no identity" },
  args: {
    "agent-id": { ...ADDRESS["agent-id"], description: "Use this agent id instead of a new one" },
    "draft-id": { ...ADDRESS["draft-id"], description: "Use this draft id instead of a new one" },
    ...JSON_SWITCH,
  },
  examples: ["writ contract init", "writ contract init --agent-id a0123456789abcdef --json"],
  notes: ["A turn born with writ dispatch has its draft already and needs no init."],
  exits: { 0: "made", 1: "the agent id has not the form of one", 3: "there is a draft of that id" },
  run({ args, json, out }) {
    const made = inWorld(openWorld(), (world) =>
      initDraft(world, { agent_id: args["agent-id"] ?? null, draft_id: args["draft-id"] ?? null }),
    );
    for (const warning of made.warnings) out.talk(`Warning: ${warning}`);
    const { draft_id, agent_id, agent_id_minted } = made;
    if (json) out.document({ ok: true, status: "ok", draft_id, agent_id, agent_id_minted });
    else {
      out.line(`OK: draft ${draft_id} updated and validated.`);
      out.line(`agent_id: ${agent_id}`);
      out.line(`draft_id: ${draft_id}`);
      out.line(
        "Reuse BOTH verbatim for the rest of this turn: agent_id in agent_status.agent_id, draft_id as --draft-id.",
      );
    }
    return 0;
  },
});
