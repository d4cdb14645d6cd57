/** `delegation_template`: `writ template list` and `writ template show`. */
import { getTemplate, listTemplates } from "../author/template.ts";
import { listDocument } from "../cli/template/list.ts";
import { shippedTemplates } from "../cli/template/shipped.ts";
import type { JsonValue } from "../core/json/value.ts";
import { readArguments, schemaOf } from "./arguments.ts";
import { answered, type Tool } from "./tool.ts";

const PARAMETERS = {
  name: { kind: "text", description: "A name from the list; without it the list is answered" },
} as const;

export const tool: Tool = {
  name: "delegation_template",
  description:
    "Start from a delegation contract that can be copied: without a name the list of templates, with one the contract itself and what has to be replaced in it.",
  inputSchema: schemaOf(PARAMETERS),
  reads: true,
  async run(call) {
    const { name: wanted } = readArguments(PARAMETERS, call.arguments);
    if (wanted === undefined) return answered(listDocument(listTemplates(shippedTemplates())), false);
    const { name, text, summary, lint, placeholders } = getTemplate(shippedTemplates(), wanted);
    const document = {
      ok: true,
      status: "ok",
      template: name,
      summary,
      lint,
      placeholders: placeholders.map((each) => ({ ...each })),
      // Shipped with writ, and held against the reader of contracts by a test.
      contract: JSON.parse(text) as JsonValue,
    };
    return answered(document, false);
  },
};
