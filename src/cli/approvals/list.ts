/** `writ approvals list`. */
import { listApprovals } from "../../approval/look.ts";
import { APPROVAL_STATUSES } from "../../core/approval/repository.ts";
import { counted } from "../../core/counted.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { tableLines } from "../table.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { documentOf, requestLines } from "./row.ts";

const HEADER = ["id", "status", "risk", "created_at", "agent_id", "decided_by", "reason"];

export const command = defineCommand({
  meta: { name: "approvals list", description: "List requests for consent with their commands, newest first" },
  args: {
    status: { type: "enum", options: [...APPROVAL_STATUSES], description: "Only this status" },
    ...JSON_SWITCH,
  },
  examples: ["writ approvals list --status pending", "writ approvals list --json"],
  exits: { 0: "listed; also when there is none" },
  run({ args, json, out }) {
    const rows = inWorld(openReadingWorld(), (world) => listApprovals(world, args.status ?? null));
    if (json) out.document({ ok: true, count: rows.length, approvals: rows.map(documentOf) });
    else if (rows.length === 0) out.line("No approvals matched.");
    else {
      const cells = rows.map((row) => {
        const { risk_level } = documentOf(row);
        const risk = typeof risk_level === "string" ? risk_level : null;
        return [row.id, row.status, risk, row.created_at, row.agent_id, row.decided_by, row.reason];
      });
      for (const line of tableLines(HEADER, cells, out.columns(), rows.map(requestLines))) out.line(line);
      out.line(`${counted(rows.length, "approval")}.`);
    }
    return 0;
  },
});
