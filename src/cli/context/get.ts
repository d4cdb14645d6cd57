/** `writ context get`: the stored JSON itself. */
import { getSection } from "../../context/sections.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { textOf, WORKSPACE_OPTION } from "../operand.ts";
import { inWorld, openReadingWorld } from "../world.ts";

export const command = defineCommand({
  meta: { name: "context get", description: "Print a stored section of project context" },
  args: {
    section: { type: "positional", required: true, description: "The section" },
    ...WORKSPACE_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ context get stack", "writ context get apps --workspace shop"],
  notes: ["Standard output is the section's JSON with and without --json; --json says how an error is printed."],
  exits: { 0: "printed", 3: "there is no such section" },
  run({ args, out }) {
    out.product(inWorld(openReadingWorld(), (world) => getSection(world, textOf(args.workspace), args.section)));
    return 0;
  },
});
