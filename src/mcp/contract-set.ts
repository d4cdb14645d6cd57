/** `contract_set`: `writ contract set`. */
import { command } from "../cli/contract/set.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_set",
  description:
    "Replace one field of the turn's contract, a list too (contract_add extends a list, contract_fill merges several fields). The whole envelope is validated; a refusal changes nothing and says what is wrong. Without draft_id and agent_id it works on the draft of this turn.",
  reads: false,
  json: {
    value: {
      schema: {},
      description:
        'The new value: any JSON. A text that reads as JSON is that JSON ("[]" is an empty list); to store such a text, quote it once more',
    },
  },
});
