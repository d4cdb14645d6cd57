/** `writ contract fill`: always one JSON document on standard output. */
import { mutateDraft } from "../../editor/edit.ts";
import { defineCommand } from "../command.ts";
import { inWorld, openWorld } from "../world.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, printWritten } from "./address.ts";
import { readPatch } from "./body.ts";

export const command = defineCommand({
  meta: { name: "contract fill", description: "Merge a JSON object into the draft, never over a populated list" },
  args: {
    json: { type: "string", valueHint: "JSON", description: "The patch itself" },
    "json-file": { type: "string", valueHint: "PATH", description: "Read the patch from a file; - is standard input" },
    source: { type: "positional", required: false, description: "- reads the patch from standard input" },
    ...ADDRESS,
  },
  output: "always",
  examples: [
    'writ contract fill --json \'{"evidence_report":{"key_outputs":["the total was truncated"]}}\'',
    "writ contract fill --json-file patch.json",
    "jq -n '{conclusion: \"done\"}' | writ contract fill -",
  ],
  notes: [
    "The output is always one JSON document. --json is the patch.",
    "A patch that would displace entries of a list is refused whole: use add to extend, set to replace.",
    ADDRESS_NOTE,
  ],
  exits: {
    0: "written",
    1: "the envelope would break a rule",
    3: "no such draft, several that could be meant, or a populated list in the way",
  },
  async run({ args, out }) {
    const patch = await readPatch({ json: args.json, file: args["json-file"], operand: args.source });
    const mutation = { verb: "fill", patch } as const;
    const written = inWorld(openWorld(), (world) => mutateDraft(world, addressOf(args), mutation));
    return printWritten(out, true, written, mutation);
  },
});
