/**
 * `npm run vectors [-- DIR]`: holds every case of a folder's *.json files (default fixtures/vectors) against the
 * code. A case is `{id, area, op?, input, expect}`; its area names the modules of scripts/vectors/ that know its
 * operations.
 *
 * Prints "<file>: <n> of <n>" for each file, with the ids that missed and what differs below it. Whatever could not
 * be looked at is a miss: an area or an operation nobody knows, a thrown error, a broken file, an empty one, an id
 * given twice. Ends in 0 when all hold, in 1 on any miss, in 2 when there is nothing to read.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type Difference, differences } from "./vectors/difference.ts";

/** `undefined` says that the module does not know the operation. */
type Run = (op: string, input: unknown) => unknown;
type Case = {
  readonly id: string;
  readonly area: string;
  readonly op: string;
  readonly input: unknown;
  readonly expect: unknown;
};
type Miss = { readonly id: string; readonly why: readonly string[] };

/** Asked in order, until one knows the operation. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  "brief-parse": ["brief"],
  "format-phase": ["brief-tracker"],
  "format-plan": ["brief-tracker"],
  "ledger-name": ["brief"],
  phase: ["brief-tracker"],
  plan: ["brief-tracker"],
  "plan-check": ["brief-plan"],
  "plan-check-new": ["brief-plan"],
  "process-block": ["brief"],
  repair: ["brief-plan"],
  restore: ["brief"],
  contract: ["contract", "stamp", "updates"],
  drift: ["drift"],
  record: ["record"],
  "content-checks": ["content-checks"],
  "delegation-acceptance-closedat": ["delegation-acceptance"],
  "delegation-acceptance-eval": ["delegation-acceptance"],
  "delegation-acceptance-parse": ["delegation-acceptance"],
  "delegation-contract": ["delegation-contract"],
  "delegation-fingerprint": ["delegation-acceptance"],
  "delegation-lint": ["delegation-lint"],
  "delegation-name-only": ["delegation-name-only"],
  "delegation-read-root": ["delegation-read-root"],
  "delegation-regex": ["delegation-regex"],
  "delegation-schema": ["delegation-schema"],
  "delegation-schema-order": ["delegation-schema"],
  "delegation-speed-scan": ["delegation-speed"],
};
const SHOWN_DIFFERENCES = 5;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const [given, ...more] = args;
  if (more.length > 0 || given?.startsWith("-") === true) return usage(`Unknown argument "${more[0] ?? given}"`);
  const folder =
    given === undefined ? join(import.meta.dir, "..", "fixtures", "vectors") : resolve(callerFolder(), given);
  const files = vectorFiles(folder);
  if (files.length === 0) return usage(`"${folder}" holds no .json file`);

  const seen = new Set<string>();
  let missed = 0;
  for (const file of files) {
    const { count, misses } = await holdFile(file, seen);
    console.log(`${basename(file)}: ${Math.max(0, count - misses.length)} of ${count}`);
    for (const miss of misses) console.log(`  ${[miss.id, ...miss.why].join("\n      ")}`);
    missed += misses.length;
  }
  return missed === 0 ? 0 : 1;
}

function usage(message: string): number {
  console.error(message);
  console.error("Usage: npm run vectors [-- DIR]");
  return 2;
}

/** npm starts its scripts in the project's folder; what is typed is meant from where it is typed. */
function callerFolder(): string {
  const { npm_lifecycle_event, INIT_CWD } = process.env;
  return npm_lifecycle_event === "vectors" && INIT_CWD !== undefined ? INIT_CWD : process.cwd();
}

/** The folder's *.json files by name; none where there is no such folder. */
function vectorFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names.sort().map((name) => join(folder, name));
  } catch (error) {
    console.error(`Cannot read "${folder}": ${messageOf(error)}`);
    return [];
  }
}

/** Holds all cases of one file; `seen` gathers the ids of all files. */
async function holdFile(path: string, seen: Set<string>): Promise<{ count: number; misses: Miss[] }> {
  let entries: unknown;
  try {
    entries = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return { count: 0, misses: [{ id: "(file)", why: [`it cannot be read as JSON: ${messageOf(error)}`] }] };
  }
  if (!Array.isArray(entries)) return { count: 0, misses: [{ id: "(file)", why: ["it is no array of cases"] }] };
  if (entries.length === 0) return { count: 0, misses: [{ id: "(file)", why: ["it holds no case"] }] };

  const misses: Miss[] = [];
  for (const [index, entry] of entries.entries()) {
    const found = parseCase(entry);
    if (found === null) {
      misses.push({ id: `(case ${index})`, why: ["it is no {id, area, op?, input, expect}"] });
      continue;
    }
    const why = seen.has(found.id) ? ["its id is given twice"] : await holdCase(found);
    seen.add(found.id);
    if (why.length > 0) misses.push({ id: found.id, why });
  }
  return { count: entries.length, misses };
}

function parseCase(entry: unknown): Case | null {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return null;
  const { id, area, op, input, expect } = entry as Record<string, unknown>;
  if (typeof id !== "string" || id === "" || typeof area !== "string") return null;
  if (op !== undefined && typeof op !== "string") return null;
  if (!Object.hasOwn(entry, "input") || !Object.hasOwn(entry, "expect")) return null;
  return { id, area, op: op ?? "", input, expect };
}

/** What is wrong with a case, a line each; empty when it holds. */
async function holdCase(found: Case): Promise<readonly string[]> {
  if (!Object.hasOwn(MODULES, found.area)) return [`there is no area "${found.area}"`];
  for (const name of MODULES[found.area] ?? []) {
    try {
      const run = await loadModule(name);
      // A copy: one module must not spoil the input of the next.
      const actual = await run(found.op, structuredClone(found.input));
      if (actual !== undefined) return describe(differences(found.expect, actual));
    } catch (error) {
      return [`scripts/vectors/${name}.ts threw ${messageOf(error)}`];
    }
  }
  return [`area "${found.area}" has no operation "${found.op}"`];
}

async function loadModule(name: string): Promise<Run> {
  const loaded: { run?: unknown } = await import(`./vectors/${name}.ts`);
  if (typeof loaded.run !== "function") throw new Error(`it exports no function "run"`);
  return loaded.run as Run;
}

function describe(found: readonly Difference[]): string[] {
  const lines = found.slice(0, SHOWN_DIFFERENCES).map(({ path, expected, actual }) => {
    return `${path === "" ? "(all)" : path}: expected ${expected}, got ${actual}`;
  });
  return found.length > SHOWN_DIFFERENCES ? [...lines, `and ${found.length - SHOWN_DIFFERENCES} more`] : lines;
}

/** One line, whatever was thrown. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return (text.split("\n")[0] ?? "").slice(0, 300);
}
