/**
 * Writes the published JSON Schemas, contracts/schemas/*.json, from the valibot schemas that read the documents.
 *
 * Run: bun scripts/schemas.ts           writes them
 *      bun scripts/schemas.ts --check   ends in 1 when one of them is stale, writing nothing
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderSchemas } from "../src/core/published-schemas.ts";

function main(argv: readonly string[]): number {
  if (argv.some((word) => word !== "--check")) {
    console.error("Usage: bun scripts/schemas.ts [--check]");
    return 2;
  }
  const folder = join(import.meta.dir, "..", "contracts", "schemas");
  let stale = 0;
  for (const [name, text] of Object.entries(renderSchemas())) {
    if (readSchema(join(folder, name)) === text) continue;
    stale += 1;
    if (argv.includes("--check")) console.error(`contracts/schemas/${name} is stale: run bun scripts/schemas.ts`);
    else {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), text);
      console.log(`contracts/schemas/${name} written`);
    }
  }
  return argv.includes("--check") && stale > 0 ? 1 : 0;
}

function readSchema(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // A schema that was never written is a stale one.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
