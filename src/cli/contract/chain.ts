/** `writ contract chain`. */
import { counted } from "../../core/counted.ts";
import type { JsonObject } from "../../core/json/value.ts";
import { listChain } from "../../editor/look.ts";
import { resolveTarget } from "../../editor/target.ts";
import { defineCommand } from "../command.ts";
import { tableLines } from "../table.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { ADDRESS, addressOf, JSON_SWITCH } from "./address.ts";

const HEADER = ["id", "contract_id", "agent_state", "cut_reason", "created_at", "conclusion"];

export const command = defineCommand({
  meta: { name: "contract chain", description: "List the links of a continuation chain, oldest first" },
  args: { ...ADDRESS, ...JSON_SWITCH },
  examples: ["writ contract chain --contract-id a3f1c09d2be47a650.5d2e8c01b7f4", "writ contract chain --json"],
  notes: ["Any link names the chain. A write to a closed contract opens its next link."],
  exits: { 0: "listed", 3: "no such contract, or several that could be meant" },
  run({ args, json, out }) {
    const links = inWorld(openReadingWorld(), (world) =>
      listChain(world, resolveTarget(world, addressOf(args)).draft_id),
    );
    if (json) out.document({ ok: true, count: links.length, handoffs: links as readonly JsonObject[] });
    else {
      const rows = links.map((row) => [
        row.id,
        row.contract_id,
        row.agent_state,
        row.cut_reason,
        row.created_at,
        row.conclusion,
      ]);
      for (const line of tableLines(HEADER, rows, out.columns())) out.line(line);
      out.line(`${counted(links.length, "link")}.`);
    }
    return 0;
  },
});
