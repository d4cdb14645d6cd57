/** `writ context list`. */
import { listSections } from "../../context/sections.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { textOf, WORKSPACE_OPTION } from "../operand.ts";
import { tableLines } from "../table.ts";
import { inWorld, openReadingWorld } from "../world.ts";

const HEADER = ["section", "updated_at", "updated_by"];

export const command = defineCommand({
  meta: { name: "context list", description: "List the sections of a workspace's project context" },
  args: {
    ...WORKSPACE_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ context list", "writ context list --workspace shop --json"],
  exits: { 0: "listed; also when there is none" },
  run({ args, json, out }) {
    const named = textOf(args.workspace);
    const { workspace, sections } = inWorld(openReadingWorld(), (world) => listSections(world, named));
    if (json)
      out.document({ ok: true, workspace, count: sections.length, sections: sections.map((one) => ({ ...one })) });
    else if (sections.length === 0) out.line(`Workspace ${workspace} has no sections.`);
    else {
      const rows = sections.map((one) => [one.section, one.updated_at, one.updated_by]);
      for (const line of tableLines(HEADER, rows, out.columns())) out.line(line);
    }
    return 0;
  },
});
