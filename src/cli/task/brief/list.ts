/** `writ task brief list`. */
import { counted } from "../../../core/counted.ts";
import { listBriefs } from "../../../task/brief.ts";
import { defineCommand } from "../../command.ts";
import { JSON_SWITCH } from "../../contract/address.ts";
import { textOf } from "../../operand.ts";
import { tableLines } from "../../table.ts";
import { inWorld, openReadingWorld } from "../../world.ts";

const HEADER = ["id", "workspace", "name", "status", "created_at"];

export const command = defineCommand({
  meta: { name: "task brief list", description: "List briefs, oldest first" },
  args: {
    workspace: { type: "string", valueHint: "W", description: "Only this workspace" },
    ...JSON_SWITCH,
  },
  examples: ["writ task brief list", "writ task brief list --workspace shop --json"],
  exits: { 0: "listed; also when there is none" },
  run({ args, json, out }) {
    const briefs = inWorld(openReadingWorld(), (world) => listBriefs(world, textOf(args.workspace)));
    if (json) out.document({ ok: true, count: briefs.length, briefs });
    else if (briefs.length === 0) out.line("No briefs matched.");
    else {
      const cells = briefs.map((brief) => [brief.id, brief.workspace, brief.name, brief.status, brief.created_at]);
      for (const line of tableLines(HEADER, cells, out.columns())) out.line(line);
      out.line(`${counted(briefs.length, "brief")}.`);
    }
    return 0;
  },
});
