/** `writ template new`: a copy to work on. */
import { getTemplate } from "../../author/template.ts";
import { WritError } from "../../core/error.ts";
import { createFileWhole, writeFileWhole } from "../../host/write-file.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { printParagraph } from "../paragraph.ts";
import { shippedTemplates } from "./shipped.ts";

export const command = defineCommand({
  meta: { name: "template new", description: "Start a delegation contract from a template" },
  args: {
    name: { type: "positional", required: true, valueHint: "NAME", description: "A name from writ template list" },
    out: { type: "string", valueHint: "FILE", description: "Where to write it (default ./NAME.json)" },
    force: { type: "boolean", description: "Replace a file that is there" },
    ...JSON_SWITCH,
  },
  examples: ["writ template new research-digest", "writ template new bench-log-digest --out bench.json --force"],
  exits: {
    0: "written; what has to be replaced is printed",
    2: "there is no such template",
    3: "the file is there, and --force was not given",
    4: "the file cannot be written",
  },
  run({ args, json, out }) {
    const { name, text, placeholders } = getTemplate(shippedTemplates(), args.name);
    const file = args.out ?? `${name}.json`;
    if (args.force) writeFileWhole(file, text);
    else if (!createFileWhole(file, text, 0o666)) {
      throw new WritError("file_exists", `"${file}" is there already; nothing was written`, {
        status: "refused",
        hint: "Name another file with --out, or replace this one with --force",
      });
    }
    const left = placeholders.map((each) => ({ ...each }));
    if (json) out.document({ ok: true, status: "ok", template: name, file, placeholders: left });
    else {
      out.line(`OK: ${file} written from template ${name}.`);
      for (const { path, value } of placeholders) printParagraph(out, `replace ${path}: ${value}`, "  ");
      printParagraph(out, `sharpen /goal, then: writ lint ${file} --read-root .`, "  ");
    }
    return 0;
  },
});
