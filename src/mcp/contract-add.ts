/** `contract_add`: `writ contract add`. */
import { command } from "../cli/contract/add.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_add",
  description:
    "Extend a list of the turn's contract by one entry, for example evidence_report.key_outputs or evidence_report.verbatim_outputs. An absent list is made; a list given as the value is one nested entry. Give draft_id in every call: nothing is kept from one to the next. Without it and agent_id: the contract of WRIT_CONTRACT_ID of the server, or the only turn that is open.",
  reads: false,
  json: {
    value: {
      schema: {},
      description:
        "The entry: any JSON. A text that reads as JSON is that JSON; to store such a text, quote it once more",
    },
  },
});
