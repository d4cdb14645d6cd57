/**
 * A storm over one draft: many real processes add to it at once, and some are killed at random moments. Then an audit:
 * what was acknowledged is there once, what was not is there once or not at all, and every copy of the state agrees.
 */
import { Database } from "bun:sqlite";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seeded } from "../../scripts/fuzz/draw.ts";
import { writCommand } from "./writ.ts";

export type Storm = {
  readonly processes: number;
  /** Adds that each process lane makes, one after the other. */
  readonly adds: number;
  /** The share of calls that are killed, 0 to 1. */
  readonly killed: number;
  readonly seed: number;
};

export type Audit = {
  readonly calls: number;
  readonly acknowledged: number;
  readonly killed: number;
  /** Killed calls whose entry is there all the same: they died after the commit. */
  readonly survived: number;
  readonly entries: number;
  readonly reads: number;
  /** What is wrong; empty is a clean audit. */
  readonly faults: readonly string[];
};

export async function runStorm(storm: Storm): Promise<Audit> {
  const folder = mkdtempSync(join(tmpdir(), "writ-storm-"));
  const random = seeded(storm.seed);
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    HOME: join(folder, "home"),
    WRIT_DATA_DIR: join(folder, "data"),
  };
  const faults: string[] = [];
  try {
    const born = await call(["dispatch", "--agent", "storm", "--json"], env);
    const { contract_id } = JSON.parse(born.stdout) as { contract_id: string };
    env.WRIT_CONTRACT_ID = contract_id;
    const acknowledged = new Set<string>();
    const doubtful = new Set<string>();
    let reads = 0;
    let running = storm.processes;

    const lane = async (name: number) => {
      for (let add = 0; add < storm.adds; add++) {
        const entry = `entry ${name}.${add}`;
        const killAfterMs = random() < storm.killed ? random() * 25 : null;
        const args = ["contract", "add", "evidence_report.key_outputs", entry, "--json"];
        const { exit, stdout, stderr } = await call(args, env, killAfterMs);
        if (exit === 0) acknowledged.add(entry);
        else if (exit === 137 && killAfterMs !== null) doubtful.add(entry);
        else faults.push(`"${entry}" ended in ${exit}: ${stdout}${stderr}`);
      }
      running--;
    };
    const reader = async () => {
      while (running > 0) {
        const { exit, stdout, stderr } = await call(
          ["contract", "view", "--field", "evidence_report.key_outputs"],
          env,
        );
        reads++;
        if (exit !== 0 || !Array.isArray(JSON.parse(stdout))) faults.push(`a read ended in ${exit}: ${stderr}`);
      }
    };
    await Promise.all([...Array.from({ length: storm.processes }, (_, name) => lane(name)), reader()]);

    const survived = await audit(env, contract_id, acknowledged, doubtful, faults);
    return {
      calls: storm.processes * storm.adds,
      acknowledged: acknowledged.size,
      killed: doubtful.size,
      survived,
      entries: acknowledged.size + survived,
      reads,
      faults,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function audit(
  env: Record<string, string>,
  contractId: string,
  acknowledged: ReadonlySet<string>,
  doubtful: ReadonlySet<string>,
  faults: string[],
): Promise<number> {
  const view = await call(["contract", "view", "--field", "evidence_report.key_outputs"], env);
  const entries = JSON.parse(view.stdout) as readonly string[];
  const present = new Set(entries);
  if (present.size !== entries.length) faults.push("an entry is there twice");
  for (const entry of acknowledged) if (!present.has(entry)) faults.push(`"${entry}" was acknowledged and is lost`);
  for (const entry of present) {
    if (!acknowledged.has(entry) && !doubtful.has(entry)) faults.push(`"${entry}" was never added`);
  }

  // The next write brings whatever a killed process left behind up to date.
  const settled = await call(["contract", "set", "conclusion", "settled", "--json"], env);
  if (settled.exit !== 0) faults.push(`the write after the storm ended in ${settled.exit}: ${settled.stdout}`);
  const validated = await call(["contract", "validate"], env);
  if (validated.exit !== 0) faults.push(`validate ended in ${validated.exit}: ${validated.stderr}`);

  const data = env.WRIT_DATA_DIR ?? "";
  const draft = JSON.parse(readFileSync(join(data, "contract_drafts", `${contractId}.json`), "utf8")) as Envelope;
  const db = new Database(join(data, "writ.db"), { readonly: true });
  try {
    const check = db.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get();
    if (check?.integrity_check !== "ok") faults.push(`the store says ${check?.integrity_check}`);
    const row = db.query<{ raw_handoff_json: string }, []>("SELECT raw_handoff_json FROM handoffs").get();
    const mirrored = JSON.parse(row?.raw_handoff_json ?? "{}") as Envelope;
    const adds = db
      .query<{ n: number }, []>("SELECT COUNT(DISTINCT change_id) AS n FROM journal WHERE verb = 'add'")
      .get();
    const found = db.query<{ n: number }, []>("SELECT COUNT(*) AS n FROM journal WHERE verb = 'found'").get();
    if (JSON.stringify(mirrored.evidence_report.key_outputs) !== JSON.stringify(entries))
      faults.push("the row differs");
    if (JSON.stringify(draft.evidence_report.key_outputs) !== JSON.stringify(entries)) faults.push("the file differs");
    if (adds?.n !== entries.length) faults.push(`${adds?.n} adds are journalled for ${entries.length} entries`);
    if (found?.n !== 0) faults.push(`${found?.n} changes were taken for edits by hand`);
  } finally {
    db.close();
  }
  return entries.filter((entry) => doubtful.has(entry)).length;
}

type Envelope = { readonly evidence_report: { readonly key_outputs: readonly string[] } };

async function call(args: readonly string[], env: Record<string, string>, killAfterMs: number | null = null) {
  const child = Bun.spawn([...writCommand(), ...args], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const timer = killAfterMs === null ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  const [stdout, stderr, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timer);
  return { exit, stdout, stderr };
}

/** Mulberry32: numbers from 0 to 1 that a seed repeats. */
