/** `writ template show`: the template itself, byte for byte. */
import { getTemplate } from "../../author/template.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { shippedTemplates } from "./shipped.ts";

export const command = defineCommand({
  meta: { name: "template show", description: "Print a delegation contract that can be copied" },
  args: {
    name: { type: "positional", required: true, valueHint: "NAME", description: "A name from writ template list" },
    ...JSON_SWITCH,
  },
  examples: ["writ template show research-digest", "writ template show schema-extraction > keys.json"],
  notes: ["Standard output is the file with and without --json; --json says how an error is printed."],
  exits: { 0: "printed", 2: "there is no such template" },
  run({ args, out }) {
    out.exact(getTemplate(shippedTemplates(), args.name).text.replace(/\n$/, ""));
    return 0;
  },
});
