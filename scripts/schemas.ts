/**
 * Writes the published JSON Schemas, contracts/schemas/*.json, from the valibot schemas that read the documents.
 *
 * Run: bun scripts/schemas.ts           writes them
 *      bun scripts/schemas.ts --check   ends in 1 when one of them is stale, writing nothing
 */
import { renderSchemas } from "../src/core/published-schemas.ts";
import { keepMade } from "./made-files.ts";

if (import.meta.main) {
  const files = Object.entries(renderSchemas()).map(([name, text]) => [`contracts/schemas/${name}`, text] as const);
  process.exitCode = keepMade(process.argv.slice(2), "scripts/schemas.ts", files);
}
