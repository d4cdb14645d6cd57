/** Compiles a small program the way writ is compiled, for what is measured against writ or tested of its executable. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { BUNDLE, EXECUTABLE, WORKERS } from "./executable.ts";

/**
 * @param entry   the program's TypeScript file
 * @param outfile where the executable goes; its folder is made
 * @param workers "with workers": it may start those that writ starts
 * Errors: what the bundler reports
 */
export async function compile(entry: string, outfile: string, workers?: "with workers"): Promise<void> {
  mkdirSync(dirname(outfile), { recursive: true });
  const result = await Bun.build({
    ...BUNDLE,
    entrypoints: [entry, ...(workers === undefined ? [] : WORKERS)],
    compile: { ...EXECUTABLE, outfile },
  });
  if (!result.success) throw new Error(result.logs.map(String).join("\n"));
}
