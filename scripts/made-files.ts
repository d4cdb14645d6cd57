/** Files of the repository that are made from its code, and are never edited by hand. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "..");

/**
 * Writes those that are not as they are to be; with `--check`, names them and writes nothing.
 *
 * @param argv    what stood behind the script's name
 * @param script  its path in the repository
 * @param files   each text by its path in the repository
 * @param written what is said behind "PATH written"
 * @returns       the exit status: 1 where `--check` found one, 2 for a word that is none of ours
 */
export function keepMade(
  argv: readonly string[],
  script: string,
  files: Iterable<readonly [path: string, text: string]>,
  written = "",
): number {
  if (argv.some((word) => word !== "--check")) {
    console.error(`Usage: bun ${script} [--check]`);
    return 2;
  }
  const isCheck = argv.includes("--check");
  let stale = 0;
  for (const [name, text] of files) {
    const path = join(ROOT, name);
    if (textOf(path) === text) continue;
    stale += 1;
    if (isCheck) console.error(`${name} is stale: run bun ${script}`);
    else {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      console.log(`${name} written${written}`);
    }
  }
  return isCheck && stale > 0 ? 1 : 0;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // One that was never written is a stale one.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
