/** `contract_fill`: `writ contract fill`. */
import { command } from "../cli/contract/fill.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_fill",
  description:
    "Merge a JSON object into the turn's contract: several fields in one call. A patch that would displace entries of a populated list is refused whole (contract_add extends a list, contract_set replaces it). Give json or json_file.",
  reads: false,
  json: {
    json: {
      schema: { type: ["object", "string"] },
      description: 'The patch, for example {"conclusion": "…", "agent_status": {"agent_state": "COMPLETE"}}',
    },
  },
  about: { "json-file": "Read the patch from a file of JSON" },
  without: ["source"],
});
