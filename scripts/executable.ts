/**
 * How a program becomes an executable: writ itself, and what is measured against it or tested of it.
 */
import { join } from "node:path";

/**
 * The files that run in workers. The bundler does not find them by itself: each is one more entry point of the
 * executable, beside the program, and all of them stand at the root of its files under their own names.
 */
export const WORKERS: readonly string[] = [join(import.meta.dir, "..", "src", "host", "search-worker.ts")];

export const BUNDLE = {
  // A worker is found whatever the other entry points are.
  naming: { entry: "[name].[ext]" },
  target: "bun",
  format: "esm",
  bytecode: true,
  minify: true,
  sourcemap: "linked",
  // One file for each lazily loaded command. In one bundle, what a command imports from node:* is imported
  // when the executable starts, whichever command is called.
  splitting: true,
} as const;

export const EXECUTABLE = {
  // Else a .env, a bunfig.toml, a tsconfig.json or a package.json in the folder of the call decides what writ does.
  autoloadDotenv: false,
  autoloadBunfig: false,
  autoloadTsconfig: false,
  autoloadPackageJson: false,
  // The end of Bun's own options. What BUN_OPTIONS holds is put behind it and so is none; and in a folder that
  // was deleted, where Bun would give up, writ begins (docs/platforms.md).
  execArgv: ["--"],
};
