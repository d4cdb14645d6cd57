/** `contract_validate`: `writ contract validate`. */
import { command } from "../cli/contract/validate.ts";
import { STRICT_TEXT } from "../cli/contract/verdict.ts";
import { verbTool } from "./verb.ts";

export const tool = verbTool(command, {
  name: "contract_validate",
  description:
    "Check the turn's contract as it stands, writing nothing. With close: also everything that contract_finalize would refuse, and its advice.",
  reads: true,
  about: { strict: `${STRICT_TEXT}. Goes with close` },
});
