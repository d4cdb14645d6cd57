/** `contract_list`: `writ contract list`. */
import { command } from "../cli/contract/list.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_list",
  description:
    "List turns, newest first, 20 where no limit is given. Every argument narrows the list; total says how many there are.",
  reads: true,
  numbers: ["limit"],
});
