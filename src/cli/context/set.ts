/** `writ context set`: the orchestrator's direct write. */
import { setSection } from "../../context/sections.ts";
import { WritError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { readPatch } from "../contract/body.ts";
import { inWorld, openWorld, workspaceOf } from "../world.ts";

export const command = defineCommand({
  meta: { name: "context set", description: "Merge a JSON object into a section of project context" },
  args: {
    section: { type: "positional", required: true, description: "The section; it is made where it is missing" },
    source: { type: "positional", required: false, description: "- reads the object from standard input" },
    json: { type: "string", valueHint: "JSON", description: "The object itself" },
    "json-file": { type: "string", valueHint: "PATH", description: "Read the object from a file; - is standard input" },
    workspace: { type: "string", valueHint: "W", description: "The workspace (default: WRIT_WORKSPACE, else me)" },
    by: { type: "string", valueHint: "NAME", description: "Who writes (default: orchestrator)" },
  },
  output: "always",
  examples: [
    'writ context set stack --json \'{"api":{"language":"go"}}\'',
    "writ context set apps --json-file apps.json --workspace shop",
  ],
  notes: [
    "The output is always one JSON document. --json is the object.",
    "Objects merge key by key; any other value, a list too, replaces what is stored. What it replaced is kept.",
    "A turn (WRIT_CONTRACT_ID set) proposes instead, with update_contracts.",
  ],
  exits: { 0: "written", 3: "called inside a turn" },
  async run({ args, out }) {
    if (args.source !== undefined && args.source !== "-") {
      throw new WritError("usage", `context set takes no second operand but -, not "${args.source}"`, {
        hint: "Give the object as --json JSON, as --json-file PATH, or as - for standard input",
      });
    }
    const payload = await readPatch({ json: args.json, file: args["json-file"], operand: args.source });
    const workspace = workspaceOf(args.workspace);
    const { section } = args;
    const by = args.by ?? "orchestrator";
    const { created } = inWorld(openWorld(), (world) => setSection(world, { workspace, section, payload, by }));
    out.document({ ok: true, status: created ? "created" : "merged", workspace, section });
    return 0;
  },
});
