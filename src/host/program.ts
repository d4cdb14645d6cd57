/** Programs on PATH. */
import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { delimiter, join, sep } from "node:path";

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Tools worth telling an agent of, where they are on PATH. */
const COMMON_TOOLS: readonly string[] = [
  "bash", "bun", "cargo", "cmake", "curl", "deno", "docker", "gcc", "gh", "git", "go", "gradle", "java", "jq",
  "kubectl", "make", "mvn", "node", "npm", "pip", "pnpm", "psql", "python3", "rg", "ruby", "rustc", "sqlite3", "tsc",
  "uv", "yarn",
]; // biome-ignore format: a list of words

/** Folders read and names kept at most: a PATH may be anything. */
const FOLDERS_READ = 64;
const NAMES_KEPT = 1_000;

/** Whether a word names an executable regular file in a folder of PATH; each word is looked up once. */
export function programFinder(environment: EnvironmentVariables): (word: string) => boolean {
  const folders = foldersOf(environment);
  const known = new Map<string, boolean>();
  return (word) => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const found = isPlainName(word) && folders.some((folder) => isExecutableFile(join(folder, word)));
    known.set(word, found);
    return found;
  };
}

/** Programs by name: first those in folders under the user's home, then the common tools that are there. */
export function listPrograms(environment: EnvironmentVariables, home: string): readonly string[] {
  const under = home.endsWith(sep) ? home : `${home}${sep}`;
  const own = foldersOf(environment)
    .filter((folder) => home !== "" && folder.startsWith(under))
    .slice(0, FOLDERS_READ)
    .flatMap(executablesIn)
    .toSorted()
    .slice(0, NAMES_KEPT);
  const isProgram = programFinder(environment);
  return [...new Set([...own, ...COMMON_TOOLS.filter(isProgram)])];
}

function foldersOf(environment: EnvironmentVariables): readonly string[] {
  return [...new Set((environment.PATH ?? "").split(delimiter).filter((folder) => folder !== ""))];
}

function isPlainName(word: string): boolean {
  return word !== "" && word !== "." && word !== ".." && !/[/\\\0]/.test(word);
}

function executablesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => isExecutableFile(join(folder, name)));
  } catch {
    return []; // a folder of PATH that is not there
  }
}

function isExecutableFile(path: string): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not ours to run
  }
}
