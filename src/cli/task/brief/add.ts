/** `writ task brief add`. */
import { addBrief, checkBriefName } from "../../../task/brief.ts";
import { defineCommand } from "../../command.ts";
import { JSON_SWITCH } from "../../contract/address.ts";
import { textOf, WORKSPACE_OPTION } from "../../operand.ts";
import { inWorld, openWorld } from "../../world.ts";

export const command = defineCommand({
  meta: { name: "task brief add", description: "Make a brief: a piece of work with acceptance criteria" },
  args: {
    name: { type: "positional", required: true, description: "Its name, also that of its folder of evidence" },
    ...WORKSPACE_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ task brief add checkout-fix", "writ task brief add checkout-fix --workspace shop --json"],
  exits: { 0: "made", 2: "a name that cannot be a folder", 3: "the workspace has a brief of that name" },
  run({ args, json, out }) {
    const name = { name: args.name, workspace: textOf(args.workspace) };
    checkBriefName(name.name);
    const brief = inWorld(openWorld(), (world) => addBrief(world, name));
    if (json) out.document({ ok: true, ...brief });
    else out.line(`brief id=${brief.id} ${brief.name}`);
    return 0;
  },
});
