/** `contract_finalize`: `writ contract finalize`. */
import { command } from "../cli/contract/finalize.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_finalize",
  description:
    "Close the turn: its claims are held against the record of what really ran, and a claim that the record refutes refuses the close. Set agent_status.agent_state first; IN_PROGRESS is kept as a checkpoint. contract_validate with close tells beforehand.",
  reads: false,
  numbers: ["plan-task-id"],
});
