/** `writ contract add`. */
import { LIST_PATHS } from "../../core/contract/envelope.ts";
import { mutateDraft } from "../../editor/edit.ts";
import { defineCommand } from "../command.ts";
import { inWorld, openWorld } from "../world.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, JSON_SWITCH, printWritten } from "./address.ts";
import { readValue } from "./body.ts";

export const command = defineCommand({
  meta: { name: "contract add", description: "Extend a list of the draft by one entry" },
  args: {
    field: { type: "positional", required: true, offers: LIST_PATHS, description: "The list, as a dotted path" },
    value: {
      type: "positional",
      required: false,
      description: "JSON when it parses, else text; - reads standard input",
    },
    "json-file": { type: "string", valueHint: "PATH", description: "Read the entry from a file of JSON" },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: [
    "writ contract add evidence_report.key_outputs 'roundTotal truncates instead of rounding'",
    'writ contract add evidence_report.verbatim_outputs \'{"command":"bun test","excerpt":"4 pass"}\'',
  ],
  notes: ["An absent list is made. A list given as VALUE is appended as one nested entry.", ADDRESS_NOTE],
  exits: {
    0: "written",
    1: "the envelope would break a rule, as an entry in an empty field that is no list does",
    3: "no such draft, several that could be meant, or the field holds what is no list",
  },
  async run({ args, json, out }) {
    const value = await readValue(args.value, args["json-file"]);
    const mutation = { verb: "add", field: args.field, value } as const;
    const written = inWorld(openWorld(), (world) => mutateDraft(world, addressOf(args), mutation));
    return printWritten(out, json, written, mutation);
  },
});
