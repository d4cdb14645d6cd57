/** `writ contract proposals list`. */
import { PROPOSAL_STATUSES, type ProposalRow } from "../../../core/context/repository.ts";
import type { JsonObject } from "../../../core/json/value.ts";
import { listProposals } from "../../../editor/look.ts";
import { defineCommand } from "../../command.ts";
import { tableLines } from "../../table.ts";
import { inWorld, openReadingWorld } from "../../world.ts";
import { JSON_SWITCH } from "../address.ts";

const HEADER = [
  "proposal",
  "handoff",
  "contract_id",
  "entry",
  "section",
  "status",
  "project",
  "decided_by",
  "failed guards",
];

export const command = defineCommand({
  meta: { name: "contract proposals list", description: "List what turns proposed to project context, newest first" },
  args: {
    "contract-id": { type: "string", alias: "draft-id", valueHint: "ID", description: "Only this contract" },
    status: { type: "enum", options: [...PROPOSAL_STATUSES, "all"], description: "Only this status (default pending)" },
    ...JSON_SWITCH,
  },
  examples: ["writ contract proposals list", "writ contract proposals list --status all --json"],
  notes: [
    "Guards are why a correction was not applied by itself. Decide with writ context accept or reject, which take the handoff or the contract id.",
  ],
  exits: { 0: "listed; also when there is none" },
  run({ args, json, out }) {
    const status = args.status === "all" ? null : (args.status ?? "pending");
    const filter = { contract_id: args["contract-id"] ?? null, status };
    const proposals = inWorld(openReadingWorld(), (world) => listProposals(world, filter));
    if (json) out.document({ ok: true, count: proposals.length, proposals: proposals.map(proposalDocument) });
    else if (proposals.length === 0) out.line("No proposals matched.");
    else for (const line of proposalLines(proposals, out.columns())) out.line(line);
    return 0;
  },
});

export function proposalDocument(one: ProposalRow): JsonObject {
  return { ...one, failed_guards: one.failed_guards === null ? null : [...one.failed_guards] };
}

/** @param columns as `tableLines` takes them */
export function proposalLines(proposals: readonly ProposalRow[], columns: number | null): readonly string[] {
  const rows = proposals.map((one) => [
    one.id,
    one.handoff_id,
    one.contract_id,
    one.entry_index,
    one.section,
    one.status,
    one.project ?? one.goal_project_token,
    one.decided_by,
    one.failed_guards === null || one.failed_guards.length === 0 ? null : one.failed_guards.join(" "),
  ]);
  return tableLines(HEADER, rows, columns);
}
