/**
 * How git is called where it is asked something: a folder's own configuration may name programs, and asking must run none
 * of them.
 */

/** The beginning of every call. A watcher of files is a program, and so is what checks a signature in a log. */
export const GIT: readonly string[] = ["git", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"];

const CONFIG_MS = 10_000;
const CONFIG_BYTES = 1024 * 1024;

type Variables = Readonly<Record<string, string | undefined>>;

/** The variables that a git hook sets, and that would make git look at another repository than the folder's. */
const GIT_PLACES: ReadonlySet<string> = new Set([
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_DIR",
  "GIT_INDEX_FILE",
  "GIT_NAMESPACE",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_WORK_TREE",
]);

/** An environment without the variables that lead git to a repository elsewhere. */
export function outsideOfGit(environment: Variables): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !GIT_PLACES.has(name)));
}

/**
 * The environment of a call of git in a folder.
 *
 * For `status` the filters of the repository's own configuration are switched off: a file that git cannot tell from its
 * times would be run through them. Such a file counts as changed then. Those of the user's configuration stay.
 */
export function gitEnvironment(
  dir: string,
  args: readonly string[],
  environment: Variables = process.env,
): Record<string, string | undefined> {
  const { BUN_OPTIONS: _, ...rest } = outsideOfGit(environment);
  const own = { ...rest, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" };
  return args.includes("status") ? withoutFilters(dir, own) : own;
}

function withoutFilters(dir: string, environment: Record<string, string | undefined>) {
  const changes = filtersOf(dir, environment).flatMap((filter) => [
    [`${filter}.clean`, ""],
    [`${filter}.process`, ""],
    [`${filter}.required`, "false"],
  ]);
  if (changes.length === 0) return environment;
  // By variables and not by -c: the name of a filter may hold a "=".
  const given = /^\d{1,4}$/.test(environment.GIT_CONFIG_COUNT ?? "") ? Number(environment.GIT_CONFIG_COUNT) : 0;
  const variables = changes.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${given + index}`, key],
    [`GIT_CONFIG_VALUE_${given + index}`, value],
  ]);
  return { ...environment, ...Object.fromEntries(variables), GIT_CONFIG_COUNT: String(given + changes.length) };
}

/** `filter.<name>` of each filter that the repository itself brings. */
function filtersOf(dir: string, env: Record<string, string | undefined>): readonly string[] {
  const words = ["config", "-z", "--show-scope", "--name-only", "--get-regexp", "^filter\\..*"];
  try {
    const { stdout } = Bun.spawnSync([...GIT, "-C", dir, ...words], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: CONFIG_MS,
      maxBuffer: CONFIG_BYTES,
      env,
    });
    const fields = stdout.toString().split("\0");
    const names = fields.flatMap((scope, index) => {
      const key = fields[index + 1] ?? "";
      const isOwn = index % 2 === 0 && (scope === "local" || scope === "worktree");
      return isOwn && key.startsWith("filter.") ? [key.slice(0, key.lastIndexOf("."))] : [];
    });
    return [...new Set(names)];
  } catch {
    return []; // there is no git: the call itself will say so
  }
}
