/**
 * Compiles a small program the way writ is compiled, for what is measured against writ and for what is tested of
 * its executable. The options are those of scripts/build.ts; they stand here a second time since a build of writ
 * must not depend on a bench.
 */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { AT_THE_ROOT, WORKERS } from "./workers.ts";

/**
 * @param entry   the program's TypeScript file
 * @param outfile where the executable goes; its folder is made
 * @param workers "with workers": it may start those that writ starts
 * Errors: what the bundler reports
 */
export async function compile(entry: string, outfile: string, workers?: "with workers"): Promise<void> {
  mkdirSync(dirname(outfile), { recursive: true });
  const result = await Bun.build({
    entrypoints: [entry, ...(workers === undefined ? [] : WORKERS)],
    naming: AT_THE_ROOT,
    target: "bun",
    format: "esm",
    bytecode: true,
    minify: true,
    sourcemap: "linked",
    splitting: true,
    compile: {
      outfile,
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
      execArgv: ["--"],
    },
  });
  if (!result.success) throw new Error(result.logs.map(String).join("\n"));
}
