/** `writ docs schema`: the published JSON Schemas, as they lie in `contracts/schemas/`. */
import { join } from "node:path";
import { WritError } from "../../core/error.ts";
import { nearest } from "../../core/near-miss.ts";
import { readFileText, shippedContracts } from "../../host/contracts.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { tableLines } from "../table.ts";

/** Each schema, and what it is the schema of. */
export const SCHEMAS: Readonly<Record<string, string>> = {
  config: "The config: seats, nodes, limits (writ docs configuration)",
  contract: "A delegation contract, or a list of them (writ lint)",
  gate: "A gate file (writ docs gates)",
  manifest: "A manifest of fixtures (writ gate fixtures)",
  script: "The script of a scripted seat (writ docs scripted-seat)",
};

const MOST_BYTES = 1024 * 1024;

export const command = defineCommand({
  meta: { name: "docs schema", description: "Print a published JSON Schema, or list them" },
  args: {
    name: { type: "positional", required: false, valueHint: "NAME", description: "A name of the list" },
    ...JSON_SWITCH,
  },
  examples: ["writ docs schema", "writ docs schema config > config.schema.json"],
  notes: [
    "With a name standard output is the schema with and without --json; --json says how an error is printed. Rules over several keys are more than JSON Schema can say: writ config check, writ lint, writ gate check and writ seat serve --check say all that is wrong.",
  ],
  exits: { 0: "printed", 2: "there is no such schema" },
  run({ args, json, out }) {
    if (args.name !== undefined) out.exact(textOf(args.name).replace(/\n$/, ""));
    else {
      const rows = Object.entries(SCHEMAS);
      if (json) out.document({ ok: true, schemas: rows.map(([name, about]) => ({ name, about })) });
      else for (const line of tableLines(["schema", "of"], rows, out.columns())) out.line(line);
    }
    return 0;
  },
});

/** Errors: `usage` */
function textOf(named: string): string {
  const name = named.replace(/^(?:contracts\/)?(?:schemas\/)?/, "").replace(/\.schema\.json$/, "");
  if (Object.hasOwn(SCHEMAS, name)) {
    return readFileText(join(shippedContracts(), "schemas", `${name}.schema.json`), MOST_BYTES).text;
  }
  const near = nearest(name, Object.keys(SCHEMAS));
  throw new WritError("usage", `There is no schema "${named}"`, {
    hint: near === null ? "writ docs schema lists them" : `Did you mean ${near}?`,
  });
}
