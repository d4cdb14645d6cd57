/** `writ template list`. */
import { listTemplates, type Template } from "../../author/template.ts";
import { counted } from "../../core/counted.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { tableLines } from "../table.ts";
import { shippedTemplates } from "./shipped.ts";

export const command = defineCommand({
  meta: { name: "template list", description: "List the delegation contracts that can be copied" },
  args: { ...JSON_SWITCH },
  examples: ["writ template list", "writ template list --json"],
  exits: { 0: "listed" },
  run({ json, out }) {
    const templates = listTemplates(shippedTemplates());
    if (json) {
      out.document(listDocument(templates));
      return 0;
    }
    const rows = templates.map(({ name, lint, summary }) => [name, lint.join(" ") || null, summary]);
    for (const line of tableLines(["name", "lint", "asks for"], rows, out.columns())) out.line(line);
    out.line(`${counted(templates.length, "template")}.`);
    return 0;
  },
});

/** The templates without their texts, as documents have them. */
export function listDocument(templates: readonly Template[]) {
  const rows = templates.map(({ name, summary, lint, placeholders }) => ({
    name,
    summary,
    lint,
    placeholders: placeholders.map((each) => ({ ...each })),
  }));
  return { ok: true, status: "ok", count: rows.length, templates: rows };
}
