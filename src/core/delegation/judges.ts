/** What judges the checks and the schema of a contract: the one place where the reader of contracts meets them. */
import { parseCheck } from "../acceptance/parse.ts";
import { lintSchema } from "../schema/lint.ts";
import type { Judges } from "./contract.ts";

export const JUDGES: Judges = { parseCheck, lintSchema };
