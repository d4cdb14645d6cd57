/** `contract_show`: `writ contract show`. */
import { command } from "../cli/contract/show.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_show",
  description:
    "Read one turn whole, by contract id or handoff id: what came of it (result), its row, envelope, content checks, proposals, and the record of what it ran.",
  reads: true,
  numbers: ["id"],
});
