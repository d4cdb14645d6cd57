/** `contract_chain`: `writ contract chain`. */
import { command } from "../cli/contract/chain.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_chain",
  description: "List the links of a continuation chain, oldest first; any of its contracts names the chain.",
  reads: true,
});
