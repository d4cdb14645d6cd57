/** What is handed to the real model: every template with real documents, a digest set, and the write door's tasks. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
const TEMPLATES = join(ROOT, "contracts", "templates");
const DOCUMENTS = join(ROOT, "fixtures", "real-model");
const DOOR = join(ROOT, "contracts", "write-door");
/** A leg's own wall, with room for its waits and for starting. */
const SLACK_SEC = 240;

/** What a check of a leg has to know of its contract. */
export type Asked = {
  readonly acceptance: readonly string[];
  readonly hasSchema: boolean;
  readonly isWrite: boolean;
};

/** One call of `writ delegate`. */
export type Run = {
  readonly name: string;
  readonly contract: string;
  readonly read_root: string;
  readonly legs: readonly Asked[];
  /** After this it hangs. */
  readonly limit_sec: number;
};

/**
 * All runs, in the order in which they are made.
 *
 * @param folder takes the contracts that are filled in
 */
export function planRuns(folder: string): readonly Run[] {
  mkdirSync(folder, { recursive: true });
  const templates = jsonIn(TEMPLATES).map((file) => {
    const name = file.replace(/\.json$/, "");
    const contract = join(folder, file);
    writeFileSync(contract, JSON.stringify(filled(read(join(TEMPLATES, file))), null, 2));
    return run(name, contract, join(DOCUMENTS, name), 1);
  });
  const digest = run("digest-8-grounded", join(ROOT, "contracts", "digests", "digest-8-grounded.json"), ROOT, 8);
  const door = ["t1", "t2", "t3", "t4"].map((task) =>
    run(`write-door-${task}`, join(DOOR, task, "contract.json"), join(DOOR, task), 1),
  );
  return [...templates, ...door, digest];
}

type Contract = {
  readonly context_paths?: readonly string[];
  readonly output_schema?: unknown;
  readonly acceptance?: readonly string[];
  readonly timeout_sec?: number;
  readonly write_root?: string;
};

/** A template whose documents are the files of the same name. */
function filled(contract: Contract): Contract {
  const paths = contract.context_paths?.map((path) => path.replace(/^REPLACE\//, ""));
  return paths === undefined ? contract : { ...contract, context_paths: paths };
}

function run(name: string, contract: string, read_root: string, legs: number): Run {
  const document = read(contract);
  const contracts = Array.isArray(document) ? (document as readonly Contract[]) : [document];
  if (contracts.length !== legs) throw new Error(`${contract} holds ${contracts.length} contracts and not ${legs}`);
  const walls = contracts.map(({ timeout_sec = 300 }) => timeout_sec);
  return {
    name,
    contract,
    read_root,
    legs: contracts.map(({ acceptance = [], output_schema, write_root }) => ({
      acceptance,
      hasSchema: output_schema !== undefined,
      isWrite: write_root !== undefined,
    })),
    // Two slots: half of the legs wait for the other half.
    limit_sec: Math.ceil(walls.reduce((sum, wall) => sum + wall, 0) / Math.min(2, legs)) + SLACK_SEC,
  };
}

function read(path: string): Contract {
  return JSON.parse(readFileSync(path, "utf8"));
}

function jsonIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort();
}
