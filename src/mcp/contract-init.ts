/** `contract_init`: `writ contract init`. */
import { command } from "../cli/contract/init.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_init",
  description:
    "Start the contract of a turn that received no identity: answers a new agent_id and draft_id, to be used verbatim for the rest of the turn. A turn that was born with `writ dispatch` has its draft already and needs no init.",
  reads: false,
});
