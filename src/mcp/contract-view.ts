/** `contract_view`: `writ contract view`. */
import { command } from "../cli/contract/view.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_view",
  description:
    "Read the envelope of a turn's contract, or with field one value of it. With at: as it stood after that change of its journal. With harness_id: by the run id of the harness. Without any of them: the draft of this turn.",
  reads: true,
  numbers: ["at"],
});
