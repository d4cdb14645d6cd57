/**
 * The files that run in workers. The bundler does not find them by itself: each is one more entry point of the
 * executable, beside `main.ts`, and all of them stand at the root of its files under their own names.
 */
import { join } from "node:path";

export const WORKERS: readonly string[] = [join(import.meta.dir, "..", "src", "host", "search-worker.ts")];

/** What `naming` says to the bundler, so that a worker is found whatever the other entry points are. */
export const AT_THE_ROOT = { entry: "[name].[ext]" };
