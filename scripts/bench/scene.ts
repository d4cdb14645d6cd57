/**
 * Where the measured programs run: one folder on a disk, with a data folder for each row, compiled baselines, and
 * an environment that holds nothing of the caller's but PATH.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../compile.ts";
import { type Served, serve } from "../serve.ts";

const BASELINES = ["print", "commit", "spawn", "requests"] as const;
export type Baseline = (typeof BASELINES)[number];

export type Call = {
  readonly data: string;
  readonly contractId?: string;
  readonly stdin?: string;
};

/** File systems that live in memory, where a durable write costs nothing: tmpfs and ramfs. */
const MEMORY_FILE_SYSTEMS = [0x01021994, 0x858458f6];

export class Scene {
  private readonly servers: Served[] = [];

  private constructor(
    readonly folder: string,
    readonly inMemory: boolean,
    private readonly executable: string,
  ) {}

  /**
   * @param root       the project's folder, whose `tmp` is taken when the system's lies in memory
   * @param executable the writ that is measured
   */
  static async open(root: string, executable: string): Promise<Scene> {
    mkdirSync(join(root, "tmp"), { recursive: true });
    const places = [tmpdir(), join(root, "tmp")];
    const place = places.find((path) => !isInMemory(path)) ?? places[0] ?? root;
    const scene = new Scene(realpathSync(mkdtempSync(join(place, "writ-bench-"))), isInMemory(place), executable);
    mkdirSync(join(scene.folder, "work"));
    for (const name of BASELINES) await compile(join(import.meta.dir, `${name}.ts`), scene.baselinePath(name));
    return scene;
  }

  /** Ends the servers that were started, and removes everything. */
  async close(): Promise<void> {
    await Promise.all(this.servers.map((served) => served.close()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A file with this text; its path. */
  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Starts a server of writ that says its address in its first line, and lives as long as the scene; its base URL. */
  async serve(args: readonly string[], name: string): Promise<string> {
    const data = this.dataFolder(`${name}-data`);
    const { cwd, env } = this.options({ data });
    const served = await serve([this.executable, ...args], cwd, env);
    this.servers.push(served);
    return served.url;
  }

  /** A new, empty folder. */
  dataFolder(name: string): string {
    const data = join(this.folder, name);
    mkdirSync(data);
    return data;
  }

  /** A database with the one table of the baseline `commit`. */
  entriesDatabase(name: string): string {
    const path = join(this.dataFolder(name), "entries.db");
    const database = new Database(path, { create: true, readwrite: true });
    database.run("PRAGMA journal_mode = WAL");
    database.run("CREATE TABLE entries (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
    database.close();
    return path;
  }

  /** Runs writ to its end; its standard output. Throws when it ends in anything but 0. */
  writ(args: readonly string[], call: Call): string {
    const argv = [this.executable, ...args];
    const child = Bun.spawnSync(argv, { ...this.options(call), stdin: inputOf(call.stdin ?? "") });
    return demandOk(argv, child.exitCode, child.stdout.toString(), child.stderr.toString());
  }

  /** Starts writ without waiting for others; fulfilled when it has ended in 0. */
  async writAtOnce(args: readonly string[], call: Call): Promise<void> {
    const argv = [this.executable, ...args];
    const child = Bun.spawn(argv, { ...this.options(call), stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    demandOk(argv, await child.exited, stdout, stderr);
  }

  /** Runs a baseline to its end. */
  baseline(name: Baseline, args: readonly string[] = [], stdin = ""): void {
    const argv = [this.baselinePath(name), ...args];
    const child = Bun.spawnSync(argv, { ...this.options({ data: this.folder }), stdin: inputOf(stdin) });
    demandOk(argv, child.exitCode, child.stdout.toString(), child.stderr.toString());
  }

  /** Opens a turn in a data folder; its contract id. */
  dispatch(data: string): string {
    const { contract_id } = JSON.parse(this.writ(["dispatch", "--agent", "bench", "--json"], { data }));
    if (typeof contract_id !== "string") throw new Error("writ dispatch --json names no contract_id");
    return contract_id;
  }

  /** How many records a turn has; its chain is checked on the way. */
  recordCount(call: Call): number {
    return JSON.parse(this.writ(["record", "verify", "--json"], call)).count;
  }

  private baselinePath(name: Baseline): string {
    return join(this.folder, "baselines", name);
  }

  private options({ data, contractId }: Call) {
    return {
      cwd: join(this.folder, "work"),
      env: {
        PATH: process.env.PATH ?? "",
        HOME: this.folder,
        WRIT_DATA_DIR: data,
        ...(contractId === undefined ? {} : { WRIT_CONTRACT_ID: contractId }),
      },
    };
  }
}

function inputOf(text: string): "ignore" | Uint8Array {
  return text === "" ? "ignore" : new TextEncoder().encode(text);
}

function isInMemory(path: string): boolean {
  return process.platform === "linux" && MEMORY_FILE_SYSTEMS.includes(statfsSync(path).type);
}

function demandOk(argv: readonly string[], status: number, stdout: string, stderr: string): string {
  if (status === 0) return stdout;
  const said = (stderr.trim() || stdout.trim()).split("\n")[0] ?? "";
  throw new Error(`"${["writ", ...argv.slice(1)].join(" ").slice(0, 80)}" ended in ${status}: ${said.slice(0, 200)}`);
}
