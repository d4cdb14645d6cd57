/** `writ phase status`. */
import { EXIT } from "../../core/error.ts";
import { renderPhases, renderPlan } from "../../core/tracker/status-text.ts";
import { defineCommand } from "../command.ts";
import { trackerWorld } from "../flow-world.ts";
import { answerPhase, flowDocument, PHASE_EXITS, PHASE_OPTIONS } from "./answer.ts";

export const command = defineCommand({
  meta: { name: "phase status", description: "Show the five phases of this worktree's flow" },
  args: {
    archived: { type: "boolean", description: "List former flows instead, newest first" },
    ...PHASE_OPTIONS,
  },
  examples: ["writ phase status", "writ phase status --archived --json"],
  notes: ["writ docs briefs tells what the phases are and what gates an armed flow has."],
  exits: PHASE_EXITS,
  run({ args, json, out }) {
    if (!args.archived) return answerPhase({ action: "status" }, { store: args.store, json, out });
    const flows = trackerWorld(args.store, out).store.archived();
    if (json) {
      const archived = flows.map(({ at, brief_path, flow }) => ({
        at,
        brief_path,
        ...flowDocument(flow),
        tasks: flow.tasks.map((task) => ({ ...task })),
      }));
      out.document({ ok: true, action: "status", archived });
      return EXIT.ok;
    }
    if (flows.length === 0) out.line("No former flow.");
    for (const { at, brief_path, flow } of flows) {
      out.line(`${at} ${brief_path ?? "-"}`);
      const texts = `${renderPhases(flow.phases)}\n${renderPlan(flow.tasks)}`;
      out.line(texts.replace(/^(?=.)/gm, "  "));
    }
    return EXIT.ok;
  },
});
