/** `writ evidence list`. */
import { counted } from "../../core/counted.ts";
import { listEvidence } from "../../evidence/look.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { textOf, WORKSPACE_OPTION } from "../operand.ts";
import { tableLines } from "../table.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { documentOf, storageOf } from "./row.ts";

const HEADER = ["id", "ac", "type", "polarity", "task", "storage", "bytes", "created_by", "created_at"];

export const command = defineCommand({
  meta: { name: "evidence list", description: "List the evidence of a brief, oldest first" },
  args: {
    brief: { type: "string", required: true, valueHint: "NAME", description: "The brief" },
    ac: { type: "string", valueHint: "ID", description: "Only this acceptance criterion" },
    ...WORKSPACE_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ evidence list --brief checkout-fix", "writ evidence list --brief checkout-fix --ac AC-2 --json"],
  exits: { 0: "listed; also when there is none", 3: "no such brief" },
  run({ args, json, out }) {
    const filter = { brief: args.brief, ac_id: args.ac ?? null, workspace: textOf(args.workspace) };
    const rows = inWorld(openReadingWorld(), (world) => listEvidence(world, filter));
    if (json) out.document({ ok: true, count: rows.length, evidence: rows.map(documentOf) });
    else if (rows.length === 0) out.line("No evidence matched.");
    else {
      const cells = rows.map((row) => [
        row.id,
        row.ac_id,
        row.type,
        row.polarity,
        row.task_id,
        storageOf(row),
        row.size_bytes,
        row.created_by_agent,
        row.created_at,
      ]);
      for (const line of tableLines(HEADER, cells, out.columns())) out.line(line);
      out.line(`${counted(rows.length, "row")} of evidence.`);
    }
    return 0;
  },
});
