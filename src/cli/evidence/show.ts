/** `writ evidence show`. */
import { showEvidence } from "../../evidence/look.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { idOperand } from "../operand.ts";
import { factLines } from "../table.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { documentOf } from "./row.ts";

export const command = defineCommand({
  meta: { name: "evidence show", description: "Print one row of evidence whole" },
  args: {
    id: { type: "positional", required: true, description: "The id that evidence add printed" },
    ...JSON_SWITCH,
  },
  examples: ["writ evidence show 7", "writ evidence show 7 --json"],
  exits: { 0: "printed", 3: "there is no such row" },
  run({ args, json, out }) {
    const id = idOperand(args.id, "ID");
    const row = inWorld(openReadingWorld(), (world) => showEvidence(world, id));
    if (json) {
      out.document({ ok: true, ...documentOf(row) });
      return 0;
    }
    const { text, ...facts } = documentOf(row);
    for (const line of factLines(facts)) out.line(line);
    if (row.text !== null) {
      out.line("");
      out.line("text");
      out.line(`  ${row.text.replaceAll("\n", "\n  ")}`);
    }
    return 0;
  },
});
