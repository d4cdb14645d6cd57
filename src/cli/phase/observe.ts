/** `writ phase observe`. */
import { WritError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { answerPhase, oneLineText, PHASE_EXITS, PHASE_OPTIONS } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "phase observe", description: "Record that an agent was dispatched and how it ended" },
  args: {
    agent: { type: "positional", required: true, description: "The agent's name" },
    exit: { type: "string", valueHint: "N", description: "The status it ended in (default: 0)" },
    ...PHASE_OPTIONS,
  },
  examples: ["writ phase observe conformance-reviewer", "writ phase observe conformance-reviewer --exit 1"],
  notes: [
    "A conformance-reviewer that ended in 0 is the review that complete verify asks for. Nothing else has an effect.",
  ],
  exits: PHASE_EXITS,
  run({ args, json, out }) {
    const agent = oneLineText(args.agent, "agent");
    return answerPhase({ action: "observe", agent, exit: exitOption(args.exit) }, { store: args.store, json, out });
  },
});

/** Errors: `usage` */
function exitOption(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new WritError("usage", `--exit takes an exit status, not "${text}"`);
}
