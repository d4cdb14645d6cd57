/** `contract_set`: `writ contract set`. */
import { command } from "../cli/contract/set.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_set",
  description:
    "Replace one field of the turn's contract, a list too (contract_add extends a list, contract_fill merges several fields). The whole envelope is validated; a refusal changes nothing and says what is wrong. Give draft_id in every call: nothing is kept from one to the next. Without it and agent_id: the contract of WRIT_CONTRACT_ID of the server, or the only turn that is open.",
  reads: false,
  json: {
    value: {
      schema: {},
      description:
        'The new value: any JSON. A text that reads as JSON is that JSON ("[]" is an empty list); to store such a text, quote it once more',
    },
  },
});
