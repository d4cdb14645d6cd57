/**
 * A process of its own on a folder of evidence: `bun blob-keeper.ts DATA NAME COUNT` keeps that many files in one
 * place, takes every other one back, and prints the paths of those that stay.
 */
import { writeSync } from "node:fs";
import { evidenceFolder } from "../../src/store/blobs.ts";

const [data = "", name = "", count = "1"] = process.argv.slice(2);
const folder = evidenceFolder(data, data);
for (let number = 0; number < Number(count); number++) {
  const place = { workspace: "me", brief: "b", ac_id: `AC-${number % 4}`, name: `${name}-${number}.log` };
  const kept = folder.keep(place, [new TextEncoder().encode(place.name)]);
  if (number % 8 > 0) kept.discard();
  else writeSync(1, `${kept.path}\n`);
}
