/** `writ context accept`. */
import { acceptProposals, type Outcome, previewAccept } from "../../context/decide.ts";
import { counted } from "../../core/counted.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { tableLines } from "../table.ts";
import { inWorld, openReadingWorld, openWorld } from "../world.ts";

export const command = defineCommand({
  meta: { name: "context accept", description: "Merge what a turn proposed into project context" },
  args: {
    id: { type: "positional", required: true, description: "A contract id or a handoff id" },
    entry: { type: "string", valueHint: "N", description: "Only the proposal of this entry" },
    "dry-run": { type: "boolean", description: "Show what would be merged where, and write nothing" },
    by: { type: "string", valueHint: "NAME", description: "Who decides (default: orchestrator)" },
    ...JSON_SWITCH,
  },
  examples: ["writ context accept 41 --dry-run", "writ context accept 41 --entry 0 --by ana"],
  notes: [
    "A project_identity payload is split by project: each key goes to the workspace that owns that project.",
    "A turn (WRIT_CONTRACT_ID set) does not accept its own proposals.",
  ],
  exits: {
    0: "merged, or shown",
    1: "nothing could be merged: no workspace owns it",
    3: "no such turn, nothing is pending, or inside a turn",
  },
  run({ args, json, out }) {
    const entry = wholeNumber(args.entry, "--entry", 0);
    const request = { id: args.id, entry, by: args.by ?? "orchestrator" };
    const done = args["dry-run"]
      ? inWorld(openReadingWorld(), (world) => previewAccept(world, request))
      : inWorld(openWorld(), (world) => acceptProposals(world, request));
    if (json) {
      const { outcomes, ...facts } = done;
      const status = args["dry-run"] ? "dry_run" : "accepted";
      out.document({
        ok: done.accepted > 0,
        status: done.accepted > 0 ? status : "refused",
        ...facts,
        outcomes: outcomes.map((one) => ({ ...one })),
      });
    } else {
      const header = ["entry", "section", "key", "workspace", args["dry-run"] ? "would" : "did", "why not"];
      for (const line of tableLines(header, done.outcomes.map(cells), out.columns())) out.line(line);
      out.line(
        `${counted(done.accepted, "proposal")} ${args["dry-run"] ? "would be accepted" : "accepted"} (${done.contract_id}).`,
      );
    }
    return done.accepted > 0 ? 0 : 1;
  },
});

function cells(one: Outcome): readonly (string | number | null)[] {
  const why = one.code === null ? null : `${one.code}: ${one.reason ?? ""}`;
  return [one.entry, one.section, one.key, one.workspace, one.action, why];
}
